"""Runs in processes of their own, in turns, and what they come to."""
import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import columns
import encoding
import family
import growth
import stream
import training
import whole
from row import HF_ONE

GROUPS = {   # heading: its rows
    "Training": training.ROWS, "From text to vocabulary": whole.ROWS,
    "Whole columns": columns.ROWS, "Encoding": encoding.ROWS,
    "WordPiece and Unigram": family.ROWS, "Measuring a file": stream.ROWS,
    "Growth with the text": growth.ROWS}
ROWS = {name: row for rows in GROUPS.values() for name, row in rows.items()}
ALONE = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}


def fingerprint(result):
    "A name for a result, the same for equal results; None for None."
    if result is None: return None
    return hashlib.sha256(repr(result).encode("utf-8", "surrogatepass")).hexdigest()


def worker(row, contestant):
    "One run, in this process: prints what was measured."
    function, *args = ROWS[row].contestants[contestant]
    run = function(*args)
    print(json.dumps({"seconds": run.seconds, "cpu": run.cpu, "memory": run.memory,
                      "result": fingerprint(run.result)}))


def once(row, contestant):
    "One run in a process of its own; what it measured, or which package is missing."
    env = {**os.environ, "PYTHONHASHSEED": "0", **(ALONE if contestant == HF_ONE else {})}
    done = subprocess.run([sys.executable, Path(__file__).parent, "--worker", row, contestant],
                          env=env, capture_output=True, encoding="utf-8")
    if done.returncode == 0: return json.loads(done.stdout.splitlines()[-1])
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    if "ModuleNotFoundError" in last: return {"skipped": last.partition(": ")[2]}
    sys.exit(f"bench: {row}, {contestant}: {last}")


def measure(name, runs, quick):
    "All runs of a row, in turns."
    row = ROWS[name]
    found = {who: [] for who in row.contestants if not (quick and who in row.once)}
    for turn in range(min(runs, row.runs)):
        for who, measured in found.items():
            if turn and (who in row.once or "skipped" in measured[0]): continue
            measured.append(once(name, who))
            seconds = measured[-1].get("seconds", math.nan)
            print(f"  {name:14} {who:30} {seconds:9.3f} s", flush=True)
    agree(name, row.same, found)
    contestants = {who: summary(measured) for who, measured in found.items()}
    return {"title": row.title, "note": row.note, "contestants": contestants,
            "same": [[who for who in group if who in found] for group in row.same],
            "targets": judged(name, contestants)}


def agree(name, groups, found):
    "Stop if contestants that must agree don't."
    for group in groups:
        results = {f["result"] for who in group for f in found.get(who, []) if "result" in f}
        if len(results) > 1: sys.exit(f"bench: {name}: {', '.join(group)} give different results")


def summary(measured):
    "Minima, spread and memory of the runs of a contestant."
    if "skipped" in measured[0]: return measured[0]
    seconds = sorted(f["seconds"] for f in measured)
    cpu = min((f["cpu"] for f in measured if f["cpu"] is not None), default=None)
    return {"seconds": round(seconds[0], 4), "slowest": round(seconds[-1], 4),
            "cpu": cpu and round(cpu, 4), "runs": len(seconds),
            "MB": round(max(f["memory"] for f in measured) / 2**20)}


def slope(contestants):
    "Least-squares slope of log seconds over log size, by the processor's own clock."
    xs = [-math.log(n) for n in growth.PARTS.values()]
    ys = [math.log(found["cpu"]) for found in contestants.values()]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def value(target, contestants):
    "The figure that a target is about, or None if a contestant is missing."
    if target.figure == "lines": return training.code_lines()
    if target.figure == "slope": return slope(contestants)
    over, under = (contestants.get(who, {}) for who in (target.over, target.under))
    if "seconds" not in over or target.under and "seconds" not in under: return None
    return over[target.figure] / under[target.figure] if target.under else over[target.figure]


def judged(name, contestants):
    "The targets of a row in words, what was measured, and whether that reaches them."
    found = [(target, value(target, contestants)) for target in ROWS[name].targets]
    return [{"target": target.words, "value": None if number is None else round(number, 3),
             "met": None if number is None else target.met(number)} for target, number in found]
