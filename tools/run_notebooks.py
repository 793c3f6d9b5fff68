"""Run notebooks in a real kernel: save their outputs, or compare them with the saved ones.

    python tools/run_notebooks.py                    run all of nbs/ and save the outputs in place
    python tools/run_notebooks.py nbs/lessons/bpe.ipynb --to work/executed
    python tools/run_notebooks.py --check            run, compare, change nothing
    python tools/run_notebooks.py --clean            run nothing; only tidy the metadata
    python tools/run_notebooks.py --clean --check    run nothing; fail when something is untidy
"""
import argparse
import difflib
import json
import re
import sys
import tempfile
import time
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tfs.env import atomic  # noqa: E402

PROBE = """
import sys
try:
    import resource
    unit = 1 if sys.platform == "darwin" else 1024
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
except ImportError:
    import psutil
    print(psutil.Process().memory_info().peak_wset)
"""
FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form", "_kg_hide-input": True}
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FOLDERS = r"(?<![\w.:/<])/(?:home|Users|root|tmp|private|mnt|work)/[\w.-]+|\b[A-Z]:\\\\?\w+"


def source(cell):
    "The text of a cell."
    return "".join(cell["source"])


def directives(cell):
    "The names of a cell's `#|` lines, and the value of those that have one."
    lines = re.findall(r"^#\|\s*([\w-]+):?[ \t]*(.*)$", source(cell), flags=re.M)
    return {name: value.strip() for name, value in lines}


def notebooks(names):
    "The notebooks that files and folders name, in a fixed order; checkpoints are left out."
    for path in map(Path, names):
        if not path.exists(): sys.exit(f"run_notebooks: there is no {path}")
        found = sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]
        yield from (p for p in found if ".ipynb_checkpoints" not in p.parts)


def fold(cell):
    "What the front ends need to fold the source of a cell that says `code-fold: true`."
    wanted = directives(cell).get("code-fold") == "true" if cell["cell_type"] == "code" else False
    if cell["metadata"].get("tags") == ["skip-execution"]: del cell["metadata"]["tags"]
    for key, value in FOLDED.items():
        if wanted: cell["metadata"][key] = deepcopy(value)
        else: cell["metadata"].pop(key, None)


def settle(text):
    "Text as a terminal would leave it: no colours, no overwritten progress bars."
    return re.sub(r"^.*\r(?!\n)", "", ANSI.sub("", text).replace("\r\n", "\n"), flags=re.M)


def join_streams(outputs):
    "One output for what was printed in several goes."
    joined = []
    for out in outputs:
        same = joined and out["output_type"] == "stream" and joined[-1].get("name") == out["name"]
        if same: joined[-1]["text"] = "".join(joined[-1]["text"]) + "".join(out["text"])
        else: joined.append(out)
    for out in joined:
        if out["output_type"] == "stream": out["text"] = settle("".join(out["text"]))
    return [o for o in joined if o.get("text") != ""]


def tidy(nb):
    "The notebook as it is saved: nbdev's cleaning, folding metadata, settled streams."
    from execnb.nbio import dict2nb, nb2dict
    from nbdev.clean import clean_nb
    nb = dict2nb(nb)
    clean_nb(nb, allowed_cell_metadata_keys=["tags"])
    nb["metadata"] = {"kernelspec": dict(display_name="python3", language="python", name="python3")}
    for cell in nb["cells"]:
        fold(cell)
        if cell["cell_type"] != "code": continue
        cell["outputs"] = join_streams(cell["outputs"])
        for out in cell["outputs"]:
            if "metadata" in out: out["metadata"] = {}
    return nb2dict(nb)


def as_text(nb):
    "The text of a notebook file."
    from execnb.nbio import dict2nb, nb2str
    return nb2str(dict2nb(nb))


def save(nb, path):
    "Write a notebook whole or not at all, with the same line ends on every system."
    with atomic(path) as p: p.write_text(as_text(nb), encoding="utf-8", newline="\n")


def kernel_class():
    "A kernel of this very Python, whatever kernels are registered on the machine."
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    argv = [sys.executable, "-m", "ipykernel_launcher", "--log-level=40", "-f", "{connection_file}"]

    class ThisPython(AsyncKernelManager):
        kernel_spec = KernelSpec(argv=argv, display_name="Python 3", language="python")
    return ThisPython


def execute(nb, folder, timeout):
    "Run all cells in `folder`; give the notebook with its outputs and the peak memory in bytes."
    import nbformat
    from nbclient import NotebookClient
    nb = nbformat.reads(json.dumps(nb), as_version=4)
    for cell in nb.cells:
        # as nbdev_test does: a run must not write the library that it imports
        if "nbdev_export(" in cell.source: cell.metadata["tags"] = ["skip-execution"]
    nb.cells.append(nbformat.v4.new_code_cell(PROBE))
    client = NotebookClient(nb, timeout=timeout, kernel_manager_class=kernel_class(),
                            resources={"metadata": {"path": str(folder)}}, record_timing=False)
    client.execute()
    peak = int(nb.cells.pop().outputs[0].text)
    return json.loads(nbformat.writes(nb)), peak


class Visible(HTMLParser):
    "Collects what a reader of HTML sees or hears: text, and the words of images."
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.words, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("style", "script")
        self.words += [v for k, v in attrs if k in ("alt", "aria-label") and v]

    def handle_endtag(self, tag): self.hidden -= tag in ("style", "script")

    def handle_data(self, data):
        if not self.hidden: self.words.append(data)


def visible(html):
    "The words of HTML or SVG, without its geometry."
    parser = Visible()
    parser.feed(html)
    return " ".join(" ".join(parser.words).split())


def essence(out):
    "What has to be the same in two runs of an output; None when nothing has to."
    if out["output_type"] == "stream":
        return "".join(out["text"]) if out["name"] == "stdout" else None
    if out["output_type"] == "error": return f"{out['ename']}: {out['evalue']}"
    data = {k: "".join(v) for k, v in out["data"].items() if k.startswith(("text/", "image/svg"))}
    for kind in ("text/html", "image/svg+xml"):
        if kind in data: return visible(data[kind])
    return data.get("text/markdown", data.get("text/plain", ""))


def differences(old, new, name):
    "One message for each cell whose outputs differ; cells marked `varies` are passed by."
    for a, b in zip(old["cells"], new["cells"]):
        if a["cell_type"] != "code" or "varies" in directives(a): continue
        before, after = ([e for o in c["outputs"] if (e := essence(o)) is not None] for c in (a, b))
        if before == after: continue
        lines = difflib.unified_diff("\n".join(before).splitlines(), "\n".join(after).splitlines(),
                                     "committed", "this run", lineterm="", n=1)
        yield "\n    ".join([f"{name}, cell {a['id']}: the output differs", *list(lines)[:30]])


def places():
    "Folders of this machine that must not be seen in an output."
    own = [str(ROOT), str(Path.home()), tempfile.gettempdir()]
    return re.compile("|".join([*(re.escape(p) + r"[\\/]" for p in own if len(p) > 3), FOLDERS]))


def machine_paths(nb, name):
    "One message for each output that shows where this machine keeps its files."
    pattern = places()
    for cell in nb["cells"]:
        found = pattern.search(json.dumps(cell.get("outputs", []), ensure_ascii=False))
        if found: yield f"{name}, cell {cell['id']}: an output shows the path {found[0]}"


def run_one(path, args):
    "Run one notebook; give the list of what is wrong."
    from nbclient.exceptions import CellExecutionError
    old, start = json.loads(path.read_text(encoding="utf-8")), time.perf_counter()
    try: new, peak = execute(old, path.parent, args.timeout)
    except CellExecutionError as e: return [f"{path}: {settle(str(e))}"]
    new, seconds = tidy(new), time.perf_counter() - start
    print(f"{path.as_posix()}: {seconds:.1f} s, {peak / 2**20:.0f} MB", flush=True)
    wrong = [] if args.any_path else list(machine_paths(new, path.as_posix()))
    if args.check: return wrong + list(differences(old, new, path.as_posix()))
    if not wrong: save(new, args.to/path.name if args.to else path)
    return wrong


def clean_one(path, args):
    "Tidy one notebook without running it; give the list of what is wrong."
    text = path.read_text(encoding="utf-8")
    nb = tidy(json.loads(text))
    if as_text(nb) == text: return []
    if args.check: return [f"{path.as_posix()} is not clean: run `make nbs`"]
    save(nb, path)
    return []


def main():
    "The command line."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["nbs"], help="notebooks or folders (nbs)")
    parser.add_argument("--to", type=Path, help="save the executed copies in this folder")
    parser.add_argument("--check", action="store_true", help="compare and change nothing")
    parser.add_argument("--clean", action="store_true", help="run nothing")
    parser.add_argument("--any-path", action="store_true", help="outputs may show folders")
    parser.add_argument("--timeout", type=int, default=1200, help="seconds for one cell (1200)")
    args = parser.parse_args()
    work = clean_one if args.clean else run_one
    wrong = [message for path in notebooks(args.names) for message in work(path, args)]
    if wrong: sys.exit("\n".join(wrong))


if __name__ == "__main__": main()
