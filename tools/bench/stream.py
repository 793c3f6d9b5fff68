"""`tfs measure` on a file beside `encode_batch` alone, with GPT-4o's tokenizer."""
import csv
import os
import runpy
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from itertools import cycle, islice
from pathlib import Path

from clock import clocked
from row import Row, megabytes, times_faster
from texts import texts

MEGABYTES, SPEC = 10, "gpt4o"


def lines():
    "All languages of FLORES-200 in turn where there is a mirror, else the text."
    if not os.environ.get("TFS_MIRROR"): return texts()
    from tfs.parallel import flores
    return (line for row in flores().itertuples(index=False) for line in row if line)


def write(path):
    "Lines again and again until the file is large enough."
    again, size = cycle(lines()), 0
    with open(path, "wb") as f:
        while size < MEGABYTES * 1_000_000: size += f.write((next(again) + "\n").encode())


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


def with_file(function):
    "A run on a file of its own."
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder)/"text")
        return function(Path(folder)/"text")


ROWS = {"stream": Row(
    f"{MEGABYTES} MB of text measured", {"tfs measure": (with_file, command),
                                         "encode_batch": (with_file, alone)},
    (),
    (times_faster("tfs measure", "encode_batch", 0.7), megabytes("tfs measure", 400)), runs=2,
    note="All 204 languages of FLORES-200 where there is a mirror.")}
