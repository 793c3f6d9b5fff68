"""Would installing tfs change a package that Colab or Kaggle brings? Ask pip, without installing.

    python3.12 tools/hosts.py                        build a wheel; the extras that a notebook wants
    python3.12 tools/hosts.py dist/tfs-*.whl --extras offline

Each list in constraints/ becomes an environment whose packages have a name and a version and no
files, and pip tells what it would install there. Run it with the Python that the lists name: the
standard library and pip are enough.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from project import ROOT, settings

HOSTS = ("colab", "kaggle")
# offline is for machines that can't reach the Hub; a package of it needs an old `future`
NOT_FOR_HOSTS = {"dev", "test", "offline", "spark"}


def build(folder):
    "A wheel of the project in a folder."
    # setuptools would add modules that an older build left there
    shutil.rmtree(ROOT/"build", ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
    subprocess.run(list(map(str, command)), check=True)
    return next(Path(folder).glob("*.whl"))


def normal(name):
    "A package's name as registries compare it."
    return re.sub(r"[-_.]+", "-", name).lower()


def recorded(host):
    "What a host has: version by name, in the order of its list."
    lines = (ROOT/"constraints"/f"{host}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def pretend(packages, folder):
    "An environment in which pip believes that these versions are installed; gives its Python."
    venv.create(folder, with_pip=False)
    windows = sys.platform == "win32"
    python = folder/("Scripts/python.exe" if windows else "bin/python")
    site = folder/"Lib"/"site-packages" if windows else next(folder.glob("lib/*/site-packages"))
    for name, version in packages.items():
        info = site/f"{re.sub(r'[-.]+', '_', name)}-{version}.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (info/"METADATA").write_text(text, encoding="utf-8")
        (info/"RECORD").touch()
    return python


def planned(host, wanted, *options):
    "(name, version, version there or None) of each package that pip would install on a host."
    has = recorded(host)
    there = {normal(name): version for name, version in has.items()}
    with tempfile.TemporaryDirectory() as folder:
        python = pretend(has, Path(folder)/host)
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python,
                   "install", "--quiet", "--dry-run", "--report", "-", *options, wanted]
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8",
                              env=env)
    if done.returncode: raise RuntimeError(f"pip could not resolve {wanted}: {done.stderr[-2000:]}")
    found = (item["metadata"] for item in json.loads(done.stdout)["install"])
    return [(m["name"], m["version"], there.get(normal(m["name"]))) for m in found]


def changes(plan):
    "What would be replaced, as lines."
    return [f"{name} {old} -> {new}" for name, new, old in plan if old]


def extras():
    "The extras that a notebook may want."
    names = (k.removesuffix("_requirements") for k in settings() if k.endswith("_requirements"))
    return ",".join(name for name in names if name not in NOT_FOR_HOSTS)


def main():
    "The command line."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", nargs="?", type=Path, help="of tfs; built when it isn't given")
    parser.add_argument("--extras", default=extras())
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = args.wheel or build(folder)
        plans = {host: planned(host, f"{wheel}[{args.extras}]") for host in HOSTS}
    for host, plan in plans.items():
        new = ", ".join(f"{name} {version}" for name, version, old in plan if not old)
        print(f"{host}: {'; '.join(changes(plan)) or 'nothing changes'}. New: {new}")
    sys.exit(any(map(changes, plans.values())))


if __name__ == "__main__": main()
