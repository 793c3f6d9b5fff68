"""How much faster two processes count a text than one, and how much memory each takes.

    python tools/bench_count.py                     500 MB made from the words of the corpus
    python tools/bench_count.py --megabytes 100 --repeats 3

The corpus is the mirror's (TFS_MIRROR) or else the bundled one; its words are shuffled, so their
frequencies stay, and written again and again. Each run is `tfs count` as a process of its own, and
the kinds of runs take turns. `apart` is the ceiling of the machine: two runs at the same time, on
a half of the text each, that know nothing of each other.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from project import ROOT

sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT/"tests"))
from test_count import corpus  # noqa: E402


def write_text(folder, megabytes):
    "The words of the corpus, shuffled anew for each copy, in one file and in two halves."
    words = [w for column in corpus().columns for t in column.to_pylist() for w in t.split()]
    rng, size, whole = np.random.default_rng(0), 0, folder/"whole.txt"
    with open(whole, "wb") as file:
        while size < megabytes * 1_000_000:
            words = np.array(words, object)[rng.permutation(len(words))].tolist()
            lines = (" ".join(words[i:i + 12]) + "\n" for i in range(0, len(words), 12))
            size += file.write("".join(lines).encode())
    with open(whole, "rb") as file:
        for name in ("half-1.txt", "half-2.txt"):
            (folder/name).write_bytes(file.read(size // 2) + file.readline())
    return size


def peaks(pids):
    "The most memory in MB that each process of a list and each of their children has had so far."
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try: status = dict(line.split(":", 1) for line in
                           (folder/"status").read_text().splitlines() if ":" in line)
        except (OSError, ValueError): continue
        if int(folder.name) in pids or int(status["PPid"]) in pids:
            found[folder.name] = int(status.get("VmHWM", "0").split()[0]) >> 10
    return found


def timed(folder, runs):
    "Wall seconds, CPU seconds and the largest process in MB of runs at the same time."
    start, cpu, most = time.perf_counter(), os.times(), {}
    command = [sys.executable, "-m", "tfs", "count"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [subprocess.Popen([*command, *map(str, args), "-o", str(folder/f"{i}.parquet")],
                                env=env, stdout=subprocess.DEVNULL)
               for i, args in enumerate(runs)]
    while any(p.poll() is None for p in started):
        # a process that has just ended has no memory any more
        for pid, n in peaks([p.pid for p in started]).items(): most[pid] = max(n, most.get(pid, 0))
        time.sleep(.2)
    assert not any(p.wait() for p in started)
    wall, now = time.perf_counter() - start, os.times()
    spent = now.children_user + now.children_system - cpu.children_user - cpu.children_system
    return wall, spent, max(most.values(), default=0)


def main():
    "Measure and print."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfs-bench-") as name:
        folder = Path(name)
        size = write_text(folder, args.megabytes) / 1e6
        whole, halves = folder/"whole.txt", (folder/"half-1.txt", folder/"half-2.txt")
        kinds = {"1 process": [[whole]], "2 processes": [[whole, "--num-proc", 2]],
                 "apart": [[half] for half in halves]}
        found = {kind: [] for kind in kinds}
        for _ in range(args.repeats):
            for kind, runs in kinds.items():
                found[kind].append(timed(folder, runs))
                print(kind, *(f"{x:.1f}" for x in found[kind][-1]), flush=True)
    report(found, size)


def report(found, size):
    "The minima, the ratios, and what they mean."
    best = {kind: [min(column) for column in zip(*rows)] for kind, rows in found.items()}
    print(f"\n{size:,.0f} MB; minima of {len(found['apart'])} runs that took turns\n")
    for kind, (wall, cpu, _) in best.items():
        most, speed = max(row[2] for row in found[kind]), size / wall
        print(f"{kind:12} {wall:6.1f} s  {cpu:6.1f} s of CPU  {speed:5.1f} MB/s  {most} MB")
    one, two, apart = (best[kind] for kind in ("1 process", "2 processes", "apart"))
    print(f"\n2 processes are {one[0] / two[0]:.2f} times as fast as one; the machine's ceiling is "
          f"{one[0] / apart[0]:.2f}; by CPU, with two free cores, {2 * one[1] / two[1]:.2f}")


if __name__ == "__main__": main()
