"""Whole columns: counting, normalising, fingerprints, groups, and comparing two tokenizers."""
import random

from clock import clocked, load, moment
from encoding import load_bpe, load_hf
from row import HF, Row, times_faster, times_lighter
from texts import texts


def count_plain():
    "NFKC and the lesson's `word_counts`, sentence by sentence."
    from unicodedata import normalize

    from tfs.bpe import word_counts
    rows = texts()
    return in_order(clocked(lambda: word_counts(normalize("NFKC", s) for s in rows)))


def count_fast(part="all"):
    "What `BPE.train` counts with."
    from tfs.bpe import count_words
    load("tfs.data", "numpy", "pyarrow.compute")
    rows = texts(part)
    return in_order(clocked(lambda: count_words(rows, "nfkc")))


def in_order(run):
    "The counts as a sorted list."
    run.result = sorted(run.result.items())
    return run


def hf_untrained(vocab_size):
    "A tokenizer with NFKC and the lesson's words, and its trainer."
    from tokenizers import Tokenizer, models, normalizers, trainers

    from tfs.bpe import pre_tokenizer
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Prepend(" ")])
    tokenizer.pre_tokenizer = pre_tokenizer()
    return tokenizer, trainers.BpeTrainer(vocab_size=vocab_size, show_progress=False)


def count_hf():
    "Until the last sentence was taken: reading, normalising, cutting and counting, on all cores."
    tokenizer, trainer = hf_untrained(1)
    rows, read_at = texts(), []

    def feed():
        yield from rows
        read_at.append(moment())

    return clocked(lambda: tokenizer.train_from_iterator(feed(), trainer), until=read_at)


def column(name, plain):
    "A function of `tfs.data` on all sentences: as it is, or sentence by sentence."
    from tfs import data
    load("numpy")
    function, rows = getattr(data, name), texts()
    return clocked(lambda: list(map(function, rows)) if plain else function(rows))


def pairs():
    "A table of pairs that share sentences, as translations do."
    import pandas as pd
    rows = texts()
    r, n = random.Random(0), len(rows) // 2
    return pd.DataFrame({"en": [rows[r.randrange(n)] for _ in range(n)],
                         "ru": [rows[n + min(r.randrange(n), r.randrange(n))] for _ in range(n)]})


def groups_plain():
    "The lesson's `UnionFind`, pair by pair."
    from tfs.data import UnionFind
    table = pairs()

    def run():
        sets = UnionFind()
        for en, ru in zip(table.en, table.ru): sets.union(("en", en), ("ru", ru))
        return [sets.find(("en", en)) for en in table.en]

    return numbered(clocked(run))


def groups_fast():
    "`group_labels` of the table."
    from tfs.data import group_labels
    load("scipy.sparse.csgraph")
    table = pairs()
    return numbered(clocked(lambda: group_labels(table)))


def numbered(run):
    "The labels as numbers in order of appearance."
    seen = {}
    run.result = [seen.setdefault(label, len(seen)) for label in run.result]
    return run


def parity_plain():
    "Sentence by sentence, each encoded twice."
    bpe, hf, rows = load_bpe(), load_hf(), texts()

    def differs(text):
        ours = [bpe.vocab[token] for token in bpe.encode(text)]
        return ours != hf.encode(text, add_special_tokens=False).ids

    return clocked(lambda: list(filter(differs, rows)))


def parity_fast():
    "`differences`, in batches."
    from tfs.bpe import differences, hf_ids
    load("numpy", "pyarrow.compute")
    bpe, hf, rows = load_bpe(), load_hf(), texts()
    return clocked(lambda: differences(rows, bpe.encode_batch, hf_ids(hf)))


def against(title, fast, plain, bound=None, name="lesson", **more):
    "A fast path and the plain one, which must agree."
    targets = (times_lighter("tfs", name, bound),) if bound else ()
    return Row(title, {"tfs": fast, name: plain}, (("tfs", name),), targets, **more)


ROWS = {
    "count": Row("words of the text, after NFKC",
                 {"tfs": (count_fast,), "plain loop": (count_plain,), HF: (count_hf,)},
                 (("tfs", "plain loop"),),
                 (times_lighter("tfs", "plain loop", 1.7), times_faster("tfs", HF, 3)),
                 note="Hugging Face's clock stops when it has taken the last sentence."),
    "normalize": against("the lesson's normalisation of every sentence",
                         (column, "normalize_column", False), (column, "normalize", True), 8),
    "fingerprint": against("the fingerprint of every sentence",
                           (column, "fingerprint_column", False), (column, "fingerprint", True), 3),
    "groups": against("the groups of pairs that share a sentence, half as many pairs as sentences",
                      (groups_fast,), (groups_plain,), 2),
    "parity": against("ids of every sentence compared with Hugging Face's", (parity_fast,),
                      (parity_plain,), name="sentence by sentence", runs=2)}
