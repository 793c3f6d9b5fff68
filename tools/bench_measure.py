"""How fast `tfs measure` reads beside `tokenizers.encode_batch`, and how much memory it takes.

    python tools/bench_measure.py corpus.txt            any UTF-8 text
    python tools/bench_measure.py --flores 100          100 MB made of FLORES-200 (needs TFS_MIRROR)

Both read the same file from disk, one after the other: encode_batch in batches of 1,000 lines,
with its tokens counted and dropped; and the command as a process of its own, with all figures.
"""
import argparse
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from project import ROOT

sys.path.insert(0, str(ROOT))
from tfs.adapters import as_tokenizer  # noqa: E402
from tfs.parallel import flores  # noqa: E402
from tfs.pretrained import load_tokenizer  # noqa: E402

# Linux hands a parent's ru_maxrss on to its child; VmHWM is the process's own
PROBE = """
import resource, runpy, sys
from pathlib import Path
sys.argv = ["tfs", "measure", sys.argv[1], "-t", sys.argv[2], "--csv"]
try: runpy.run_module("tfs", run_name="__main__")
finally:
    status = Path("/proc/self/status")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit
    if status.exists(): peak = int(status.read_text().split("VmHWM:")[1].split()[0]) >> 10
    print(peak, file=sys.stderr)
"""


def write_flores(path, megabytes):
    "All languages in turn, a line each, again and again until the file is large enough."
    lines = cycle(line for row in flores().itertuples(index=False) for line in row if line)
    size = 0
    with open(path, "wb") as f:
        while size < megabytes * 1_000_000: size += f.write((next(lines) + "\n").encode())


def encode_all(path, spec):
    "Seconds and tokens of encode_batch alone."
    tokenizer, start, tokens = load_tokenizer(spec), time.perf_counter(), 0
    with open(path, encoding="utf-8", newline="\n") as f:
        while lines := list(islice(f, 1_000)):
            tokens += sum(map(len, tokenizer.encode_batch(lines, add_special_tokens=False)))
    return time.perf_counter() - start, tokens


def measure_all(path, spec):
    "Seconds, tokens and peak memory in MB of the command."
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", PROBE, str(path), spec], cwd=ROOT,
                          capture_output=True, text=True,
                          encoding="utf-8", check=True)
    head, row = (line.split(",") for line in done.stdout.splitlines()[:2])
    peak = int(done.stderr.split()[-1])
    return time.perf_counter() - start, int(row[head.index("tokens")]), peak


def main():
    "Measure and print three lines."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", help="UTF-8 text")
    parser.add_argument("--flores", type=int, metavar="MB",
                        help="make this much text of FLORES-200")
    parser.add_argument("-t", default="gpt4o", help="tokenizer")
    args = parser.parse_args()
    if not args.file and not args.flores: parser.error("name a file, or --flores MB")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(args.file or Path(folder)/"flores.txt")
        if not args.file: write_flores(path, args.flores)
        name, size = as_tokenizer(args.t).name, path.stat().st_size / 1e6
        alone, tokens = encode_all(path, args.t)
        whole, counted, memory = measure_all(path, args.t)
    print(f"{size:,.0f} MB of text, tokenizer {name}")
    print(f"encode_batch alone  {alone:6.1f} s  {size / alone:5.2f} MB/s  {tokens:,} tokens")
    print(f"tfs measure         {whole:6.1f} s  {size / whole:5.2f} MB/s  {counted:,} tokens")
    print(f"peak memory {memory:,} MB")
    print(f"throughput {alone / whole:.0%} of encode_batch")


if __name__ == "__main__": main()
