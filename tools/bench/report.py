"""The results as JSON, and as the page of the site that shows them."""
import json
import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from run import GROUPS
from texts import ROOT

OUT = ROOT/"bench"/"results.json"
PAGE = ROOT/"nbs"/"speed.qmd"
PACKAGES = ("numpy", "scipy", "pyarrow", "pandas", "tokenizers", "sentencepiece", "tiktoken")
HEAD = """---
title: How fast is it?
description: "The library, the lesson's plain versions and other libraries, side by side."
---

"""
HOW = """Every figure comes from one command, `make bench`. Each run is a process of its own, and
the contestants of a row take turns, so that a slow minute hits all of them. Seconds are the least
of the runs, with the slowest beside them. CPU is the processor's own seconds, on all cores; where
two contestants use one core each, a target looks at these: other programs disturb them less.
Where seconds are far above CPU, other programs had the processor, and CPU says more. MB is the most
memory that the process has had, its input included. Contestants that must give equal
results are compared in the same run. `python tools/bench --list` names the rows, `--row NAME`
measures one. Rows are saved one by one, so they need not come from one session, and the machine
that measured them serves others, too: the same row measured again comes out somewhat higher or
lower.
"""


def installed(name):
    "The version of a package, or None."
    try: return version(name)
    except PackageNotFoundError: return None


def processor():
    "The processor's model."
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine():
    "With what it was measured."
    return {"processor": processor(), "cores": os.cpu_count(), "system": platform.system(),
            "python": platform.python_version(), **{name: installed(name) for name in PACKAGES}}


def results(facts):
    "What is known before the first row is measured."
    return {"date": str(date.today()), "machine": machine(), "text": facts, "rows": {}}


def preface(found):
    "What was measured, with what and when."
    m, words, small = found["machine"], found["text"]["words"], found["text"]["small"]
    kind = {"mirror": "the pairs and the test set of a mirror", "sample": "the bundled sample"}
    name = found["text"]["name"]
    versions = ", ".join(f"{name} {m[name]}" for name in ("python", *PACKAGES) if m[name])
    return (f"Measured on {found['date']} with a processor {m['processor']}, {m['cores']} cores, "
            f"{m['system']}; {versions}. The text is {kind.get(name, name)}: "
            f"{words['sentences']:,} English and Russian sentences with {words['words']:,} "
            f"different words. The bundled sample, where a row names it, has "
            f"{small['sentences']:,} sentences with {small['words']:,} different words.\n")


def figure(value):
    "A number with three digits that count."
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def mark(met): return {None: "not measured", True: "met", False: "**not met**"}[met]


def target_line(target):
    "A target with what was measured."
    value = "" if target["value"] is None else f": {figure(target['value'])}, "
    return f"- {target['target']}{value or ': '}{mark(target['met'])}"


def contestant_line(who, c):
    "A contestant's figures as a row of a table."
    if "skipped" in c: return f"| {who} | {c['skipped']} | | | |"
    spread = f"{figure(c['slowest'])} ({c['runs']} runs)" if c["runs"] > 1 else "one run"
    cpu = "" if c["cpu"] is None else figure(c["cpu"])
    return f"| {who} | {figure(c['seconds'])} | {spread} | {cpu} | {c['MB'] or ''} |"


def section(name, row):
    "A row as a heading, a table and its targets."
    lines = [f"### {row['title'][0].upper()}{row['title'][1:]} {{#{name}}}", ""]
    if row["note"]: lines += [row["note"], ""]
    lines += ["| | seconds | slowest | CPU | MB |", "|:--|--:|--:|--:|--:|",
              *(contestant_line(who, c) for who, c in row["contestants"].items()), ""]
    equal = [" · ".join(group) for group in row["same"] if len(group) > 1]
    if equal: lines += [f"Equal results: {'; and '.join(equal)}.", ""]
    return [*lines, *map(target_line, row["targets"]), ""]


def page(found):
    "The results as Markdown."
    judged = [t["met"] for row in found["rows"].values() for t in row["targets"]]
    lines = [HOW, preface(found), f"{sum(map(bool, judged))} of {len(judged)} targets are met.", ""]
    for heading, rows in GROUPS.items():
        measured = [name for name in rows if name in found["rows"]]
        if measured: lines += [f"## {heading}", ""]
        for name in measured: lines += section(name, found["rows"][name])
    return "\n".join(lines)


def save(found):
    "Write both files; rows that were not measured this time stay as they are."
    from tfs.env import atomic
    old = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    if all(old.get(part) == found[part] for part in ("machine", "text")):
        found = {**found, "rows": {**old["rows"], **found["rows"]}}
    data = json.dumps(found, ensure_ascii=False, indent=1) + "\n"
    OUT.parent.mkdir(exist_ok=True)
    for path, text in ((OUT, data), (PAGE, HEAD + page(found))):
        with atomic(path) as temporary: temporary.write_bytes(text.encode("utf-8"))
