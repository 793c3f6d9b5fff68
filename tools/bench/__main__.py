"""Measure this library, the lesson's plain versions and other libraries side by side.

    python tools/bench               every row; writes bench/results.json and nbs/speed.qmd
    python tools/bench --quick       one run each, without the slowest contestants; writes nothing
    python tools/bench --row count   one row alone; writes nothing without --save
    python tools/bench --list        the rows

With TFS_MIRROR the text is the mirror's (123,286 different words), without it the bundled sample.
"""
import argparse
import subprocess
import sys

import report
import texts
from run import ROWS, measure, worker


def arguments():
    "The command line."
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.splitlines()[0])
    parser.add_argument("--row", action="append", choices=ROWS, metavar="NAME",
                        help="only this row; may be repeated")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--quick", action="store_true", help="one run each, without the slowest")
    parser.add_argument("--runs", type=int, default=5, help="runs of each contestant, at most (5)")
    parser.add_argument("--text", metavar="FILE", help="other text, a sentence a line")
    parser.add_argument("--save", action="store_true", help="write these rows to the results")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--prepare", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def prepared(path):
    "Facts about the text, which is prepared in a process of its own."
    command = [sys.executable, *sys.argv[:1], "--prepare", *(["--text", path] if path else [])]
    done = subprocess.run(command)
    if done.returncode: sys.exit(done.returncode)
    return texts.read("facts")


def main():
    args = arguments()
    if args.worker: return worker(*args.worker)
    if args.prepare: return texts.prepare(args.text)
    if args.list: return print("\n".join(f"{name:14} {row.title}" for name, row in ROWS.items()))
    facts = prepared(args.text)
    runs = 1 if args.quick else max(1, args.runs)
    found, saving = report.results(facts), args.save or not (args.quick or args.row or args.text)
    for name in args.row or ROWS:
        found["rows"][name] = measure(name, runs, args.quick)
        if saving: report.save(found)
    print("\n" + report.page(found))


if __name__ == "__main__": main()
