"""Make the virtual environment and install the project with everything that its commands need.

Called by the Makefile with the Python to use; the standard library is enough for it.
"""
import re
import shutil
import subprocess
import sys
import venv

from project import ROOT, settings


def pip(python, *args):
    "Run pip of the environment; end with its own message when it fails."
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *args]
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit("install: pip could not install; see its message above, then run make again")


def has_java():
    "Whether Spark could run here: Java 17 or newer, on a system whose signals its tests send."
    java = shutil.which("java")
    if not java or sys.platform == "win32": return False
    said = subprocess.run([java, "-version"], capture_output=True, encoding="utf-8").stderr
    found = re.search(r'version "(\d+)', said)
    return bool(found) and int(found[1]) >= 17


def add_spark(python):
    "Install Spark for its tests where Java is; it is too big for everyone."
    found = subprocess.run([str(python), "-c", "import pyspark"], capture_output=True)
    if not has_java() or not found.returncode: return
    print("Installing Spark for its tests, as there is Java (about 450 MB)", flush=True)
    try: pip(python, settings()["spark_requirements"])
    except SystemExit: print("Spark's tests will be skipped", flush=True)


def main(folder):
    "Install into `folder`, which is created when it is missing."
    python = folder/("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        print(f"Creating {folder.name} with Python {sys.version.split()[0]}", flush=True)
        try: venv.create(folder, with_pip=True)
        except (subprocess.CalledProcessError, ImportError, OSError) as e:
            sys.exit(f"install: can't create {folder} ({e}); on Debian install python3-venv")
    print("Installing the project and its tools (a minute or two the first time)", flush=True)
    pip(python, "--editable", ".[dev]")
    # it says 3.11 and runs on 3.10; `dev` has what it depends on
    pip(python, "--no-deps", "--ignore-requires-python", settings()["site_engine"])
    (folder/"installed").touch()


if __name__ == "__main__": main(ROOT/sys.argv[1])
