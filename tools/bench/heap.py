"""A trainer that most people would write next: the lesson's two tables, and a heap of pairs."""
from heapq import heapify, heappop, heappush

from texts import ROOT  # noqa: F401  puts the library on the path

from tfs.bpe import TIE_KEYS, PairTables, merge_word


def entry(pair, freq):
    "What the heap holds: among equals the greatest pair comes first."
    small_first = TIE_KEYS["least"]
    return -freq[pair], [small_first(symbol, "") for symbol in pair], pair


def train_heap(words, n_merges):
    "The merges of `train_bpe`; a count that has dropped is noticed when its pair is met."
    tables, merges = PairTables(words), []
    heap = [entry(pair, tables.freq) for pair in tables.freq]
    heapify(heap)
    while heap and len(merges) < n_merges:
        count, _, pair = heappop(heap)
        if pair not in tables.freq: continue
        if -count != tables.freq[pair]: heappush(heap, entry(pair, tables.freq)); continue
        merges.append(pair)
        fresh = set()
        for word in list(tables.where[pair]):
            spelling = merge_word(tables.spelling[word], pair)
            tables.respell(word, spelling)
            fresh |= {p for p in zip(spelling, spelling[1:]) if "".join(pair) in p}
        for new in fresh: heappush(heap, entry(new, tables.freq))
    return merges
