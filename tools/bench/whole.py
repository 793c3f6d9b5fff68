"""The whole path: from text to a vocabulary of 16,000."""
import os
import random
import tempfile
from pathlib import Path

from clock import clocked, load
from columns import hf_untrained
from row import FAST, HF, NUMPY, SPM, Row, megabytes, times_faster
from texts import texts
from training import hf_merges

LARGE, SIZE = 1_040_000, 16_000


def large():
    "The text again and again, shuffled, until it has `LARGE` sentences."
    rows = texts()
    rows = (rows * (LARGE // len(rows) + 1))[:LARGE]
    random.Random(1).shuffle(rows)
    return rows


def numpy(rows):
    "`BPE.train`."
    from tfs.bpe import BPE
    load("tfs.flat", "numpy", "pyarrow.compute")
    rows = rows()
    train = lambda: BPE.train(rows, vocab_size=SIZE, tie="id", normalizer="nfkc")
    return clocked(lambda: train().merges)


def python(rows):
    "Without NumPy and Arrow: a `Counter` of the stretches, and the lesson's third trainer."
    from tfs import bpe
    rows = rows()

    def no_arrow(text): raise ImportError

    def run():
        words = {tuple(word): n for word, n in bpe.count_words(rows, "nfkc").items()}
        return bpe.train_bpe_fast(words, SIZE - len(bpe.symbol_ids(words)), "id")[0]

    bpe._arrow_chunks = no_arrow
    return clocked(run)


def hf(rows):
    "Hugging Face with NFKC and the lesson's words, on all cores."
    tokenizer, trainer = hf_untrained(SIZE)
    rows = rows()
    run = clocked(lambda: tokenizer.train_from_iterator(rows, trainer))
    run.result = hf_merges(tokenizer)
    return run


def sentencepiece(rows):
    "SentencePiece with NFKC and a simpler cut at spaces, on all cores."
    import sentencepiece as spm
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)/"text"
        path.write_text("\n".join(rows()), encoding="utf-8")
        return clocked(lambda: spm.SentencePieceTrainer.train(
            input=str(path), model_type="bpe", model_prefix=str(Path(folder)/"spm"),
            vocab_size=SIZE, character_coverage=1.0, normalization_rule_name="nfkc",
            minloglevel=2, num_threads=os.cpu_count(), hard_vocab_limit=False))


def row(title, rows, **more):
    "A row with the four contestants."
    return Row(title, {NUMPY: (numpy, rows), FAST: (python, rows), HF: (hf, rows),
                       SPM: (sentencepiece, rows)}, ((NUMPY, FAST, HF),),
               (times_faster(NUMPY, HF, 2), times_faster(FAST, HF, 1), megabytes(NUMPY, 700)),
               **more)


ROWS = {
    "whole": row("the text to a vocabulary of 16,000", texts, runs=3),
    "whole-large": row(f"{LARGE:,} sentences to a vocabulary of 16,000", large, runs=1,
                       note="The text repeated: more sentences, but no more different words.")}
