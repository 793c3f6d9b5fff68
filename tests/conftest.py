"""What several test files need: the maintainers' scripts on the path, packages from npm."""
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT/"tools"))


@pytest.fixture(scope="session")
def npm():
    "A function that gives the folder of an npm package; the test is skipped where there is no npm."
    def package(name, version):
        folder = ROOT/"work"/"npm"
        if not (folder/"node_modules"/name).exists():
            tool = shutil.which("npm")
            if not tool: pytest.skip("needs npm")
            folder.mkdir(parents=True, exist_ok=True)
            command = [tool, "install", "--prefix", str(folder), "--no-audit", "--no-fund",
                       f"{name}@{version}"]
            done = subprocess.run(command, capture_output=True, encoding="utf-8")
            if done.returncode: pytest.skip(f"npm can't install {name}: {done.stderr[-200:]}")
        return folder/"node_modules"/name
    return package
