"""Test the installed library with the oldest or the newest versions of all it depends on.

    python3.10 tools/bounds.py oldest        the versions in constraints/oldest.txt
    python3.13 tools/bounds.py newest        whatever the registry has
    python3.10 tools/bounds.py oldest -k hub      what follows goes to pytest; no notebook is run

The environment is that of a user: a wheel and its extras, without nbdev and its older fastcore. The
tests and notebooks run in a copy that has no tfs/ folder.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from hosts import build
from project import ROOT, notebooks, settings

SKIPPED = ("test_project.py", "test_site.py", "test_playground.py", "test_package.py")


def setup(python, bound):
    "Install the library with its extras and what its tests need."
    names = (k.removesuffix("_requirements") for k in settings() if k.endswith("_requirements"))
    extras = ",".join(name for name in names if name not in ("dev", "spark"))
    options = ["-c", ROOT/"constraints"/"oldest.txt"] if bound == "oldest" else ["--upgrade"]
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as folder:
        for args in (["install", "-q", *options, f"{build(folder)}[{extras}]"], ["check"]):
            subprocess.run(list(map(str, [*pip, *args])), check=True)


def copy(folder):
    "All that the tests read, without the library."
    shutil.rmtree(folder, ignore_errors=True)
    leave = {".git", ".venv", "tfs", "work", "_proc", "_site", "build", "dist"}
    shutil.copytree(ROOT, folder, ignore=lambda at, names: leave if Path(at) == ROOT else ())
    for name in SKIPPED: (folder/"tests"/name).unlink()  # they need nbdev


def run_notebooks(folder):
    "Run every notebook in a kernel of this Python; give those that fail."
    sys.path.insert(0, str(folder/"tools"))
    from nbclient.exceptions import CellExecutionError
    from run_notebooks import execute, settle
    for path in notebooks(folder/"nbs"):
        nb = json.loads(path.read_text(encoding="utf-8"))
        print(path.relative_to(folder).as_posix(), flush=True)
        try: execute(nb, path.parent, 1200)
        except CellExecutionError as e: yield f"{path.name}: {settle(str(e))}"


def main():
    "The command line."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bound", choices=["oldest", "newest", "notebooks"])
    args, options = parser.parse_known_args()
    if args.bound == "notebooks": sys.exit("\n".join(run_notebooks(Path.cwd())))
    place = ROOT/"work"/args.bound
    python = place/"env"/("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists(): venv.create(place/"env", with_pip=True)
    setup(python, args.bound)
    copy(place/"copy")
    env = {**os.environ, "TFS_DATA": "sample", "TFS_PROVIDER": "packages", "PYTHONUTF8": "1"}
    steps = [["-m", "pytest", *options]]
    if not options: steps.append(["tools/bounds.py", "notebooks"])
    codes = [subprocess.run([python, *step], cwd=place/"copy", env=env).returncode
             for step in steps]
    sys.exit(any(codes))


if __name__ == "__main__": main()
