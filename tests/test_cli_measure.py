"""`tfs measure` and `tfs tax` as processes: what they print, where, and how they end."""
import csv
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tfs.env import mirror
from tfs.parallel import story

ROOT = Path(__file__).resolve().parents[1]
needs_mirror = pytest.mark.skipif(mirror() is None, reason="TFS_MIRROR names no mirror")
posix = pytest.mark.skipif(os.name == "nt", reason="signals and terminals of POSIX")
VERSE = "धर्मः लोकं धारयति।\n"


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    "Settings of a run: no network, a cache of its own."
    here = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "PYTHONUTF8": "0",
            "TFS_CACHE": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "200"}
    if mirror(): here["TFS_MIRROR"] = str(mirror().resolve())
    return here


@pytest.fixture
def tfs(tmp_path, env):
    "Run `python -m tfs` in an empty folder."
    def run(*args, stdin=b""):
        done = subprocess.run([sys.executable, "-m", "tfs", *map(str, args)], cwd=tmp_path, env=env,
                              input=stdin, capture_output=True, timeout=120)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    return run


@pytest.fixture
def verse(tmp_path):
    (tmp_path/"verse.txt").write_text(VERSE, encoding="utf-8", newline="\n")
    return "verse.txt"


def test_table(tfs, verse):
    code, out, err = tfs("measure", verse, "-t", "graphemes", "-t", "words")
    assert code == 0 and "tokens per word" in out and "code points per token" in out
    assert [line.split()[:1]
            for line in out.splitlines() if "graphemes " in line[:12]] == [["graphemes"]]
    why = "not lossless: decoding doesn't give the text back"
    assert err.strip() == f"note: verse.txt, words: {why}"


def test_a_table_is_read_as_plain_text(tfs, tmp_path):
    "That is said, for commas and ids are then measured too."
    (tmp_path/"a.csv").write_text("id,text\n1,low\n", encoding="utf-8")
    code, printed, told = tfs("measure", "a.csv", "-t", "bytes")
    assert code == 0 and "bytes" in printed
    assert "note: a.csv is read as plain text, not as a table" in told


def test_json(tfs, verse):
    code, out, _ = tfs("measure", verse, "-t", "bytes", "--json")
    row = json.loads(out)[0]
    assert code == 0
    assert (row["file"], row["tokens"], row["words"], row["fertility"]) == ("verse.txt", 51, 3, 17)
    assert row["lossless"] is True and row["normalizer"] == "nfc"


def test_csv_and_several_files(tfs, verse, tmp_path):
    (tmp_path/"b.txt.gz").write_bytes(gzip.compress("\ufeffhello world\n".encode()))
    code, out, _ = tfs("measure", verse, "b.txt.gz", "-t", "bytes", "-t", "words", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [(r["file"], r["tokenizer"], r["tokens"]) for r in rows] == [
        ("verse.txt", "bytes", "51"), ("verse.txt", "words", "3"),
        ("b.txt.gz", "bytes", "12"), ("b.txt.gz", "words", "2")]
    assert rows[0]["vocab_size"] == "256" and rows[1]["vocab_size"] == ""


def test_markdown(tfs, tmp_path):
    (tmp_path/"a|b.txt").write_text("hello", encoding="utf-8") if os.name != "nt" else None
    (tmp_path/"c.txt").write_text("hello", encoding="utf-8")
    names = ["c.txt"] if os.name == "nt" else ["c.txt", "a|b.txt"]
    code, out, _ = tfs("measure", *names, "-t", "bytes", "--markdown")
    lines = out.splitlines()
    assert code == 0 and {line.count("|") for line in lines} == {lines[0].count("|")}


def test_standard_input(tfs):
    code, out, _ = tfs("measure", "-", "-t", "bytes", "--json", stdin=VERSE.encode())
    assert code == 0 and json.loads(out)[0]["tokens"] == 51


def test_words_without_a_value(tfs):
    code, out, err = tfs("measure", "-", "-t", "bytes", "--json", stdin=b" \n")
    assert code == 0 and json.loads(out)[0]["fertility"] is None and "no words" in err


def test_progress_and_results_do_not_mix(tfs, verse):
    code, out, err = tfs("measure", verse, "-t", "gpt2", "--json")
    assert code == 0 and json.loads(out)[0]["tokenizer"] == "gpt2"
    assert err.startswith("GPT-2 (2019): ")


MISTAKEN = {
    "utf16.txt": "hello".encode("utf-16-le").join([b"\xff\xfe", b""]),
    "rot.txt.gz": gzip.compress(b"hello " * 999, mtime=0)[:12] + b"\xff" * 40,
    "plain.txt.gz": b"hello",
    "half.json": b'{"version": "1.0", "model": {"type": "BPE", "vocab": {"\\ud800": 0}}}',
    "open.csv": b'eng_Latn,x\n"a,b\n', "twice.csv": b"eng_Latn,x,x\na,b,c\n",
    "nameless.tsv": b"eng_Latn\t\na\tb\n", "head.tsv": b"eng_Latn\tx\n",
    "blank.tsv": b"eng_Latn\tx\n\t \n", "hole.tsv": b"eng_Latn\tx\na\tb\nc\t\n",
    "odd": b"hello",
    "bytes.tsv": b"eng_Latn\tx\na\t\xff\n", "junk.parquet": b"PAR1junk",
}


@pytest.mark.parametrize("args, why", [
    (["measure", "no.txt", "-t", "bytes"], "no.txt: "),
    (["measure", ".", "-t", "bytes"], "is a folder"),
    (["measure", "bad.txt", "-t", "bytes"], "bad.txt: byte 3 is not UTF-8 (0xff)"),
    (["measure", "empty.txt", "-t", "bytes"], "empty.txt is empty: there is nothing to measure"),
    (["measure", "bom.txt", "-t", "bytes"], "bom.txt is empty: there is nothing to measure"),
    (["measure", "torn.txt.gz", "-t", "bytes"], "torn.txt.gz: can't be read"),
    (["measure", "ok.txt", "-t", "gtp2"], "gpt2, gpt4"),
    (["measure", "ok.txt", "-t", "tokenizer.json"], "tokenizer.json is not a whole tokenizer.json"),
    (["measure", "ok.txt", "-t", "x.model"], "x.model: "),
    (["measure", "ok.txt", "-t", "ok.txt"], "[UNK]"),
    (["measure", "ok.txt", "-t", "absent.json"], "absent.json: there is no such file"),
    (["measure", "ok.txt", "-t", "bytes", "-n", "nfq"], "nfc, nfkc, none"),
    (["measure", "ok.txt", "-t", "bytes", "--json", "--csv"], "exclude each other"),
    (["measure", "ok.txt"], "--tokenizer"),
    (["measure", "-t", "bytes"], "FILE"),
    (["measure", "ok.txt", "-t", "bytes", "--colour"], "--colour"),
    (["mesure"], "mesure"),
    (["tax", "wide.tsv", "-t", "bytes"], "wide.tsv, line 2: 3 fields where the header has 2"),
    (["tax", "holes", "-t", "bytes"], "tel_Telu has 2 lines, eng_Latn has 1"),
    (["tax", "story", "-t", "bytes", "-r", "deu_Latn"], "no column deu_Latn"),
    (["tax", "story", "-t", "bytes", "-l", "tel_Tel"], "tel_Telu"),
    (["tax", "head.tsv", "story", "-t", "bytes"], "story is a table of its own"),
    (["tax", "no.tsv", "-t", "bytes"], "no.tsv: there is no such file"),
    (["measure", "", "-t", "bytes"], "a file without a name"),
    (["measure", "ok.txt", "-t", ""], "no tokenizer is called ''"),
    (["measure", "ok.txt", "-t", "../x"], "../x: there is no such file"),
    (["measure", "ok.txt", "-t", "~nobody-of-that-name/x.json"], "x.json: there is no such file"),
    (["measure", "ok.txt", "-t", "odd"], "odd: not a tokenizer's file"),
    (["measure", "utf16.txt", "-t", "bytes"], "utf16.txt: byte 0 is not UTF-8 (0xff)"),
    (["measure", "ok.txt", "bad.txt", "-t", "bytes"], "bad.txt: byte 3 is not UTF-8 (0xff)"),
    (["measure", "rot.txt.gz", "-t", "bytes"], "rot.txt.gz: can't be read"),
    (["measure", "plain.txt.gz", "-t", "bytes"], "plain.txt.gz: can't be read"),
    (["measure", "ok.txt", "-t", "half.json"], "half.json is not a whole tokenizer.json"),
    (["measure", "-", "-", "-t", "bytes"], "standard input (-) can be read once"),
    (["tax", "open.csv", "-t", "bytes"], "open.csv, line 2: "),
    (["tax", "twice.csv", "-t", "bytes"], "twice.csv: two columns are called x"),
    (["tax", "nameless.tsv", "-t", "bytes"], "nameless.tsv: column 2 has no name"),
    (["tax", "head.tsv", "-t", "bytes"], "head.tsv: nothing in it to measure"),
    (["tax", "blank.tsv", "-t", "bytes"], "blank.tsv: nothing in it to measure"),
    (["tax", "hole.tsv", "-t", "bytes"], "hole.tsv: column x has no text in line 3"),
    (["tax", "bytes.tsv", "-t", "bytes"], "bytes.tsv: byte 13 is not UTF-8 (0xff)"),
    (["tax", "junk.parquet", "-t", "bytes"], "junk.parquet: not a readable Parquet file"),
    (["tax", "two", "-t", "bytes"], "two: two files are of eng_Latn"),
])
def test_mistakes(tfs, tmp_path, args, why):
    "One line that says what, where and what to do; exit code 2; nothing on standard output."
    (tmp_path/"ok.txt").write_text("hello", encoding="utf-8")
    (tmp_path/"bad.txt").write_bytes(b"ab \xff")
    (tmp_path/"empty.txt").write_bytes(b"")
    (tmp_path/"bom.txt").write_bytes(b"\xef\xbb\xbf")
    (tmp_path/"torn.txt.gz").write_bytes(gzip.compress(b"hello " * 999)[:30])
    (tmp_path/"tokenizer.json").write_text('{"version"', encoding="utf-8")
    (tmp_path/"x.model").write_bytes(b"x")
    (tmp_path/"wide.tsv").write_bytes(b"eng_Latn\ttel_Telu\n1\t2\t3\n")
    for name, data in MISTAKEN.items(): (tmp_path/name).write_bytes(data)
    (tmp_path/"two").mkdir()
    for name in ("eng_Latn.dev", "eng_Latn.devtest"): (tmp_path/"two"/name).write_bytes(b"a\n")
    (tmp_path/"holes").mkdir()
    (tmp_path/"holes"/"eng_Latn.txt").write_bytes(b"a\n")
    (tmp_path/"holes"/"tel_Telu.txt").write_bytes(b"a\nb\n")
    code, out, err = tfs(*args)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("tfs: ") and why in err and "Traceback" not in err


def test_a_tokenizer_that_nobody_has(tfs, verse):
    code, out, err = tfs("measure", verse, "-t", "some/tokenizer")
    assert (code, out, err.count("\n")) == (1, "", 1) and "Ways out" in err


ODD = { # words, code points, graphemes
    "nul.txt": (b"a\0b c\n\0", 3, 7, 7), "crlf.txt": (b"\xef\xbb\xbfab cd\r\nef\r\n", 3, 11, 9),
    "spaces.txt": (b" " * 300_000, 0, 300_000, 300_000),
    "line.txt": (b"x" * 2_100_000, 1, 2_100_000, 2_100_000),
    "emoji.txt": ("🙂 ".encode() * 700_000, 700_000, 1_400_000, 1_400_000),
    "parts.txt.gz": (gzip.compress(b"ab ") + gzip.compress(b"cd"), 2, 5, 5),
}


def test_odd_files(tfs, tmp_path):
    "NUL, CRLF behind a BOM, nothing but spaces, one long line, no place to cut, gzip in parts."
    for name, (data, *_) in ODD.items(): (tmp_path/name).write_bytes(data)
    start = time.perf_counter()
    code, out, _ = tfs("measure", *ODD, "-t", "bytes", "--json")
    rows = json.loads(out)
    assert code == 0 and time.perf_counter() - start < 60
    assert {r["file"]: (r["words"], r["characters"], r["graphemes"])
            for r in rows} == {name: tuple(counts) for name, (_, *counts) in ODD.items()}


@posix
def test_a_pipe_with_a_name(tmp_path, env):
    "A pipe is read once, so nothing looks into it first; as in `tfs measure <(zcat a.gz)`."
    os.mkfifo(tmp_path/"pipe")
    command = (f'head -c 5000 /dev/zero | tr "\\0" "x" > pipe & '
               f'"{sys.executable}" -m tfs measure pipe -t bytes --csv')
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True,
                          timeout=60)
    row = next(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert (done.returncode, row["tokens"], row["words"]) == (0, "5000", "1")


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read(tfs, verse, tmp_path):
    (tmp_path/verse).chmod(0)
    code, out, err = tfs("measure", verse, "-t", "bytes")
    assert (code, out, err) == (2, "", "tfs: verse.txt: Permission denied\n")


@posix
@pytest.mark.parametrize("args", [
    ["measure", "{}", "-t", "bytes"], ["tax", "{}.csv", "-t", "bytes"],
    ["measure", "verse.txt", "-t", "{}.json"]])
def test_what_the_system_refuses_to_open(tfs, verse, args):
    code, out, err = tfs(*(arg.format("a" * 300) for arg in args))
    assert (code, out) == (2, "") and err.endswith(": File name too long\n")


def test_a_cache_that_is_a_file(tmp_path, env, verse):
    "Where nothing can be kept, the tokenizer is made again."
    (tmp_path/"cache").write_bytes(b"")
    done = subprocess.run([sys.executable, "-m", "tfs", "measure", verse, "-t", "gpt2", "--csv"],
                          cwd=tmp_path, env=env | {"TFS_CACHE": str(tmp_path/"cache")},
                          capture_output=True, timeout=120)
    assert done.returncode == 0 and b"Traceback" not in done.stderr


def test_without_sentencepiece(tmp_path, env, verse):
    "One line that says which extra to install."
    (tmp_path/"x.model").write_bytes(b"x")
    code = ("import sys; sys.modules['sentencepiece'] = None; from tfs.cli import run; "
            f"sys.exit(run(['measure', {verse!r}, '-t', 'x.model']))")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True,
                          text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    why = 'x.model: needs sentencepiece. Install it: pip install "tfs[sentencepiece]"'
    assert done.stderr == f"tfs: {why}\n"


def test_debug_shows_the_traceback(tfs):
    code, _, err = tfs("measure", "no.txt", "-t", "bytes", "--debug")
    assert code == 1 and "Traceback" in err


def test_help(tfs):
    for args, words in (([], ["measure", "tax"]), (["--help"], ["measure"]),
                        (["measure", "-h"], ["Examples", "SPEC"]),
                        (["tax", "--help"], ["Examples", "PARALLEL"])):
        code, out, err = tfs(*args)
        assert code == 0 and not err and all(word in out for word in words)


def test_tax(tfs):
    code, out, _ = tfs("tax", "story", "-t", "bytes", "-t", "codepoints", "--json")
    rows = json.loads(out)
    assert code == 0 and len(rows) == 10
    assert [(r["language"], r["premium"])
            for r in rows if r["tokens"] == 698] == [("eng_Latn", 1.0)] * 2
    tamil = " ".join(story().tam_Taml)
    assert next(r["tokens"] for r in rows if r["language"] == "tam_Taml") == len(tamil.encode())


def test_tax_by_row_and_language(tfs, tmp_path):
    (tmp_path/"p.tsv").write_text("eng_Latn\trus_Cyrl\tx\nab\tабв\tq\nc\tд\tr\n", encoding="utf-8")
    code, out, _ = tfs("tax", "p.tsv", "-t", "codepoints", "-l", "rus_Cyrl", "--by-row", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and [(r["language"], r["tokens"]) for r in rows] == [("rus_Cyrl", "4"),
                                                                          ("eng_Latn", "3")]


@pytest.mark.parametrize("name, data, lengths", [
    ("quotes.csv", 'eng_Latn,x\r\n"a, ""b""\r\nc",де\r\nd,"ё\nж"\r\n', (11, 7)),
    ("one.tsv", "\ufeffeng_Latn\tx\r\nab\tcde\r\n", (3, 4)),
    ("nul.tsv", "eng_Latn\tx\na\0\t\"b\n", (3, 3)),
    ("long.csv", "eng_Latn,x\n" + "a" * 200_000 + ",b\n", (200_001, 2)),
])
def test_tables_that_are_fine(tfs, tmp_path, name, data, lengths):
    "Quotes and line ends inside a field, one row, a BOM, NUL, a quote in a TSV, a long field."
    (tmp_path/name).write_bytes(data.encode())
    code, out, _ = tfs("tax", name, "-t", "codepoints", "--json")
    found = {r["language"]: r["tokens"] for r in json.loads(out)}
    assert code == 0 and (found["eng_Latn"], found["x"]) == lengths


@needs_mirror
@pytest.mark.mirror
def test_tax_on_flores(tfs):
    "The published lengths through the command."
    picked = {"rus_Cyrl": 301_727, "san_Deva": 417_136, "tam_Taml": 819_110, "shn_Mymr": 986_091}
    options = [o for language in picked for o in ("-l", language)]
    code, out, _ = tfs("tax", "flores", "-t", "gpt2", *options, "--json")
    assert code == 0
    assert {r["language"]: r["tokens"] for r in json.loads(out)} == picked | {"eng_Latn": 52_567}


def hear_ctrl_c():
    "A job in the background of a shell ignores Ctrl-C, and so would its children."
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@posix
def test_ctrl_c(tmp_path, env):
    process = subprocess.Popen([sys.executable, "-m", "tfs", "measure", "-", "-t", "bytes"],
                               cwd=tmp_path, env=env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=hear_ctrl_c)
    process.stdin.write(VERSE.encode() * 10_000)
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err.decode().strip()) == (130, b"", "tfs: interrupted")


@posix
@pytest.mark.parametrize("sign, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_two_signals_in_a_row(env, tmp_path, sign, code):
    "The second one waits for nothing, whatever the first has begun."
    args = [sys.executable, "-m", "tfs", "measure", "-", "-t", "gpt2", "-t", "gpt4"]
    process = subprocess.Popen(args, cwd=tmp_path, env=env, stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=hear_ctrl_c)
    # all but what the pipe holds is read when this returns, so that the work has begun
    process.stdin.write(VERSE.encode() * 20_000)
    for _ in range(2):
        process.send_signal(sign)
        time.sleep(0.1)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code and b"FATAL" not in err and b"Traceback" not in err


@posix
@pytest.mark.parametrize("close, args, why", [
    (">&-", "verse.txt", "standard output is closed"), ("<&-", "-", "standard input is closed")])
def test_streams_that_are_closed_from_the_start(env, verse, tmp_path, close, args, why):
    done = subprocess.run(f"{sys.executable} -m tfs measure {args} -t bytes {close}", shell=True,
                          cwd=tmp_path, env=env, capture_output=True, encoding="utf-8")
    assert done.returncode == 2 and why in done.stderr and done.stderr.count("\n") == 1


@posix
def test_without_standard_error(env, verse, tmp_path):
    "Results come all the same, notes and errors go nowhere."
    run = lambda args: subprocess.run(f"{sys.executable} -m tfs measure {args} 2>&-", shell=True,
                                      cwd=tmp_path, env=env, capture_output=True)
    done = run(f"{verse} -t words --json")
    assert done.returncode == 0 and json.loads(done.stdout)[0]["tokens"] == 3
    done = run("absent.txt -t words")
    assert (done.returncode, done.stdout) == (2, b"")


@posix
def test_names_with_control_characters_in_csv(tfs, tmp_path):
    "A row is a row for every reader of CSV, and a terminal is not told what to do."
    (tmp_path/"a\r\x1b[31m.txt").write_text("hello", encoding="utf-8")
    code, out, _ = tfs("measure", "a\r\x1b[31m.txt", "-t", "bytes", "-t", "words", "--csv")
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert code == 0 and [r["file"] for r in rows] == ["a\\u000d\\u001b[31m.txt"] * 2


@posix
def test_a_closed_pipe_is_no_error(tmp_path, env):
    command = f'"{sys.executable}" -m tfs tax cldr -t bytes --json | head -n 1'
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True,
                          timeout=60)
    assert (done.stdout, done.stderr) == (b"[\n", b"")


@posix
def test_progress_bar_and_narrow_terminal(tmp_path, env, verse):
    "On a terminal there is a bar, and a table that is too wide is turned."
    import pty
    parent, child = pty.openpty()
    narrow = {k: v for k, v in env.items() if k != "COLUMNS"} | {"COLUMNS": "80", "TERM": "xterm"}
    process = subprocess.Popen([sys.executable, "-m", "tfs", "measure", verse, "-t", "bytes"],
                               cwd=tmp_path, env=narrow,
                               stdin=child, stdout=child, stderr=child)
    os.close(child)
    shown = b""
    try:
        while part := os.read(parent, 65_536): shown += part
    except OSError: pass
    assert process.wait(30) == 0
    text = shown.decode()
    assert "measuring" in text and "━" in text
    assert [line.split() for line in text.splitlines()
            if "tokens per word" in line] == [["tokens", "per", "word", "17.000"]]


def test_start_is_quick(env, tmp_path):
    "`tfs --help` loads nothing heavy."
    heavy = {"pandas", "matplotlib", "datasets", "tokenizers", "numpy", "regex"}
    code = f"import sys, tfs.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True,
                          text=True)
    assert done.stdout.strip() == "[]"
