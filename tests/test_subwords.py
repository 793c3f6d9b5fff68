"""What lesson 3 claims of BPE, of dropout and of n-gram models, as properties."""
import random
from collections import Counter
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models

from tfs.bpe import encode_word, merge_word, pair_counts, pretokenize, train_bpe_simple
from tfs.data import load_test, load_train, normalize
from tfs.ngram import NGram, per_unit, perplexity_per, text_units

SONG = {tuple(w): n for w, n in
        {"sing": 6, "singer": 3, "sings": 4, "ring": 5, "rings": 2, "song": 3}.items()}
COUNTS = st.dictionaries(st.text("abcd", min_size=1, max_size=9).map(tuple), st.integers(1, 9),
                         min_size=1, max_size=8)


def length(words): return sum(n * len(w) for w, n in words.items())


def merged(words, pair):
    after = Counter()
    for word, n in words.items(): after[merge_word(word, pair)] += n
    return after


def ranks_of(merges): return {pair: rank for rank, pair in enumerate(merges)}


@pytest.mark.parametrize("tie, last",
                         [("least", ["er", "ong", "song"]),
                          ("greatest", ["singe", "singer", "so"])])
def test_the_worked_example(tie, last):
    merges, words, lengths = train_bpe_simple(SONG, 8, tie), SONG, [length(SONG)]
    assert ["".join(p) for p in merges] == ["ng", "ing", "sing", "ring", "sings", *last]
    for pair in merges: words = merged(words, pair); lengths.append(length(words))
    assert lengths == [104, 81, 61, 48, 41, 37, 34, 31, 28]


@given(COUNTS, st.data())
@settings(max_examples=300, deadline=None)
def test_a_merge_takes_away_its_count(words, data):
    pairs = pair_counts(words)
    if not pairs: return
    pair = data.draw(st.sampled_from(sorted(pairs)))
    gone = length(words) - length(merged(words, pair))
    if pair[0] != pair[1]: assert gone == pairs[pair]
    else: assert gone <= pairs[pair]


def test_a_symbol_that_meets_itself_breaks_the_rule():
    words = {tuple("eee"): 1}
    assert pair_counts(words)["e",
                              "e"] == 2 and length(words) - length(merged(words, ("e", "e"))) == 1


@given(COUNTS, st.text("abcd", min_size=1, max_size=14),
       st.sampled_from(["least", "greatest", "id"]))
@settings(max_examples=300, deadline=None)
def test_replay_is_lowest_rank_first(words, word, tie):
    merges, symbols = train_bpe_simple(words, 12, tie), tuple(word)
    for pair in merges: symbols = merge_word(symbols, pair)
    assert list(symbols) == encode_word(word, ranks_of(merges))


@st.composite
def vocabularies(draw):
    "A random merge list in which no two merges make the same token."
    symbols, merges = list("abc"), []
    for _ in range(draw(st.integers(1, 14))):
        pair = draw(st.tuples(st.sampled_from(symbols), st.sampled_from(symbols)))
        if "".join(pair) not in symbols: merges.append(pair); symbols.append("".join(pair))
    return merges


@given(vocabularies(), st.text("abc", min_size=1, max_size=24))
@settings(max_examples=600, deadline=None)
def test_replay_is_lowest_rank_first_on_random_vocabularies(merges, word):
    symbols = tuple(word)
    for pair in merges: symbols = merge_word(symbols, pair)
    assert list(symbols) == encode_word(word, ranks_of(merges))


@given(COUNTS, st.sampled_from(["least", "greatest", "id"]))
@settings(max_examples=150, deadline=None)
def test_training_makes_no_token_twice(words, tie):
    made = ["".join(pair) for pair in train_bpe_simple(words, 20, tie)]
    assert len(set(made)) == len(made)


def test_a_merge_that_comes_too_early_parts_the_two_rules():
    foreign, symbols = [("a", "b"), ("x", "abc"), ("ab", "c")], tuple("xabc")
    for pair in foreign: symbols = merge_word(symbols, pair)
    assert list(symbols) == ["x", "abc"] and encode_word("xabc", ranks_of(foreign)) == ["xabc"]
    vocab = {s: i for i, s in enumerate(["a", "b", "c", "x", "ab", "xabc", "abc"])}
    assert [t.value for t in models.BPE(vocab, foreign).tokenize("xabc")] == ["xabc"]


def test_unseen_words():
    ranks = ranks_of(train_bpe_simple(SONG, 8, "least"))
    assert encode_word("singers", ranks) == ["sing", "er", "s"]
    assert encode_word("rising", ranks) == ["r", "i", "sing"]
    assert encode_word("sneering", ranks) == ["s", "n", "e", "e", "ring"]


def test_dropout_has_the_exact_chances():  # E05
    ranks, rng = {("a", "b"): 0, ("ab", "c"): 1}, random.Random(2)
    drawn = Counter(" ".join(encode_word("abc", ranks, dropout=.3, rng=rng)) for _ in range(20_000))
    for way, chance in {"abc": .49, "ab c": .21, "a b c": .3}.items():
        assert drawn[way] / 20_000 == pytest.approx(chance, abs=.015)
    for q in (-.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            encode_word("abc", ranks, dropout=q)


@given(COUNTS, st.text("abcd", min_size=1, max_size=12), st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_dropout_at_its_ends(words, word, seed):
    ranks = ranks_of(train_bpe_simple(words, 12))
    draw = lambda q: encode_word(word, ranks, dropout=q, rng=random.Random(seed))
    assert draw(0) == encode_word(word, ranks) and draw(1) == list(word)
    assert draw(.4) == draw(.4) and "".join(draw(.4)) == word


def test_more_dropout_more_tokens():
    merges, rng = train_bpe_simple(SONG, 14), random.Random(0)
    means = [sum(len(encode_word(w, ranks_of(merges), dropout=q, rng=rng))
                 for w in ("singers", "songs") * 400)
             for q in (0, .1, .3, .6, .9, 1)]
    assert means == sorted(means) and len(set(means)) == len(means)


@pytest.mark.parametrize("q", [.1, .5])
def test_dropout_agrees_with_the_production_library(q):
    from scipy.stats import chi2_contingency
    merges = train_bpe_simple({tuple("banana"): 3, tuple("bandana"): 2, tuple("nab"): 2}, 9)
    vocab = {s: i for i, s in enumerate(dict.fromkeys([*"abdn", *("".join(p) for p in merges)]))}
    theirs, rng, ranks, n = models.BPE(vocab, merges,
                                       dropout=q), random.Random(7), ranks_of(merges), 6_000
    ours = Counter(" ".join(encode_word("bandanana", ranks, dropout=q, rng=rng)) for _ in range(n))
    other = Counter(" ".join(t.value for t in theirs.tokenize("bandanana")) for _ in range(n))
    common = [w for w in ours if ours[w] + other[w] >= 40]
    rows = [[c[w] for w in common] + [n - sum(c[w] for w in common) + 1] for c in (ours, other)]
    assert chi2_contingency(rows).pvalue > 1e-4


def test_published_conversions():
    assert perplexity_per(20, 1.5, 1) == pytest.approx(89.44, abs=.01)
    assert perplexity_per(2_700, 16, 11) == pytest.approx(97_966, abs=1)


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=5),
       st.sampled_from([1, 2]))
@settings(max_examples=100, deadline=None)
def test_ngram_probabilities_sum_to_one(rows, order):
    model = NGram(rows, order, .1)
    whole = model.k * len(model.vocab)
    for before in {b for b, _ in model.places(["a", "zzz"])}:
        total = sum((model.after[before, t] + model.k) / (model.seen[before] + whole)
                    for t in model.vocab)
        assert total == pytest.approx(1)
    assert model.log_prob(["unseen", "a"]) < 0


def test_the_ranking_changes_on_the_course_corpus():
    learn, held = ([normalize(t) for t in load(source="sample").en[:n]]
                   for load, n in ((load_train, 8_000), (load_test, 800)))
    scores = {}
    for name, cut in {"words": pretokenize, "characters": list}.items():
        model, rows = NGram([cut(t) for t in learn]), [cut(t) for t in held]
        letters = NGram([list(w) for t in learn for w in pretokenize(t)])
        nats = -sum(map(model.log_prob, rows))
        nats -= sum(letters.log_prob(list(w)) for row in rows for w in row if w not in model.vocab)
        scores[name] = per_unit(nats, sum(len(row) + 1 for row in rows), text_units(held))
    first = {unit: min(scores, key=lambda name: scores[name][unit]) for unit in scores["words"]}
    assert first.pop("perplexity a token") == "characters"
    assert first == dict.fromkeys(["perplexity a word", "bits a character", "bits a byte"], "words")


def test_units_divide_one_total():
    texts = ["два слова", "one"]
    assert text_units(texts) == {"words": 3, "characters": 12, "bytes": 20}
    scores = per_unit(10 * log(2), 5, text_units(texts))
    assert scores["perplexity a token"] == pytest.approx(4)
    a_word = perplexity_per(4, 5, 3)
    assert scores["perplexity a word"] == pytest.approx(a_word)
    assert a_word == pytest.approx(exp(10 * log(2) / 3))
    assert scores["bits a byte"] == .5
