"""Make the virtual environment and install the project with everything that its commands need.

Called by the Makefile with the Python to use; the standard library is enough for it.
"""
import subprocess
import sys
import venv

from project import ROOT, settings


def pip(python, *args):
    "Run pip of the environment; end with its own message when it fails."
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "-qq", *args]
    if subprocess.run(command, cwd=ROOT).returncode:
        sys.exit("install: pip could not install; see its message above, then run make again")


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
