"""What strangers send is only read: their files, archives, tokens and names."""
import ast
import contextlib
import gzip
import io
import json
import lzma
import random
import shutil
import sys
import tarfile
from functools import partial
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tfs import cli

MODULES = sorted(Path(find_spec("tfs").origin).parent.glob("*.py"))

# What the library never does, and the one place where it may: a worker sends its own error back.
FORBIDDEN = {"eval", "exec", "compile", "__import__", "pickle", "marshal", "shelve", "dill", "yaml",
             "joblib", "cloudpickle", "extractall", "extract", "unpack_archive", "system", "popen",
             "getoutput", "read_pickle", "mktemp"}
ALLOWED = {("workers.py", "pickle")}
OWN = {"re": {"compile"}, "regex": {"compile"}, "platform": {"system"}}


def uses(tree):
    "(name, line) of what a module imports and calls."
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((a.name.split(".")[0], node.lineno) for a in node.names)
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0], node.lineno
        if not isinstance(node, ast.Call): continue
        if isinstance(node.func, ast.Name): yield node.func.id, node.lineno
        if isinstance(node.func, ast.Attribute):
            owner = getattr(node.func.value, "id", None)
            if node.func.attr not in OWN.get(owner, ()): yield node.func.attr, node.lineno


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.name)
def test_nothing_is_executed(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {(path.name, name) for name, _ in uses(tree) if name in FORBIDDEN}
    assert found <= ALLOWED
    for node in ast.walk(tree):
        for word in getattr(node, "keywords", ()):
            assert word.arg not in ("shell", "allow_pickle", "trust_remote_code") \
                or getattr(word.value, "value", True) is False, (path.name, node.lineno)


def test_json_of_strangers_has_one_door():
    "`json.loads` fails in a second way on deep nesting; `parse_json` knows it."
    door = ("json.loads", "json.load")
    nodes = ((p, node) for p in MODULES for node in ast.walk(ast.parse(p.read_text("utf-8"))))
    calls = [(p.name, ast.unparse(node.args[0])) for p, node in nodes
             if isinstance(node, ast.Call) and ast.unparse(node.func) in door]
    own = {"saved.py", "pretrained.py"}  # the door, and files of packages, whose errors are caught
    trusted = (".to_str()", ".__getstate__()")  # what a library has written itself
    assert [c for c in calls if c[0] not in own and not c[1].endswith(trusted)] == []


# Archives and packed files.

def archive(path, members):
    "A packed archive of (name or TarInfo, bytes)."
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if isinstance(name, str): info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def link(name, to, kind=tarfile.SYMTYPE):
    "A member that points elsewhere."
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def test_an_archive_is_only_read(tmp_path, monkeypatch):
    "Paths upwards write nothing, links are not followed, and what is huge or damaged is refused."
    from tfs import parallel
    from tfs.provide import Unavailable
    (tmp_path/"in").mkdir()
    path, secret = tmp_path/"in"/"flores.tar.gz", tmp_path/"secret"
    secret.write_text("secret", encoding="utf-8")
    good = [(f"flores/{p}/{lang}.{p}", b"a\nb\n") for p in ("dev", "devtest")
            for lang in ("eng_Latn", "rus_Cyrl")]
    bad = [("../../up.dev", b"x\ny\n"), (str(tmp_path/"absolute.dev"), b"x\ny\n"),
           (link("d/lnk_Latn.dev", str(secret)), b""),
           (link("d/hrd_Latn.dev", str(secret), tarfile.LNKTYPE), b""),
           (link("d/dev_Latn.dev", "/dev/zero", tarfile.CHRTYPE), b"")]
    archive(path, good + bad[2:])
    table = parallel._flores_tar(path)
    assert list(table) == ["eng_Latn", "rus_Cyrl"] and "secret" not in table.to_string()
    archive(path, good + bad)
    with contextlib.suppress(Unavailable): parallel._flores_tar(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "secret"]
    monkeypatch.setattr(parallel, "FLORES_SIZE", 1 << 16)
    archive(path, good + [("d/big_Latn.dev", bytes(1 << 17))])
    for damage in (lambda b: b, lambda b: b[:len(b) // 2], lambda b: b"", lambda b: b"x" * 99):
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(Unavailable, match="flores.tar.gz is damaged") as error:
            parallel._flores_tar(path)
        assert "\n" not in str(error.value)


def peak(job):
    "The most bytes that Python held at once in a job."
    import tracemalloc
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally: tracemalloc.stop()


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    "Packed text that grows without end takes a bounded memory, and then an error."
    from tfs import data, pretrained, sources
    from tfs.reading import cut_blocks, read_chunks
    zeros = b"a" * (1 << 20)
    with gzip.open(tmp_path/"a.txt.gz", "wb") as file:
        for _ in range(64): file.write(zeros)
    with lzma.open(tmp_path/"a.tsv.xz", "wb") as file:
        for _ in range(64): file.write(zeros)
    shutil.copy(tmp_path/"a.txt.gz", tmp_path/"a.tsv.gz")
    shutil.copy(tmp_path/"a.txt.gz", tmp_path/"a.tiktoken.gz")
    monkeypatch.setattr(data, "SMALL", 1 << 22)
    monkeypatch.setattr(sources, "LIMIT", 1 << 22)
    monkeypatch.setattr(pretrained, "MOST", 1 << 22)
    def refused(job, match):
        with pytest.raises(ValueError, match=match): job()
    long = pa.array(["a" * 2000] * (1 << 15))
    pq.write_table(pa.table({"en": long, "ru": long}), tmp_path/"a.parquet")
    refused(partial(data.read_pairs, tmp_path/"a.parquet"), "times as large")
    for name in ("a.tsv.gz", "a.tsv.xz"):
        read = partial(data.read_pairs, tmp_path/name)
        assert peak(partial(refused, read, "times as large")) < 40 << 20
    read = lambda: list(sources.read_texts(str(tmp_path/"a.txt.gz"), cut=True))
    assert peak(lambda: refused(read, "more than")) < 40 << 20
    ranks = lambda: pretrained.read_ranks(tmp_path/"a.tiktoken.gz")
    assert peak(lambda: refused(ranks, "are no ranks")) < 40 << 20
    stream = lambda: sum(map(len, cut_blocks(read_chunks(tmp_path/"a.txt.gz"))))
    assert peak(stream) < 40 << 20


# Files that are no such files.

DEEP = {"deep list": b"[" * 200_000, "deep object": b'{"a":' * 99_999 + b"1" + b"}" * 99_999,
        "giant number": b'{"format": ' + b"9" * 6000 + b"}", "NaN": b"NaN", "null": b"null",
        "text": b'"x"', "list": b"[]", "object": b"{}", "zeros": bytes(500), "nothing": b"",
        "UTF-16": "привет".encode("utf-16"), "escape": b"\x1b]0;x\x07\x9b\n",
        "negative": b'{"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}}',
        "large id": b'{"model":{"type":"BPE","vocab":{"a":99999999999999999999},"merges":[]}}',
        "large rank": b"aGk= 99999999999999999999999\n", "long rank": b"aGk= " + b"9" * 5000}
VALUES = [None, True, -1, 0, 1e308, 10**30, "", "x", [], {}, [[]], [None], {"a": None}, ["a", "a"],
          "\x1b[31m", float("nan"), 10**18]


def models():
    "A model of each kind."
    from tfs.bpe import BPE
    from tfs.unigram import train_unigram
    from tfs.wordpiece import train_wordpiece
    counts = {"low": 5, "lower": 3, "lowest": 2, "new": 4}
    return [BPE.train(["low lower lowest new"] * 3, 40), train_wordpiece(counts, 24),
            train_unigram(counts, 14)]


@pytest.mark.parametrize("model", models(), ids=lambda m: type(m).__name__)
def test_a_strangers_model(tmp_path, model):
    "A saved model with anything in the place of anything works, or is a `ValueError`."
    rng, path = random.Random(9), tmp_path/"m.json"
    load = type(model).load
    model.save(path)
    good = json.loads(path.read_text(encoding="utf-8"))
    for data in DEEP.values():
        path.write_bytes(data)
        with pytest.raises(ValueError, match="m.json"): load(path)
    for _ in range(400):
        file = json.loads(json.dumps(good))
        spot, key = file, rng.choice(list(file))
        while isinstance(spot[key], (list, dict)) and spot[key] and rng.random() < 0.6:
            spot = spot[key]
            key = rng.choice(list(spot)) if isinstance(spot, dict) else rng.randrange(len(spot))
        if rng.random() < 0.25: del spot[key]
        else: spot[key] = rng.choice(VALUES)
        path.write_text(json.dumps(file), encoding="utf-8")
        try:
            made = load(path)
            made.decode(made.encode("low lowest q"))
        except ValueError as error: assert "\n" not in str(error)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    "Run a command here, in an empty folder."
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TFS_CACHE", str(tmp_path/"cache"))
    for name in ("TFS_MIRROR", "TFS_DATA"): monkeypatch.delenv(name, raising=False)
    def run(*args, out=None):
        out, err = out or io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run([str(a) for a in args])
        return code, out.getvalue(), err.getvalue()
    return run


# File: what it is made from, and the commands that read it as F.
READERS = {
    "tok.json": ("t.json", "encode ok.txt -t F|chips ab -t F|decode ids.txt -t F|"
                 "measure ok.txt -t F"),
    "vocab.txt": ("ok.txt", "encode ok.txt -t F"), "r.tiktoken": ("ok.txt", "encode ok.txt -t F"),
    "r.tiktoken.gz": ("a.gz", "encode ok.txt -t F"),
    "a.txt": ("ok.txt", "train F -o o.json -v 300|encode F -t bytes|decode F -t codepoints|"
              "decode F -t codepoints --tokens|measure F -t bytes|count F -o o.parquet"),
    "a.txt.gz": ("a.gz", "train F -o o.json -v 300|encode F -t bytes|count F -o o.parquet"),
    "a.txt.zst": ("a.gz", "count F -o o.parquet"),
    "a.jsonl": ("t.json", "count F -o o.parquet|decode F -t bytes --json"),
    "a.parquet": ("c.parquet", "count F -o o.parquet -f word|merge-counts F -o o.parquet|"
                  "train --counts F -o o.json -v 60|split F -o o|tax F -t bytes"),
    "b.parquet": ("p.parquet", "split F -o o|split pairs.tsv --test F -o o|tax F -t bytes -r en"),
    "p.tsv": ("pairs.tsv", "split F -o o|tax F -t bytes"), "p.csv": ("pairs.tsv", "split F -o o"),
    "p.tsv.gz": ("a.gz", "split F -o o"), "p.tsv.xz": ("a.gz", "split F -o o")}


def damaged(data, rng):
    "A file that is cut, changed, lengthened, shortened or random."
    i, j = sorted(rng.choices(range(len(data)), k=2))
    flipped = bytearray(data)
    for _ in range(4): flipped[rng.randrange(len(data))] = rng.randrange(256)
    return rng.choice([data[:i], bytes(flipped), rng.randbytes(rng.randrange(3000)),
                       data[:i] + rng.randbytes(20) + data[i:], data[:i] + data[j:]])


def test_no_file_breaks_a_command(shell, tmp_path):
    "Random and hostile bytes as every kind of file: a result, or one harmless line and code 2."
    import pandas as pd
    (tmp_path/"ok.txt").write_text("low lower lowest\n" * 20, encoding="utf-8")
    (tmp_path/"ids.txt").write_text("1 2 3\n", encoding="utf-8")
    pairs = "".join(f"{a}\t{b}\n" for a, b in zip("abcdefgh", "абвгдежз"))
    (tmp_path/"pairs.tsv").write_text(pairs, encoding="utf-8")
    (tmp_path/"a.gz").write_bytes(gzip.compress(pairs.encode() * 50))
    pd.DataFrame({"en": [*"abcdef"], "ru": [*"абвгде"]}).to_parquet(tmp_path/"p.parquet")
    assert shell("train", "ok.txt", "-v", 60, "-o", "t.json")[0] == 0
    assert shell("count", "ok.txt", "-o", "c.parquet")[0] == 0
    rng, before = random.Random(11), sorted(p.name for p in tmp_path.iterdir())
    for name, (source, commands) in READERS.items():
        good = (tmp_path/source).read_bytes()
        for data in [*DEEP.values(), *(damaged(good, rng) for _ in range(8))]:
            (tmp_path/name).write_bytes(data)
            for command in commands.split("|"):
                code, _, err = shell(*command.replace("F", name).split())
                lines = [line for line in err.splitlines() if not line.startswith("note: ")]
                assert code in (0, 2) and len(lines) == (code == 2), (command, data[:60], code, err)
                assert not set(err) & CONTROL, (command, err)
                for left in ("o", "o.json", "o.parquet"):
                    path = tmp_path/left
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        (tmp_path/name).unlink()
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "cache") == before


# Tokens.

CONTROL = {*map(chr, (*range(32), *range(127, 160)))} - {"\n", "\t"}
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<!--", "]]>",
           "javascript:alert(1)", '" onmouseover="alert(1)', "' onload='x", "</svg>", "</style>",
           "&lt;b&gt;", "\x1b[31m", "\x1b]0;owned\x07", "\x9b31m", "\x07", "\x90q\x9c", "\r",
           "\b\b", "\x7f", "\0", "\ud800", "$x$", "|", "`", "[a](javascript:alert(1))",
           "\u202egnp.exe"]


class Parsed(HTMLParser):
    "Tags and attributes of a page."
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs): self.found.append((tag, dict(attrs)))


def check_markup(text, plain):
    "A page has the tags of one that is made of harmless tokens, and no attribute that acts."
    found = Parsed(text).found
    assert {tag for tag, _ in found} <= {tag for tag, _ in Parsed(plain).found}, text[:500]
    for tag, values in found:
        assert not [name for name in values if name.startswith("on")], (tag, values)
        assert "javascript:" not in str(values.get("href", "")) + str(values.get("src", ""))
    assert not set(text) & CONTROL - {"\r"}
    assert text.encode()


def views(tokens):
    "All that draws or tabulates tokens, as HTML and SVG."
    import pandas as pd

    from tfs.draw import draw_lattice
    from tfs.explore import tax_explorer
    from tfs.player import lattice_player, merge_player
    from tfs.viz import plot_lines, plot_token_counts, table, token_chips
    one = tokens[0]
    name = one if one != "\ud800" else "\\ud800"  # which pandas takes as a value, not as a name
    frame = pd.DataFrame({"token": tokens, name: tokens}, dtype=object)
    counts = pd.DataFrame({name: [1, 2]}, [name, "x"])
    arcs = {**dict.fromkeys(one, 2.0), one: 1.0}
    figures = [token_chips([tokens], labels=[one], caption=one, ids=[list(range(len(tokens)))]),
               table(frame, caption=one), plot_lines([1, 2], {one: [1, 2]}, one, one, one, alt=one),
               plot_token_counts(counts, one)]
    for figure in figures:
        yield figure._repr_html_()
        yield figure.page()
    tax = pd.DataFrame({name: [1.0, 2.0]}, index=["eng_Latn", "rus_Cyrl"])
    yield tax_explorer(tax, one, one)._repr_html_()
    yield merge_player({tuple(one): 2, ("a", "b"): 1}, 1, one)._repr_html_()
    yield lattice_player(one, arcs, one)._repr_html_()
    yield draw_lattice(one, arcs, [one], title=one)._repr_html_()


@pytest.mark.parametrize("token", HOSTILE, ids=ascii)
def test_a_token_is_never_markup(token):
    for text, plain in zip(views([token, "a"]), views(["b", "a"])): check_markup(text, plain)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files")
@pytest.mark.parametrize("kind", ["--json", "--markdown", "--csv", None])
def test_a_token_never_commands_a_terminal(shell, tmp_path, kind):
    "Tokens, names of columns and messages, as a terminal would get them."
    tokens = [t for t in HOSTILE if t not in ("\ud800", "\r", "|", "\0")]
    for token in tokens:
        out = shell("chips", token, "-t", "codepoints", *[kind] * (kind == "--json"))
        assert out[0] == 0 and not set(out[1] + out[2]) & CONTROL, token
        (tmp_path/"a.txt").write_text(token + "\n", encoding="utf-8")
        for how in ("--tokens", "--json"):
            code, out, err = shell("encode", "a.txt", "-t", "codepoints", how)
            assert code == 0 and not set(out + err) & CONTROL, token
        code, out, err = shell("encode", f"{token}.txt", "-t", "bytes")
        assert code == 2 and not set(err) & CONTROL and err.count("\n") == 1, err
        code, out, err = shell("encode", "a.txt", "-t", token)
        assert code == 2 and not set(err) & CONTROL and err.count("\n") == 1, err
    if kind == "--csv": return
    head = "\t".join(["eng_Latn", *tokens])
    (tmp_path/"p.tsv").write_text(head + "\n" + "\t".join("a" * (len(tokens) + 1)) + "\n",
                                  encoding="utf-8")
    code, out, err = shell("tax", "p.tsv", "-t", "bytes", *[kind] * bool(kind))
    assert code == 0 and not set(out + err) & CONTROL, err
    if kind == "--markdown": assert "<img" not in out and "](javascript" not in out


def test_decoding_to_a_terminal_shows_what_a_pipe_gets_as_it_is(shell, tmp_path):
    text = "a\x1b[31m\x9b\t"
    (tmp_path/"ids.txt").write_text(" ".join(str(ord(c)) for c in text), encoding="utf-8")
    assert shell("decode", "ids.txt", "-t", "codepoints")[1] == text + "\n"
    class Terminal(io.StringIO):
        def isatty(self): return True
    shown = shell("decode", "ids.txt", "-t", "codepoints", out=Terminal())[1]
    assert shown == "a\\u001b[31m\\u009b\t\n"


# Settings.

ODD = ["", "\t", "no/such", "\x1b[31m", "../..", "x" * 5000, "💥", "a\nb", "nan", "~nobody"]
SETTINGS = ["TFS_MIRROR", "TFS_WORK", "TFS_DATA", "TFS_PROVIDER", "TFS_CACHE", "TFS_ROOT",
            "TFS_HUB_USER", "HF_ENDPOINT"]


@pytest.mark.parametrize("name", SETTINGS)
def test_odd_settings(shell, monkeypatch, tmp_path, name):
    "Work as if they were not set, or are told in one line."
    from tfs import env, provide
    from tfs.data import corpus_source
    monkeypatch.setattr(provide, "_ANSWERS", {})
    (tmp_path/"a.txt").write_text("ab\n", encoding="utf-8")
    for value in ODD:
        monkeypatch.setenv(name, value)
        for job in (env.mirror, env.where, corpus_source, provide.cache_dir, provide.hub_url,
                    lambda: provide.hub_file("a/b", "c.json")):
            try: job()
            except (ValueError, RuntimeError, OSError) as error: assert str(error), (name, value)
        code, _, err = shell("encode", "a.txt", "-t", "gpt2", "--json")
        lines = [line for line in err.splitlines() if line.startswith("tfs: ")]
        assert code in (0, 1, 2) and len(lines) == (code > 0), (name, value, err)
        assert "Traceback" not in err and not set(err) & CONTROL, (name, value, err)
