"""Encoding: text to ids with 16,000 merges."""
import os
import random

from clock import Run, clocked, load
from row import HF, TIKTOKEN, Row, Target, megabytes, times_faster
from texts import PARTS, WORK, texts

WARM, PACKED, COLD = "tfs, warm", "tfs, warm, packed", "tfs, cold"
HF_LEAN, LESSON = "Hugging Face, without offsets", "lesson, from a 27th"


def load_bpe():
    "The tokenizer as a `BPE`."
    from tfs.bpe import BPE
    return BPE.load(WORK/"bpe.json")


def load_hf():
    "The same one as a `tokenizers.Tokenizer`."
    from tokenizers import Tokenizer
    return Tokenizer.from_file(str(WORK/"hf.json"))


def hf(rows, batch="encode_batch", times=1):
    "Ids by Hugging Face on all cores, as lists."
    encode = getattr(load_hf(), batch)
    rows = rows()
    return clocked(lambda: [e.ids for e in encode(rows, add_special_tokens=False)], times)


def ours(rows):
    "Ids by a fresh tokenizer."
    load("numpy", "pyarrow.compute")
    bpe, rows = load_bpe(), rows()
    return clocked(lambda: bpe.encode_batch(rows))


def warm(part="all"):
    "Ids by a tokenizer that has seen the text before."
    load("numpy", "pyarrow.compute")
    bpe, rows = load_bpe(), texts(part)
    bpe.encode_batch(rows)
    return clocked(lambda: bpe.encode_batch(rows), 5)


def packed():
    "The same as one array."
    load("numpy", "pyarrow.compute")
    bpe, rows = load_bpe(), texts()
    bpe.encode_packed(rows)
    run = clocked(lambda: bpe.encode_packed(rows), 5)
    ids, ends = (x.tolist() for x in run.result)
    run.result = [ids[a:b] for a, b in zip([0, *ends], ends)]
    return run


def byte_ranks(bpe):
    "The tokens as tiktoken's ranks: bytes and beginnings of characters come first."
    ranks = {bytes([i]): i for i in range(256)}
    spelt = [t.replace("▁", " ").encode() for t in [*bpe.alphabet, *map("".join, bpe.merges)]]
    for token in spelt[:len(bpe.alphabet)]:
        for end in range(2, len(token) + 1): ranks.setdefault(token[:end], len(ranks))
    for token in spelt: ranks.setdefault(token, len(ranks))
    return ranks


def tiktoken():
    "tiktoken on all cores, given text that is normalised already."
    import tiktoken

    from tfs.bpe import pre_tokenizer_pattern
    from tfs.data import normalize_column
    pattern = pre_tokenizer_pattern().replace("\\\\", "\\")
    coder = tiktoken.Encoding("same", pat_str=pattern, mergeable_ranks=byte_ranks(load_bpe()),
                              special_tokens={})
    rows, cores = [" " + text for text in normalize_column(texts())], os.cpu_count()
    run = clocked(lambda: coder.encode_ordinary_batch(rows, num_threads=cores), 3)
    run.result = None   # its numbers are others, and it merges any neighbours that form a token
    return run


def lesson():
    "The lesson's `encode` on a part, multiplied."
    from tfs.bpe import encode
    bpe, rows = load_bpe(), texts("1/27")
    ranks = {pair: i for i, pair in enumerate(bpe.merges)}
    run = clocked(lambda: [encode(text, ranks) for text in rows])
    return Run(run.seconds * PARTS["1/27"], run.memory, cpu=run.cpu * PARTS["1/27"])


def random_words():
    "Sentences of words that nobody has seen."
    r, letters = random.Random(0), [c for c in load_bpe().alphabet if c.isalpha() and c < "\u0500"]
    word = lambda: "".join(r.choices(letters, k=r.randint(3, 12)))
    return [" ".join(word() for _ in range(8)) for _ in range(15_000)]


def long_word():
    "A word of 100,000 letters made of tokens, so that many merges apply."
    tokens = [t for token in load_bpe().vocab if (t := token.strip("▁")).isalpha()]
    return ["".join(random.Random(0).choices(tokens, k=50_000))[:100_000]]


def equal_letters():
    "A word of 100,000 equal letters."
    return ["о" * 100_000]


def full_memo():
    "As many different stretches as are remembered; the memory is what the tokenizer holds then."
    import tracemalloc

    from tfs import bpe as module
    load("numpy", "pyarrow.compute")
    bpe, r, letters = load_bpe(), random.Random(0), "абвгдежзийклмнопрстуфхцчшщыьэюя"
    words = set()
    while len(words) < module.MEMO - 2: words.add("".join(r.choices(letters, k=r.randint(4, 12))))
    words = list(words)
    rows = [" ".join(words[i:i + 1000]) for i in range(0, len(words), 1000)]
    tracemalloc.start()
    run = clocked(lambda: bpe.encode_packed(rows) and None)
    return Run(run.seconds, tracemalloc.get_traced_memory()[0], cpu=run.cpu)


def beside(title, rows, targets, name=HF):
    "Our ids and Hugging Face's of the same texts."
    return Row(title, {"tfs": (ours, rows), name: (hf, rows)}, (("tfs", name),), targets)


ROWS = {
    "encode": Row(
        "ids of every sentence, 16,000 merges",
        {WARM: (warm,), PACKED: (packed,), COLD: (ours, texts), HF: (hf, texts, "encode_batch", 3),
         HF_LEAN: (hf, texts, "encode_batch_fast", 3), TIKTOKEN: (tiktoken,), LESSON: (lesson,)},
        ((WARM, PACKED, COLD, HF, HF_LEAN),),
        (times_faster(WARM, HF, 7), times_faster(WARM, TIKTOKEN, 1), times_faster(COLD, HF, 1.2)),
        once=(LESSON,),
        note="tiktoken gets text that is normalised already, and merges any neighbours that form a "
             "token, so that its numbers are not compared."),
    "unseen": beside("ids of 15,000 sentences of random words", random_words,
                     (times_faster("tfs", HF, 0.5),)),
    "long": beside("ids of a word of 100,000 letters, made of tokens", long_word,
                   (Target("seconds", "≤", 1, "tfs"),)),
    "same": beside("ids of a word of 100,000 equal letters", equal_letters,
                   (Target("seconds", "≤", 1, "tfs"),)),
    "memo": Row("a full memo, and the time to fill it", {"tfs": (full_memo,)},
                targets=(megabytes("tfs", 200),), runs=2,
                note="The memory is what the tokenizer holds, without the rest of the process.")}
