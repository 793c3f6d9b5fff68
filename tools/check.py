"""Everything that CI runs, in the order of what fails fastest; pytest comes last.

Each notebook runs twice before pytest: once by nbdev_test, the way nbdev tests, in parallel; and once in
a real kernel, where its outputs are compared with the saved ones. Both are wanted: the first skips cells
by nbdev's flags, the second is what a reader's Run all does.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from project import ROOT

BIN = Path(sys.executable).parent
# the saved outputs are those of the bundled sample, whatever the machine's settings are
ENV = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}", "TFS_DATA": "sample",
       "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}


def step(title, *command, cwd=ROOT):
    "Run one step; end with its exit code when it fails."
    print(f"== {title}", flush=True)
    start = time.perf_counter()
    code = subprocess.run(command, cwd=cwd, env=ENV, stdin=subprocess.DEVNULL).returncode
    if code: sys.exit(f"== {title}: failed")
    print(f"   {time.perf_counter() - start:.0f} s", flush=True)


def python(title, *args, **kwargs):
    "A step that is a Python program."
    step(title, sys.executable, *args, **kwargs)


def exported():
    "Export a copy of the notebooks and compare with the library."
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)/"copy"
        for name in ("nbs", "tfs"): shutil.copytree(ROOT/name, copy/name)
        shutil.copy(ROOT/"settings.ini", copy)
        code = "from nbdev.doclinks import nbdev_export; nbdev_export()"
        ENV["PYTHONPATH"] = str(copy)
        python("export is in sync", "-c", code, cwd=copy)
        ENV["PYTHONPATH"] = str(ROOT)
        stale = [p.name for p in sorted((copy/"tfs").glob("*.py")) if not (ROOT/"tfs"/p.name).exists()
                 or p.read_bytes() != (ROOT/"tfs"/p.name).read_bytes()]
    if stale: sys.exit(f"tfs/ is not what the notebooks export ({', '.join(stale)}): run `make nbs`")


def main():
    "All steps."
    exported()
    python("notebooks are clean", "tools/run_notebooks.py", "--clean", "--check")
    python("README is in sync", "tools/make_readme.py", "--check")
    python("lint", "-m", "ruff", "check", "nbs", "tools", "tests", "setup.py")
    python("notebook tests", "-c", "from nbdev.test import nbdev_test; nbdev_test()")
    python("outputs are what a run gives", "tools/run_notebooks.py", "--check")
    python("site", "tools/build_site.py")
    print("== pytest", flush=True)
    done = subprocess.run([sys.executable, "-m", "pytest"], cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL)
    sys.exit(done.returncode)


if __name__ == "__main__": main()
