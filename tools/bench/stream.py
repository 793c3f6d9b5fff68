"""`tfs measure` on a file beside `encode_batch` alone, with GPT-4o's tokenizer."""
import csv
import os
import runpy
import subprocess
import sys
import tempfile
import unicodedata
from contextlib import redirect_stdout
from io import StringIO
from itertools import cycle, islice
from pathlib import Path

from clock import clocked
from row import Row, megabytes, times_faster
from texts import texts

SPEC = "gpt4o"


def lines():
    "All languages of FLORES-200 in turn where there is a mirror, else the text; composed."
    found = texts()
    if os.environ.get("TFS_MIRROR"):
        from tfs.parallel import flores
        found = (line for row in flores().itertuples(index=False) for line in row if line)
    return (unicodedata.normalize("NFC", line) for line in found)


def write(path, megabytes):
    "Lines again and again until the file is large enough."
    again, size = cycle(lines()), 0
    with open(path, "wb") as f:
        while size < megabytes * 1_000_000: size += f.write((next(again) + "\n").encode())


def alone(path):
    "encode_batch on the same blocks of text, sixteen at a time; tokens are counted and dropped."
    from tfs.pretrained import load_tokenizer
    from tfs.reading import cut_blocks, read_chunks
    tokenizer = load_tokenizer(SPEC)

    def run():
        tokens, blocks = 0, cut_blocks(read_chunks(path))
        while some := list(islice(blocks, 16)):
            tokens += sum(map(len, tokenizer.encode_batch(some, add_special_tokens=False)))
        return tokens

    return clocked(run)


def command(path):
    "The command as it is, with all its figures."
    sys.argv = ["tfs", "measure", str(path), "-t", SPEC, "--csv"]

    def run():
        with redirect_stdout(StringIO()) as out:
            try: runpy.run_module("tfs", run_name="__main__")
            except SystemExit as end:
                if end.code: raise
        return int(next(csv.DictReader(StringIO(out.getvalue())))["tokens"])

    return clocked(run)


def with_file(function, megabytes):
    "A run on a file of its own; another process writes it, so that its memory isn't counted."
    with tempfile.TemporaryDirectory() as folder:
        path, home = Path(folder)/"text", str(Path(__file__).parent)
        code = (f"import sys; sys.path.insert(0, {home!r}); import stream; "
                f"stream.write(sys.argv[1], {megabytes})")
        subprocess.run([sys.executable, "-c", code, path], check=True)
        return function(path)


def row(size, **kwargs):
    "The row for a number of megabytes."
    return Row(
        f"{size:,} MB of text measured",
        {"tfs measure": (with_file, command, size), "encode_batch": (with_file, alone, size)},
        (("tfs measure", "encode_batch"),),
        (times_faster("tfs measure", "encode_batch", 0.7), megabytes("tfs measure", 400)),
        note="All 204 languages of FLORES-200 where there is a mirror, again and again.", **kwargs)


ROWS = {"stream": row(40, runs=3),
        "stream-large": row(1000, once=("tfs measure", "encode_batch"))}
