"""Training: merges from word counts, which are the same for everybody."""
import ast
import inspect
import json
import os
import tempfile
from pathlib import Path

from clock import clocked, moment
from row import FAST, HF, HF_ONE, NUMPY, SPM, Row, Target, at_most, megabytes, times_lighter
from texts import WORK, read, symbols, words

HEAP, LESSON, BY_ID = "heap of pairs", "lesson, incremental", f"{NUMPY}, ties by id"


def incremental(n):
    "The lesson's second trainer: two tables, and `max` over all pairs at each merge."
    from tfs.bpe import train_bpe
    rows = words(symbols)
    return clocked(lambda: train_bpe(rows, n)[0])


def heap(n):
    "The same tables with a heap instead of `max`."
    from heap import train_heap
    rows = words(symbols)
    return clocked(lambda: train_heap(rows, n))


def fast(n):
    "The lesson's third trainer."
    from tfs.bpe import train_bpe_fast
    rows = words(symbols)
    return clocked(lambda: train_bpe_fast(rows, n)[0])


def numpy(n, tie="greatest"):
    "What `BPE.train` runs."
    from tfs.flat import train_flat
    counts = words()
    return clocked(lambda: train_flat(counts, n, tie)[1])


def hf_merges(tokenizer):
    "The merges of a `tokenizers.Tokenizer`, as pairs."
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in merges]


def hf(n):
    "From the moment that the last word was read: what is left is training from word counts."
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    counts, read_at = words(), []
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    size = read("facts")["words"]["letters"] + n
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False)

    def feed():
        for word, times in counts.items(): yield " ".join([word] * times)
        read_at.append(moment())

    run = clocked(lambda: tokenizer.train_from_iterator(feed(), trainer), since=read_at)
    run.result = hf_merges(tokenizer)
    return run


def sentencepiece(n, model_type="bpe", name="words", longest=512):
    "SentencePiece on the same word counts, on all cores."
    import sentencepiece as spm
    size = read("facts")[name]["letters"] + n + 3 if model_type == "bpe" else n
    with tempfile.TemporaryDirectory() as folder:
        return clocked(lambda: spm.SentencePieceTrainer.train(
            input=str(WORK/f"{name}.tsv"), input_format="tsv", model_type=model_type,
            model_prefix=str(Path(folder)/"spm"), vocab_size=size, character_coverage=1.0,
            normalization_rule_name="identity", add_dummy_prefix=False, minloglevel=2,
            max_sentencepiece_length=longest, num_threads=os.cpu_count(), hard_vocab_limit=False))


def code_lines():
    """Lines of the lesson's third trainer.

    Blank lines, docstrings, the lines of a signature after its first and the tie rules don't count.
    """
    import tfs.bpe as bpe
    count = 0
    for part in (bpe.as_texts, bpe.rewrite, bpe.Ladder, bpe.merge_texts, bpe.train_bpe_fast):
        source = inspect.getsource(part)
        skipped = {i for i, line in enumerate(source.splitlines(), 1) if not line.strip()}
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)): continue
            doc = node.body[0]
            skipped |= set(range(node.lineno + 1, doc.lineno))
            if isinstance(doc, ast.Expr): skipped |= set(range(doc.lineno, doc.end_lineno + 1))
        count += len(source.splitlines()) - len(skipped)
    return count


def row(n, bound, targets=(), **more):
    "A row of training with its contestants."
    return Row(f"{n:,} merges from word counts", {
        NUMPY: (numpy, n), FAST: (fast, n), HF: (hf, n), HF_ONE: (hf, n), SPM: (sentencepiece, n),
        BY_ID: (numpy, n, "id"), **more}, same=((NUMPY, FAST, HEAP, LESSON), (BY_ID, HF, HF_ONE)),
        targets=(at_most(NUMPY, HF, bound), *targets), once=(HEAP, LESSON),
        note="Hugging Face's merge loop alone: its clock starts when it has read the last word.")


ROWS = {
    "train-8000": row(8000, 0.8, (
        at_most(FAST, HF, 1.8), times_lighter(FAST, LESSON, 60), megabytes(FAST, 160),
        megabytes(NUMPY, 220), Target("lines", "≤", 60, FAST)),
        **{HEAP: (heap, 8000), LESSON: (incremental, 8000)}),
    "train-16000": row(16_000, 0.95),
    "train-32000": row(32_000, 1.0)}
