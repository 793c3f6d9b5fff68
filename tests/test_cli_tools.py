"""`tfs train`, `encode`, `decode`, `chips`, `split`, `lesson` and `doctor` as processes."""
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tfs.cli_course import EXTRAS, LESSONS, NEEDED
from tfs.data import load_train, normalize
from tfs.env import mirror
from tfs.training import count_files, train_counts, usual_pipeline, usual_tokens

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = int(os.environ.get("TFS_SENTENCES", 300)) # compared with other libraries
needs_mirror = pytest.mark.skipif(mirror() is None, reason="TFS_MIRROR names no mirror")
posix = pytest.mark.skipif(os.name == "nt", reason="signals and terminals of POSIX")


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    "Settings of a run: no network, a cache of its own, no colours."
    here = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "0",
            "TFS_CACHE": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "200"}
    for name in ("FORCE_COLOR", "NO_COLOR", "TFS_MIRROR", "TFS_DATA"): here.pop(name, None)
    return here


@pytest.fixture
def tfs(tmp_path, env):
    "Run `python -m tfs` in an empty folder."
    def run(*args, stdin=b"", **variables):
        done = subprocess.run([sys.executable, "-m", "tfs", *map(str, args)], cwd=tmp_path,
                              env={**env, **variables}, input=stdin, capture_output=True,
                              timeout=120)
        texts = (out.decode().replace(os.linesep, "\n") for out in (done.stdout, done.stderr))
        return done.returncode, *texts
    return run


@pytest.fixture(scope="module")
def sentences():
    "Sentences of the bundled corpus, English and Russian mixed."
    pairs = load_train("sample")
    texts = [*pairs.en, *pairs.ru]
    random.Random(3).shuffle(texts)
    return texts


@pytest.fixture
def corpus(tmp_path, sentences):
    "A file of 3,000 lines, and strange ones; CRLF now and then."
    lines = [text.replace("\n", " ") for text in sentences[:3000]] + ["", " - да -", "а\u0301  б\t"]
    ends = ["\r\n" if i % 7 == 0 else "\n" for i in range(len(lines))]
    text = "".join(line + end for line, end in zip(lines, ends))
    (tmp_path/"corpus.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    return lines


def tree(folder):
    "The files below a folder, and their bytes."
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# What our model, `tokenizers` and `transformers` make of texts.

CHOICES = [(a, p) for a in ("bpe", "wordpiece", "unigram") for p in ("lesson", "gpt2", "indic")]
PROBES = ["", "नमस्ते\u200d दुनिया।", "It's  ½ \t\n x", "ﬁ e\u0301 — «да»", "😀👍🏽", "a" * 200]


@pytest.mark.parametrize("algorithm, words", CHOICES)
def test_trained_file_is_our_model(tfs, corpus, sentences, tmp_path, algorithm, words):
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast
    code, out, _ = tfs("train", "corpus.txt", "-v", 1000, "-a", algorithm, "-p", words,
                       "-o", "tokenizer.json", "--json")
    assert code == 0 and json.loads(out)[0]["vocab_size"] == 1000
    pipeline = usual_pipeline(algorithm, words)
    special = usual_tokens(algorithm, pipeline.byte_level)
    counts = pipeline.count(corpus, special)
    assert counts == count_files([tmp_path/"corpus.txt"], pipeline, special)
    model = train_counts(counts, algorithm, 1000, pipeline, special)
    hf = Tokenizer.from_file(str(tmp_path/"tokenizer.json"))
    assert hf.get_vocab() == model.vocab
    fast = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path/"tokenizer.json"),
                                   clean_up_tokenization_spaces=False)
    texts = sentences[-SENTENCES:] + PROBES
    ours = [model.ids(model.encode(t)) if hasattr(model, "ids") else model.encode_ids(t)
            for t in texts]
    assert [e.ids for e in hf.encode_batch(texts, add_special_tokens=False)] == ours
    assert fast(texts, add_special_tokens=False)["input_ids"] == ours
    for text, ids, own in zip(texts, ours, map(model.encode, texts)):
        unknown = model.unk_token if algorithm == "bpe" else model.unk
        if model.vocab.get(unknown) in ids: continue
        wanted = documented(algorithm, pipeline, text)
        assert model.decode(own) == wanted, text
        assert hf.decode(ids) == fast.decode(ids) == wanted, text


def documented(algorithm, pipeline, text):
    "The text that decoding is said to give back when nothing is unknown."
    from tfs.bpe import normalize_texts
    if algorithm == "wordpiece": return " ".join(pipeline.words(text))
    return normalize(text) if pipeline.taught else normalize_texts([text], pipeline.normalizer)[0]


def test_streamed_is_as_in_memory(tfs, corpus, tmp_path):
    "A file, its compressed copy and standard input give what `BPE.train` gives."
    from tfs.bpe import BPE, SPECIAL_TOKENS
    raw = (tmp_path/"corpus.txt").read_bytes()
    (tmp_path/"corpus.txt.gz").write_bytes(gzip.compress(raw))
    options = ["-v", 1500, "-o"]
    assert tfs("train", "corpus.txt", *options, "a.json")[0] == 0
    assert tfs("train", "corpus.txt.gz", *options, "b.json")[0] == 0
    assert tfs("train", "-", *options, "c.json", stdin=raw)[0] == 0
    a, b, c = ((tmp_path/f"{name}.json").read_bytes() for name in "abc")
    model = BPE.train(corpus, 1500, min_frequency=2, special_tokens=SPECIAL_TOKENS)
    assert a == b == c == model.to_hf().to_str(pretty=True).encode()


def test_train_says_what_is_wrong_with_the_text(tfs, tmp_path):
    "A table that is read as plain text; a script that lesson 1's rules don't suit."
    story = "எங்கள் கிராமத்தில் ஒரு பழைய கிணறு இருக்கிறது.\n" * 3
    (tmp_path/"tamil.csv").write_text(story, encoding="utf-8")
    (tmp_path/"few.txt").write_text("an old well\n" * 4000 + story, encoding="utf-8")
    end = "-o", "t.json", "-v", "60"
    _, _, told = tfs("train", "tamil.csv", *end)
    assert "note: tamil.csv is read as plain text, not as a table" in told
    assert "note: 100% of the words are in Tamil" in told and "--pre-tokenizer indic" in told
    for args in (["tamil.csv", "-p", "indic"], ["few.txt"]):
        code, _, told = tfs("train", *args, *end)
        assert code == 0 and "Tamil" not in told


def test_train_says_what_it_did(tfs, tmp_path):
    (tmp_path/"a.txt").write_text("low lower <x> low\n", encoding="utf-8")
    code, out, err = tfs("train", "a.txt", "-v", 99, "-s", "<x>", "-o", "t.json")
    assert code == 0 and out.startswith("t.json: bpe, ") and "learnt from 3 words" in out
    notes = err.splitlines()
    assert notes[0] == "note: 99 entries were asked for, and there is nothing left to add"
    assert notes[1].startswith("note: without the special token <unk>") and len(notes) == 2
    assert json.loads((tmp_path/"t.json").read_text(encoding="utf-8"))["model"]["vocab"]["<x>"] == 0
    (tmp_path/"t.json").write_text("old", encoding="utf-8")
    assert tfs("train", "a.txt", "-v", 20, "-o", "t.json")[0] == 0 # an own output is replaced
    assert (tmp_path/"t.json").read_text(encoding="utf-8").startswith("{")


# Filters.

def test_encode_and_decode_are_inverse(tfs, corpus, tmp_path):
    text = "It's  so\n\n  नमस्ते\tन 😀\nlast"
    (tmp_path/"a.txt").write_text(text + "\n", encoding="utf-8", newline="\n")
    assert tfs("train", "corpus.txt", "-v", 600, "-p", "gpt2", "-o", "t.json")[0] == 0
    for how in ([], ["--tokens"], ["--json"]):
        code, ids, _ = tfs("encode", "a.txt", "-t", "t.json", *how)
        assert code == 0 and ids.count("\n") == 4
        code, back, _ = tfs("decode", "-t", "t.json", *how, stdin=ids.encode())
        lines = [json.loads(line) for line in back.splitlines()] if how == ["--json"] else \
            back.removesuffix("\n").split("\n")
        assert code == 0 and lines == text.split("\n")
    out = tfs("encode", "a.txt", "-t", "t.json", "--json")[1]
    rows = [json.loads(line) for line in out.splitlines()]
    assert [sorted(row) for row in rows] == [["ids", "text", "tokens"]] * 4
    assert tfs("encode", "a.txt", "-t", "t.json", "-o", "ids.txt")[1] == ""
    assert (tmp_path/"ids.txt").read_text(encoding="utf-8").splitlines()[3] == " ".join(
        map(str, rows[3]["ids"]))


def test_sentencepiece_and_wordpiece_files(tfs, tmp_path):
    spm = pytest.importorskip("sentencepiece")
    (tmp_path/"c.txt").write_text("low lower newer привет\n" * 99, encoding="utf-8")
    spm.SentencePieceTrainer.train(input=str(tmp_path/"c.txt"), model_prefix=str(tmp_path/"m"),
                                   vocab_size=40, hard_vocab_limit=False, minloglevel=2)
    (tmp_path/"vocab.txt").write_text("[UNK]\nlow\n##er\n", encoding="utf-8")
    for how in ([], ["--tokens"], ["--json"]):
        tfs("encode", "-", "-t", "m.model", "-o", "ids.txt", *how, stdin="привет low\n".encode())
        text = tfs("decode", "ids.txt", "-t", "m.model", *how)[1].strip()
        assert (json.loads(text) if how == ["--json"] else text) == "привет low"
    out = tfs("encode", "-t", "vocab.txt", "--tokens", stdin=b"lower x\n")[1]
    assert out == "low ##er [UNK]\n"


def test_graphemes_come_back_from_their_tokens(tfs):
    "Spaces and control characters are spelled, also with a mark on them; a backslash is itself."
    text = "a b\tन \u0301x\x00 \\u0041\n"
    code, out, _ = tfs("encode", "-t", "graphemes", "--tokens", stdin=text.encode())
    assert code == 0 and r"\u0020" in out
    code, out, _ = tfs("decode", "-t", "graphemes", "--tokens", stdin=out.encode())
    assert (code, out) == (0, text)


def test_chips(tfs, tmp_path):
    code, out, _ = tfs("chips", "न\x1b[31m", "b", "-t", "codepoints", "-t", "bytes", "--ids")
    assert code == 0 and "\x1b" not in out and "2344" in out and "|" in out
    code, out, _ = tfs("chips", "-", "-t", "graphemes", "--json", stdin="नम\n".encode())
    assert code == 0 and json.loads(out) == [
        {"text": "नम", "tokenizer": "graphemes", "tokens": ["न", "म"], "ids": None}]
    for name in ("a.svg", "a.png", "a.html"):
        assert tfs("chips", "<b>&", "-t", "codepoints", "-o", name)[:2] == (0, "")
    assert "<b>" not in (tmp_path/"a.svg").read_text(encoding="utf-8")
    assert (tmp_path/"a.png").read_bytes()[:4] == b"\x89PNG"


def on_terminal(args, folder, env):
    "What a command shows on a terminal, and its exit code."
    import pty
    parent, child = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "tfs", *args], cwd=folder, env=env,
                               stdin=child, stdout=child, stderr=child)
    os.close(child)
    shown = b""
    try:
        while part := os.read(parent, 65_536): shown += part
    except OSError: pass
    os.close(parent)
    return process.wait(30), shown.decode()


@posix
def test_colours_follow_the_terminal(tmp_path, env):
    args, terminal = ["chips", "ab", "-t", "codepoints"], {**env, "TERM": "xterm-256color"}
    code, shown = on_terminal(args, tmp_path, terminal)
    assert code == 0 and "\x1b[30;46ma" in shown
    for other in ({**terminal, "NO_COLOR": "1"}, {**terminal, "TERM": "dumb"}):
        code, shown = on_terminal(args, tmp_path, other)
        assert code == 0 and "\x1b[" not in shown and "a|b" in shown


@posix
def test_training_shows_a_bar(tmp_path, env, corpus):
    args = ["train", "corpus.txt", "-v", "600", "-o", "t.json"]
    code, shown = on_terminal(args, tmp_path, {**env, "TERM": "xterm", "COLUMNS": "80"})
    assert code == 0 and "reading" in shown and "━" in shown and "learning" in shown


# Splitting.

PAIRS = "Go.\tИди.\nGo.\tСтупай.\nStop it!\tХватит!\nтак\tДа.\n" + "".join(
    f"{a}\t{b}\n" for a, b in zip("abcdefgh", "абвгдежз"))


def test_split(tfs, tmp_path):
    import pandas as pd
    (tmp_path/"pairs.tsv").write_text(PAIRS, encoding="utf-8")
    (tmp_path/"test.tsv").write_text("stop it\tСтой.\n", encoding="utf-8")
    args = ["split", "pairs.tsv", "--test", "test.tsv", "-o", "data", "--share", 0.2, "--json"]
    code, out, _ = tfs(*args)
    steps = {row["step"]: row["pairs"] for row in json.loads(out)}
    assert code == 0 and steps.pop("test, beside these") == 1
    assert steps.pop("read") == 12 == sum(steps.values()) and steps["dropped: leaks into test"] == 1
    parts = {p.stem: pd.read_parquet(p) for p in (tmp_path/"data").glob("*.parquet")}
    assert {k: len(v) for k, v in parts.items()} == {
        "train": steps["train"], "validation": steps["validation"], "test": 1, "dropped": 2}
    for side in ("en", "ru"): assert not {*parts["train"][side]} & {*parts["validation"][side]}
    before = tree(tmp_path)
    assert tfs(*args)[0] == 0 and tree(tmp_path) == before # again, over an earlier split


def test_split_other_languages(tfs, tmp_path):
    import pandas as pd
    (tmp_path/"p.csv").write_text("id,hi,en\n" + "".join(
        f"{i},किताब {c},book {c}\n" for i, c in enumerate("abcdef")), encoding="utf-8")
    code, out, err = tfs("split", "p.csv", "-o", "d", "--languages", "en,hi", "--share", 0.3)
    assert code == 0, err
    assert pd.read_parquet(tmp_path/"d"/"train.parquet").columns.tolist() == ["en", "hi"]
    assert "कि" in pd.read_parquet(tmp_path/"d"/"train.parquet").hi[0]


@needs_mirror
@pytest.mark.mirror
@posix
def test_split_of_50_000_pairs(tfs, tmp_path, env):
    "In under 15 s of one core; the report adds up and nothing leaks."
    import resource
    part = "datasets/sentence-transformers/parallel-sentences-tatoeba/en-ru"
    (source,) = (mirror()/part).glob("*.parquet")
    import pandas as pd
    pd.read_parquet(source).head(50_000).to_parquet(tmp_path/"pairs.parquet")
    test = mirror()/"files/Helsinki-NLP/Tatoeba-Challenge/data/test/eng-rus/test.txt"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code, out, _ = tfs("split", "pairs.parquet", "--test", test, "-o", "data", "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert code == 0
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 15
    steps = {row["step"]: row["pairs"] for row in json.loads(out)}
    del steps["test, beside these"]
    assert steps.pop("read") == 50_000 == sum(steps.values())
    parts = {p.stem: pd.read_parquet(p) for p in (tmp_path/"data").glob("*.parquet")}
    for side in ("en", "ru"):
        train, valid, known = ({*parts[k][side]} for k in ("train", "validation", "test"))
        assert not train & valid and not (train | valid) & known


# Errors: one line that says what, where and what to do; exit code 2 or 1; nothing is written.

def files_for_mistakes(folder):
    "Files that have something wrong with them, and some that have not."
    for name, data in {
            "ok.txt": b"low lower lowest\n", "bad.txt": b"ab\n\xff", "empty.txt": b"",
            "a.json": b"[]", "torn.txt.gz": gzip.compress(b"low " * 99)[:20],
            "ids.txt": b"98 99\n98 x\n", "big.txt": b"98\n\n1114112\n",
            "list.jsonl": b'{"x": 1}\n', "broken.jsonl": b"[1,\n", "pairs.tsv": PAIRS.encode(),
            "three.tsv": b"a\tb\tc\n", "ragged.tsv": b"a\tb\na\tb\tc\n", "hollow.tsv": b"a\t \n",
            "english.tsv": b"a\tb\n", "none.tsv": b"", "bad.tsv": b"a\t\xff", "pairs.xls": b"x",
            "half.parquet": b"PAR1", "whole.parquet": b"PAR1\xff....",
            "book.docx": b"PK\3\4\xff....", "packed.txt": gzip.compress(b"low " * 99),
            "old/mine.txt": b"mine"}.items():
        (folder/name).parent.mkdir(exist_ok=True)
        (folder/name).write_bytes(data)


MISTAKES = [
    ("train no.txt -o t.json", 2, "no.txt: "),
    ("train . -o t.json", 2, ". is a folder"),
    ("train bad.txt -o t.json", 2, "bad.txt: byte 3 is not UTF-8 (0xff)"),
    ("train empty.txt -o t.json", 2, "the text has no words"),
    ("train torn.txt.gz -o t.json", 2, "torn.txt.gz: can't be read"),
    ("train book.docx -o t.json", 2, "book.docx is no text but a zip archive"),
    ("train whole.parquet -o t.json", 2, "whole.parquet is no text but a Parquet file"),
    ("encode packed.txt -t bytes", 2, "packed with gzip: unpack it, or let its name end in .gz"),
    ("train ok.txt", 2, "--output"),
    ("train -o t.json", 2, "give either text or --counts"),
    ("train ok.txt -o old", 2, "old is a folder"),
    ("train ok.txt -o t.txt", 2, "must end with .json"),
    ("train a.json -o ./a.json", 2, "is read by this command"),
    ("train ok.txt -o ok.txt/t.json", 1, "can't write ok.txt/t.json"),
    ("train - - -o t.json", 2, "standard input (-) can be read once"),
    ("train ok.txt -o t.json -v 9", 2, "the smallest possible is"),
    ("train ok.txt -o t.json -v 9 -a wordpiece", 2, "alone need"),
    ("train ok.txt -o t.json -v 9 -a unigram", 2, "alone need"),
    ("train ok.txt -o t.json -v 200 -p gpt2", 2, "the smallest possible is 259"),
    ("train ok.txt -o t.json -v x", 2, "vocab-size"),
    ("train ok.txt -o t.json -a bpee", 2, "expected one of bpe, wordpiece, unigram"),
    ("train ok.txt -o t.json -p gpt3", 2, "expected one of lesson, gpt2, indic"),
    ("train ok.txt -o t.json -n nfq", 2, "expected one of lesson, nfc, nfkc, none"),
    ("train ok.txt -o t.json -a unigram --byte-level", 2, "unigram has no byte-level alphabet"),
    ("train ok.txt -o t.json --tie most", 2, "expected one of"),
    ("train ok.txt -o t.json -a unigram -s [X]", 2, "<unk>"),
    ("train ok.txt -o t.json -s <a> -s <a>", 2, "twice"),
    ("encode no.txt -t bytes", 2, "no.txt: "),
    ("encode bad.txt -t bytes -o x.txt", 2, "bad.txt: byte 3"),
    ("encode ok.txt -t gtp2", 2, "gpt2, gpt4"),
    ("encode ok.txt -t words", 2, "words has no ids: use --tokens"),
    ("encode ok.txt", 2, "--tokenizer"),
    ("encode ok.txt -t bytes -o ok.txt", 2, "is read by this command"),
    ("encode ok.txt -t bytes -o old", 2, "old is a folder"),
    ("decode ids.txt -t bytes -o x.txt", 2, "ids.txt, line 2: 'x' is no id"),
    ("decode big.txt -t codepoints -o x.txt", 2, "big.txt, line 3: 1114112 is no id of codepoints"),
    ("decode list.jsonl -t bytes --json -o x.txt", 2, "list.jsonl, line 1: expected a list"),
    ("decode broken.jsonl -t bytes --json -o x.txt", 2, "broken.jsonl, line 1: "),
    ("decode ok.txt -t codepoints --tokens -o x.txt", 2, "line 1: 'low' is no token"),
    ("decode ids.txt -t graphemes -o x.txt", 2, "graphemes has no ids"),
    ("chips a -t bytes -o a.pdf", 2, ".svg or .png or .html"),
    ("chips a -t bytes -o ok.txt/a.svg", 1, "can't write"),
    ("chips -t bytes", 2, "TEXT"),
    ("chips a", 2, "--tokenizer"),
    ("chips - - -t bytes", 2, "can be read once"),
    ("split no.tsv -o d", 2, "no.tsv"),
    ("split pairs.xls -o d", 2, "expected .tsv, .txt, .csv"),
    ("split bad.tsv -o d", 2, "bad.tsv: byte 2 is not UTF-8"),
    ("split three.tsv -o d", 2, "three.tsv, line 1: 3 fields. Expected 2 (en, ru)"),
    ("split three.tsv -o d --languages en,ta", 2, "a header with en and ta"),
    ("split ragged.tsv -o d", 2, "ragged.tsv, line 2: 3 fields"),
    ("split hollow.tsv -o d", 2, "hollow.tsv, line 1: one side is empty"),
    ("split half.parquet -o d", 2, "half.parquet: not a readable Parquet file"),
    ("split none.tsv -o d", 2, "none.tsv has no pairs"),
    ("split english.tsv -o d", 2, "no pair is left after cleaning"),
    ("split pairs.tsv --test no.tsv -o d", 2, "no.tsv"),
    ("split pairs.tsv -o old", 2, "old holds mine.txt"),
    ("split pairs.tsv -o ok.txt", 2, "ok.txt is no folder"),
    ("split pairs.tsv -o .", 2, "holds the folder you are in"),
    ("split pairs.tsv", 2, "--output"),
    ("split pairs.tsv -o d --share 2", 2, "--share"),
    ("split pairs.tsv -o d --languages en", 2, "expected two names"),
    ("lesson open 9", 2, "N"),
    ("lesson run", 2, "N"),
    ("lesson run 1", 1, "git clone"),
    ("lesson bake 1", 2, "bake"),
    ("doctor --json --csv", 2, "exclude each other"),
    ("doktor", 2, "doktor"),
]


@pytest.mark.parametrize("part", range(8))
def test_mistakes(tmp_path, env, part):
    "Processes side by side, four at a time, each in a folder of its own."
    for first in range(part, len(MISTAKES), 32):
        running = []
        for n in range(first, min(first + 32, len(MISTAKES)), 8):
            command, code, why = MISTAKES[n]
            folder = tmp_path/str(n)
            folder.mkdir()
            files_for_mistakes(folder)
            process = subprocess.Popen([sys.executable, "-m", "tfs", *command.split()], cwd=folder,
                                       env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            running.append((process, folder, tree(folder), command, code, why))
        for process, folder, before, command, code, why in running:
            out, err = (b.decode() for b in process.communicate(timeout=120))
            assert (process.returncode, out, err.count("\n")) == (code, "", 1), (command, err)
            assert err.startswith("tfs: ") and why in err and "Traceback" not in err, (command, err)
            assert tree(folder) == before and not list(folder.glob(".*")), command


@posix
def test_a_device_is_not_replaced(tfs):
    code, _, err = tfs("encode", "-", "-t", "bytes", "-o", os.devnull)
    assert code == 2 and "is a device or a pipe" in err and not Path(os.devnull).is_file()


@posix
@pytest.mark.parametrize("args", [
    ["train", "a.txt", "-v", "300", "-p", "gpt2", "-o", "t.json"],
    ["encode", "a.txt", "-t", "bytes", "-o", "x.txt"],
    ["chips", "ab", "-t", "bytes", "-o", "a.svg"],
    ["split", "pairs.tsv", "-o", "data"]], ids=lambda args: args[0])
def test_a_full_disk(tmp_path, env, args):
    "One line, and nothing half-written, when the output doesn't fit."
    import resource
    (tmp_path/"a.txt").write_text("low lower lowest\n" * 50, encoding="utf-8")
    (tmp_path/"pairs.tsv").write_text(PAIRS, encoding="utf-8")
    before = tree(tmp_path)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
    done = subprocess.run([sys.executable, "-B", "-m", "tfs", *args], cwd=tmp_path, env=env,
                          capture_output=True, timeout=120, preexec_fn=limit)
    err = done.stderr.decode()
    assert (done.returncode, done.stdout, err.count("\n")) == (1, b"", 1), err
    assert "oo large" in err and tree(tmp_path) == before and not list(tmp_path.glob(".*"))


def test_debug_shows_the_traceback(tfs):
    code, _, err = tfs("train", "no.txt", "-o", "t.json", "--debug")
    assert code == 1 and "Traceback" in err and "no.txt" in err


# Interrupted and killed.

SLOW = """
import sys, time
import pandas as pd
from pathlib import Path
import tfs.cli, tfs.training, tokenizers
write, slow = pd.DataFrame.to_parquet, lambda: (Path("now").touch(), time.sleep(60))
def to_parquet(self, path, **options): write(self, path, **options); slow()
pd.DataFrame.to_parquet = to_parquet
text = Path.write_text
def write_text(self, data, **options):
    text(self, data[:99], **options)
    if self.suffix == ".tmp": slow()
Path.write_text = write_text
tfs.cli.main()
"""


def hear_ctrl_c():
    "A job in the background of a shell ignores Ctrl-C, and so would its children."
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stopped(args, folder, env, sign):
    "Start a command that dawdles when half of its output is written, and send it a signal then."
    process = subprocess.Popen([sys.executable, "-c", SLOW, *args], cwd=folder, env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=hear_ctrl_c)
    end = time.time() + 60
    while not (folder/"now").exists() and process.poll() is None and time.time() < end:
        time.sleep(0.1)
    process.send_signal(sign)
    out, err = process.communicate(timeout=30)
    (folder/"now").unlink()
    return process.returncode, out, err.decode()


WORK = {"split": (["split", "pairs.tsv", "-o", "data"], "data"),
        "train": (["train", "pairs.tsv", "-v", "80", "-o", "t.json"], "t.json")}


@posix
@pytest.mark.parametrize("name", WORK)
def test_nothing_half_written(tfs, tmp_path, env, name):
    args, output = WORK[name]
    (tmp_path/"pairs.tsv").write_text(PAIRS, encoding="utf-8")
    before = tree(tmp_path)
    done = stopped(args, tmp_path, env, signal.SIGINT)
    assert done == (130, b"", "tfs: interrupted\n") and tree(tmp_path) == before
    assert stopped(args, tmp_path, env, signal.SIGTERM)[0] == 143 and tree(tmp_path) == before
    assert stopped(args, tmp_path, env, signal.SIGKILL)[0] == -signal.SIGKILL
    assert not (tmp_path/output).exists()
    assert tfs(*args)[0] == 0 and (tmp_path/output).exists()
    if name == "split": assert not list(tmp_path.glob(".*")) # the next run has cleared up
    finished = tree(tmp_path/output) if name == "split" else (tmp_path/output).read_bytes()
    assert stopped(args, tmp_path, env, signal.SIGKILL)[0] == -signal.SIGKILL
    left = tree(tmp_path/output) if name == "split" else (tmp_path/output).read_bytes()
    assert left == finished # an older result stays until the new one is whole


@posix
def test_ctrl_c_while_reading(tmp_path, env):
    process = subprocess.Popen([sys.executable, "-m", "tfs", "train", "-", "-o", "t.json"],
                               cwd=tmp_path, env=env, stdin=subprocess.PIPE, preexec_fn=hear_ctrl_c,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"low lower\n" * 10_000)
    process.stdin.flush()
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"tfs: interrupted\n")
    assert not list(tmp_path.iterdir())


# The course, and the start.

def test_lesson_and_doctor(tfs):
    code, out, _ = tfs("lesson", "list", "--json")
    rows = json.loads(out)
    assert code == 0 and [r["lesson"] for r in rows] == [1, 2, 3] and not rows[0]["notebook"]
    assert "bpe.html" in tfs("lesson")[1]
    code, out, _ = tfs("lesson", "open", 2, "--print")
    assert (code, out) == (0, rows[1]["page"] + "\n")
    code, out, _ = tfs("doctor", "--json", TFS_DATA="nowhere")
    found = {row["what"]: row for row in json.loads(out)}
    assert code == 0 and all(found[name]["ok"] for name in NEEDED)
    assert found["Hugging Face Hub"]["ok"] is False and found["sample"]["ok"] is True
    assert found["TFS_DATA"]["ok"] is False and "nowhere" in found["TFS_DATA"]["detail"]
    assert {"GPT-2 (2019)", "GPT-4o (2024)", "tatoeba, train", "for pictures"} <= found.keys()


def test_lists_are_those_of_the_project():
    from project import lessons, settings
    cfg = settings()
    names = lambda key: {part.split(">=")[0] for part in cfg[f"{key}requirements"].split()}
    assert set(NEEDED) == names("")
    assert {n for n, e in EXTRAS.items() if e == "offline"} == names("offline_")
    assert list(LESSONS) == [path.stem for path in lessons()]
    for path, title in zip(lessons(), LESSONS.values()):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert "".join(cells[0]["source"]).startswith(f"# {title}\n")


def test_help_has_examples(tfs):
    commands = ["train", "encode", "decode", "chips", "split", "lesson", "doctor"]
    code, out, err = tfs("--help")
    assert code == 0 and not err and all(f"\n  {name} " in out for name in commands)
    for name in commands:
        code, out, err = tfs(name, "--help")
        assert code == 0 and not err and "Examples" in out and f"tfs {name}" in out


def test_completion(tfs):
    "Commands, options and values; the script for a shell."
    asks = {"tfs tr": "train", "tfs train --vocab": "--vocab-size", "tfs train a -a w": "wordpiece",
            "tfs chips x -t gpt4": "gpt4o"}
    for typed, wanted in asks.items():
        words = typed.split()
        code, out, err = tfs(_TFS_COMPLETE="complete_bash", COMP_WORDS=typed,
                             COMP_CWORD=str(len(words) - 1))
        assert code == 0 and wanted in out.split() and not err, (typed, out, err)
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    code, out, _ = tfs("--show-completion", "bash", **named)
    assert code == 0 and "complete_bash" in out


@posix
def test_help_is_quick(tfs):
    "`tfs --help` takes less than half a second more than Python itself, in time of the processor."
    import resource
    def cost(*command):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command() if callable(command) else subprocess.run(command)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    python = min(cost(sys.executable, "-c", "pass") for _ in range(3))
    code = "import sys; sys.argv = ['tfs', '--help']; from tfs.cli import main; main()"
    help_ = min(cost(sys.executable, "-c", code) for _ in range(3))
    assert help_ - python < 0.5


def test_commands_load_nothing_heavy(env, tmp_path):
    heavy = {"pandas", "matplotlib", "datasets", "tokenizers", "numpy", "regex"}
    code = f"import sys, tfs.cli as c; c.load_commands(); print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True,
                          text=True)
    assert done.stdout.strip() == "[]", done.stderr
