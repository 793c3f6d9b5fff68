"""What is installed is whole: built from the sources, put elsewhere, used from an empty folder."""
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from importlib import import_module
from typing import get_type_hints

import pytest
from conftest import ROOT
from hosts import HOSTS, changes, extras, planned, recorded
from project import settings

CFG = settings()
HEAVY = {"numpy", "pandas", "pyarrow", "scipy", "matplotlib", "datasets", "tokenizers",
         "huggingface_hub", "transformers", "tiktoken", "sentencepiece", "babel", "nbdev",
         "IPython", "requests", "httpx"}


def run(*command, **options):
    "Run a command that has to succeed; give what it printed."
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8",
                          stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    "A folder with the sdist, and the wheel that was built from it."
    pytest.importorskip("build")
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    try: names = run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).split("\0")
    except (OSError, AssertionError): pytest.skip("needs a git clone")
    for name in filter(None, names):
        if not (ROOT/name).is_file(): continue
        (source/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT/name, source/name)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source)
    return out


@pytest.fixture(scope="module")
def wheel(built): return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def metadata(wheel):
    "The metadata of the wheel."
    with zipfile.ZipFile(wheel) as z:
        name = next(n for n in z.namelist() if n.endswith(".dist-info/METADATA"))
        return Parser().parsestr(z.read(name).decode())


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    "A folder that holds the wheel's packages and commands."
    target = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
        target, wheel)
    return target


@pytest.fixture
def outside(installed, tmp_path):
    "A function that runs a command of the installed package in an empty folder."
    env = {k: v for k, v in os.environ.items() if not k.startswith("TFS_")}
    env |= {"PYTHONPATH": str(installed), "PYTHONUTF8": "1", "HOME": str(tmp_path/"home")}
    here = tmp_path/"here"
    here.mkdir()
    def command(*args):
        got = run(sys.executable, *args, cwd=here, env=env)
        assert not list(here.iterdir())
        return got
    return command


def test_wheel_is_whole(wheel):
    with zipfile.ZipFile(wheel) as z: names = set(z.namelist())
    own = {p.relative_to(ROOT).as_posix() for p in (ROOT/"tfs").rglob("*")
           if p.is_file() and "__pycache__" not in p.parts}
    assert own <= names and "tfs/py.typed" in own and "tfs/sample/train.tsv.xz" in own
    stubs = {n for n in names if n.endswith(".pyi")}
    assert {n.removesuffix("i") for n in stubs} == {n for n in own if n.endswith(".py")} - {
        "tfs/_modidx.py"}
    own |= stubs
    rest = {n.split("/", 1)[1] for n in names - own}
    assert {"licenses/LICENSE", "licenses/LICENSE-TEXT", "entry_points.txt"} <= rest
    assert all(n.split("/")[0].endswith(".dist-info") for n in names - own)


def test_sdist_has_what_a_build_needs(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as t:
        names = {n.split("/", 1)[-1] for n in t.getnames()}
    assert {"settings.ini", "setup.py", "pyproject.toml", "LICENSE", "LICENSE-TEXT", "README.md",
            "CHANGELOG.md", "CITATION.cff"} <= names
    assert {n for n in names if n.startswith(("tests/", "nbs/", "tools/"))} == {"tools/stubs.py"}


def test_metadata(metadata):
    import tfs
    assert metadata["Version"] == CFG["version"] == tfs.__version__
    assert metadata["Requires-Python"] == ">=" + CFG["min_python"]
    wanted = {"offline", "tiktoken", "sentencepiece", "transformers", "babel", "dev"}
    assert wanted <= set(metadata.get_all("Provides-Extra"))
    core = [r for r in metadata.get_all("Requires-Dist") if "extra ==" not in r]
    assert len(core) == len(CFG["requirements"].split())
    assert not [r for r in core if re.search("[<!~]|==", r)]


def test_description_has_no_link_that_needs_the_repository(metadata):
    links = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())
    assert links and all(link.startswith("https://") for link in links)


def test_every_module_comes_from_the_wheel(outside, installed):
    code = ("import importlib, json, pkgutil, tfs\n"
            "names = sorted(m.name for m in pkgutil.iter_modules(tfs.__path__))\n"
            "print(json.dumps([importlib.import_module('tfs.' + n).__file__ for n in names]))")
    files = json.loads(outside("-c", code))
    assert len(files) == len(list((ROOT/"tfs").glob("[!_]*.py"))) + 2
    assert all(f.startswith(str(installed)) for f in files)


def test_sample_is_found(outside):
    code = "from tfs.data import load_train, load_test; print(len(load_train()), len(load_test()))"
    assert outside("-c", code).splitlines()[-1] == "41955 1600"


def test_command(outside, installed, tmp_path):
    text = tmp_path/"text.txt"
    text.write_text("Она читала.\nनमस्ते दुनिया\n", encoding="utf-8")
    assert outside("-m", "tfs", "--version") == f"tfs {CFG['version']}\n"
    script = next((installed/"bin").glob("tfs*"))
    if script.suffix == "": assert "measure" in outside(script, "--help")
    got = json.loads(outside("-m", "tfs", "measure", text, "-t", "bytes", "-t", "words", "--json"))
    assert [(row["tokenizer"], row["tokens"]) for row in got] == [("bytes", 59), ("words", 4)]


@pytest.mark.parametrize("code", [
    "import tfs",
    "import tfs.cli",
    "import sys; from tfs.cli import run; run(['--version'])",
    "import sys; from tfs.cli import run; run(['measure', '--help'])",
    "import tfs.data, tfs.bpe, tfs.measure, tfs.pretrained, tfs.viz, tfs.env"])
def test_nothing_heavy_is_imported(code):
    got = run(sys.executable, "-c", code + "\nimport sys; print('\\n', *sys.modules)")
    loaded = {name.split(".")[0] for name in got.splitlines()[-1].split()}
    assert not loaded & HEAVY


TYPED = """
from tokenizers import Tokenizer
from tfs.bpe import BPE
from tfs.data import leak_rate
from tfs.measure import measure
from tfs.pretrained import load_tokenizer
from tfs.wordpiece import WordPiece

bpe = BPE([("a", "b")], ["a", "b"])
tokens: list[str] = bpe.encode("ab")
ids: list[list[int]] = bpe.encode_batch(["ab"])
share: float = leak_rate(None, None)
trained = BPE.train(["ab"], n_merges=1).to_hf()
gpt2: Tokenizer = load_tokenizer("gpt2")
bpe.nothing_of_the_kind
"""


def test_type_checkers_know_all_methods(installed, tmp_path):
    pytest.importorskip("mypy")
    (tmp_path/"typed.py").write_text(TYPED, encoding="utf-8")
    options = ["--ignore-missing-imports", "--follow-imports=skip", "--no-color-output",
               "--cache-dir", str(tmp_path/"cache"), "--python-version", CFG["min_python"]]
    done = subprocess.run([sys.executable, "-m", "mypy", *options, "typed.py", installed/"tfs"],
                          cwd=tmp_path, env={**os.environ, "MYPYPATH": str(installed)},
                          capture_output=True, encoding="utf-8")
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and "nothing_of_the_kind" in errors[0], done.stdout + done.stderr


def test_type_hints_can_be_read():
    names = sorted(f"tfs.{p.stem}" for p in (ROOT/"tfs").glob("[!_]*.py"))
    for module in map(import_module, names):
        for value in [getattr(module, name) for name in module.__all__]:
            members = vars(value).values() if inspect.isclass(value) else [value]
            for function in filter(inspect.isfunction, members): get_type_hints(function)


def floors():
    "The floor of each package that the library or one of its extras asks for."
    names = ("requirements", "offline_requirements", "tiktoken_requirements",
             "sentencepiece_requirements", "transformers_requirements", "babel_requirements")
    wanted = (w.partition(";")[0].partition(">=") for name in names for w in CFG[name].split())
    return {name: floor for name, _, floor in wanted}


def test_oldest_versions_are_the_declared_ones():
    def version(text): return [int(n) for n in text.split(".")]
    tested = recorded("oldest")
    assert tested.keys() == floors().keys()
    for name, floor in floors().items():
        assert version(tested[name])[:len(version(floor))] == version(floor), name


@pytest.mark.parametrize("host", HOSTS)
def test_hosts_keep_what_they_have(wheel, host):
    "Without an index: whatever has to be fetched would be an error."
    plan = planned(host, f"{wheel}[{extras()}]", "--no-index")
    assert [name for name, _, _ in plan] == ["tfs"] and changes(plan) == []


def test_a_change_is_told():
    assert changes([("a", "2", "1"), ("b", "1", None)]) == ["a 1 -> 2"]
