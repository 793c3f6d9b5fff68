"""Run lesson 1 from start to end and build the site with what it showed.

TFS_DATA chooses the corpus (sample, tatoeba, or a folder); TFS_MIRROR names a folder that has what
would be downloaded.
"""
import os
import subprocess
import sys
import time

from project import ROOT, lessons

sys.path.insert(0, str(ROOT))
RESULTS = ("data/train.parquet", "data/validation.parquet", "data/test.parquet", "tokenizer.json")


def run(*command):
    "Run one of the scripts beside this one; end when it fails."
    done = subprocess.run([sys.executable, str(ROOT/"tools"/command[0]), *command[1:]], cwd=ROOT)
    if done.returncode: sys.exit(done.returncode)


def main():
    "Run, check that the files are there, build, say where everything is."
    from tfs.env import work_dir
    start, work = time.perf_counter(), work_dir()
    print(f"Running lesson 1 on TFS_DATA={os.environ.get('TFS_DATA') or 'sample'}, "
          "which takes some minutes", flush=True)
    run("run_notebooks.py", str(lessons()[0].relative_to(ROOT)), "--to", str(work/"executed"))
    missing = [name for name in RESULTS if not (work/name).exists()]
    if missing: sys.exit(f"lesson: the lesson ended without writing {', '.join(missing)} in {work}")
    run("build_site.py", "--executed", str(work/"executed"))
    print(f"\nDone in {time.perf_counter() - start:.0f} s.\n"
          f"  splits and tokenizer  {work}\n  the site              {ROOT/'_site'/'index.html'}")


if __name__ == "__main__": main()
