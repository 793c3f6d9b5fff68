"""What a notebook can't show of `tfs.env`: real processes, hosts' modules, read-only folders."""
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tfs import env


@pytest.fixture(autouse=True)
def plain(monkeypatch, tmp_path):
    "Start every test from a local machine without settings."
    for name in ("KAGGLE_KERNEL_RUN_TYPE", "COLAB_RELEASE_TAG", "TFS_WORK", "TFS_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TFS_ROOT", str(tmp_path/"root"))


def host_module(monkeypatch, name, **members):
    "Put a module of a host among the loaded ones."
    module = ModuleType(name)
    for key, value in members.items(): setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def raises(error):
    "A function that raises whatever it is called with."
    def fail(*args, **kwargs): raise error
    return fail


def test_local_by_default(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert env.where() == "local"
    assert env.work_dir() == tmp_path/"work"
    assert (tmp_path/"work").is_dir()


@pytest.mark.parametrize("variable, host, folder", [
    ("KAGGLE_KERNEL_RUN_TYPE", "kaggle", "kaggle/working"),
    ("COLAB_RELEASE_TAG", "colab", "content")])
def test_hosts_by_variable(monkeypatch, tmp_path, variable, host, folder):
    monkeypatch.setenv(variable, "Interactive")
    assert env.where() == host
    assert env.work_dir() == tmp_path/"root"/folder


def test_colab_by_its_module(monkeypatch):
    host_module(monkeypatch, "google.colab")
    assert env.where() == "colab"


def test_kaggle_wins_over_colab(monkeypatch):
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release")
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Batch")
    assert env.where() == "kaggle"


def test_project_from_a_lesson(monkeypatch):
    project = Path(__file__).resolve().parents[1]
    monkeypatch.chdir(project/"nbs"/"api")
    assert env.project_dir() == project


def test_relative_settings_count_from_the_project(monkeypatch, tmp_path):
    (tmp_path/"settings.ini").write_text("[DEFAULT]\nlib_name = tfs\n", encoding="utf-8")
    for folder in ("nbs/lessons", "class"): (tmp_path/folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path/"nbs"/"lessons")
    monkeypatch.setenv("TFS_MIRROR", "class")
    monkeypatch.setenv("TFS_WORK", "out")
    assert env.mirror() == tmp_path/"class"
    assert env.work_dir() == tmp_path/"out"


def test_read_only_folder_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("TFS_WORK", str(tmp_path))
    monkeypatch.setattr(env.tempfile, "TemporaryFile", raises(OSError(30, "Read-only file system")))
    with pytest.raises(PermissionError, match="Read-only file system.*TFS_WORK") as error:
        env.work_dir()
    assert "\n" not in str(error.value)


def test_secret_order_and_failures(monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    host_module(monkeypatch, "kaggle_secrets", UserSecretsClient=raises(ValueError("no label")))
    host_module(monkeypatch, "google.colab")
    userdata = SimpleNamespace(get=lambda name: f"{name} of Colab")
    monkeypatch.setattr(sys.modules["google.colab"], "userdata", userdata, raising=False)
    assert env.secret("HF_TOKEN") == "HF_TOKEN of Colab"
    userdata.get = raises(RuntimeError("no access"))
    assert env.secret("HF_TOKEN") is None
    monkeypatch.setenv("HF_TOKEN", "   ")
    assert env.secret("HF_TOKEN") is None


def test_secret_on_kaggle(monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    client = lambda: SimpleNamespace(get_secret=lambda name: "hf_kaggle")
    host_module(monkeypatch, "kaggle_secrets", UserSecretsClient=client)
    assert env.secret("HF_TOKEN") == "hf_kaggle"
    assert "kaggle" not in repr({"token": env.secret("HF_TOKEN")})


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_atomic_leaves_the_old_file(tmp_path, error):
    path = tmp_path/"merges.json"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(type(error)), env.atomic(path) as p:
        p.write_text("ne", encoding="utf-8")
        raise error
    assert [(f.name, f.read_text(encoding="utf-8")) for f in tmp_path.iterdir()] == [
        ("merges.json", "old")]


def test_atomic_follows_the_umask(tmp_path):
    (tmp_path/"plain").touch()
    with env.atomic(tmp_path/"whole") as p: p.touch()
    assert (tmp_path/"whole").stat().st_mode == (tmp_path/"plain").stat().st_mode


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_atomic_keeps_what_is_private(tmp_path):
    (tmp_path/"secret").touch(0o600)
    with env.atomic(tmp_path/"secret") as p: p.touch(0o644)
    assert (tmp_path/"secret").stat().st_mode & 0o777 == 0o600


def run(code, **variables):
    "Run Python code in a process of its own."
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables}, check=True,
                          capture_output=True, encoding="utf-8").stdout


def test_import_loads_nothing_heavy():
    heavy = "numpy pandas datasets tokenizers huggingface_hub matplotlib pyarrow torch"
    code = f"import sys, tfs.env as e; e.quiet(); print(set({heavy.split()}) & set(sys.modules))"
    assert run(code).strip() == "set()"


def test_quiet_reaches_loaded_libraries(monkeypatch):
    code = """
import datasets, huggingface_hub
from huggingface_hub.utils import are_progress_bars_disabled, logging
from tfs.env import quiet
quiet()
assert are_progress_bars_disabled() and logging.get_verbosity() == logging.ERROR
assert datasets.utils.logging.get_verbosity() == datasets.utils.logging.ERROR
"""
    monkeypatch.delenv("HF_HUB_DISABLE_PROGRESS_BARS", raising=False)
    run(code)


def test_hash_seed_is_for_children(monkeypatch):
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    env.seed_everything(7)
    assert os.environ["PYTHONHASHSEED"] == "7"
    env.seed_everything(8)
    assert os.environ["PYTHONHASHSEED"] == "7"
