"""Build the site from the notebooks' saved outputs: nbdev's processing, then Quarto or smalldocs.

    python tools/build_site.py                                   nbs/ -> _proc/ -> _site/
    python tools/build_site.py --executed work/executed          with freshly executed lessons
    python tools/build_site.py --engine smalldocs                even where Quarto is installed
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import playground
from finish_site import finish
from project import NBS, ROOT, howto_pages, lessons, library, notebooks, pages, settings

sys.path.insert(0, str(ROOT))
PROC, PARTS = ROOT/"_proc", ROOT/"tools"/"site"
QUARTO_ONLY = ("is ignored", "smalldocs runs no code", "output-file is not read by smalldocs")
LINKS_ONLY = re.compile(r"(?:\s*(?:!?\[[^\n]*?\]\([^)\n]*\)|[·|•,]|<[^>\n]+>)\s*)+")
HOSTS = re.compile(r"colab\.research\.google\.com|kaggle\.com/kernels")


def split_title(nb):
    "Keep only title and promise in the first cell: nbdev turns it into the page's head."
    from execnb.nbio import mk_cell
    first = nb.cells[0]
    parts = re.match(r"(# [^\n]*\n*(?:>[^\n]*\n*)*(?:- [\w-]+:[^\n]*\n*)*)(.*)", first.source, re.S)
    if not parts or not parts[2].strip(): return
    first.source = parts[1].rstrip()
    nb.cells.insert(1, mk_cell(parts[2].strip(), "markdown"))


def drop_host_links(nb):
    "Take out the paragraph of Kaggle and Colab links: the site has a bar of its own for them."
    for cell in nb.cells[:3]:
        if cell.cell_type != "markdown": continue
        keep = [p for p in re.split(r"\n{2,}", cell.source)
                if not (HOSTS.search(p) and LINKS_ONLY.fullmatch(p))]
        cell.source = "\n\n".join(keep)
    nb.cells[:] = [c for c in nb.cells if c.cell_type == "code" or c.source.strip()]


def add_anchors(nb):
    "A place for links to what a lesson exports; nbdev links are in lower case."
    from execnb.nbio import mk_cell
    seen, cells = set(), []
    for cell in nb.cells:
        if cell.cell_type == "code" and re.search(r"^#\|\s*exports?\b", cell.source, re.M):
            names = re.findall(r"^(?:def|class) ([A-Za-z]\w*)", cell.source, re.M)
            places = [place for name in names for place in (name, name.lower())]
            new = [n for n in dict.fromkeys(places) if n not in seen]
            if new: cells.append(mk_cell("".join(f'<a id="{n}"></a>' for n in new), "markdown"))
            seen.update(new)
        cells.append(cell)
    nb.cells[:] = cells


def drop_directives(cell):
    "Take out `#|` lines that nbdev leaves further down in a cell."
    if cell.cell_type != "code": return
    head = re.match(r"(?:#\|[ \t]*[\w-]+:[^\n]*\n?)*", cell.source)[0]
    rest = re.sub(r"^[ \t]*#\|.*\n?", "", cell.source[len(head):], flags=re.M)
    cell.source = head + rest


def exports(code):
    "The modules that a notebook's code exports to, in the order of the cells."
    found = re.findall(r"^#\|\s*(?:default_exp|exports?)[ \t]+(\S+)", code, re.M)
    return list(dict.fromkeys(found))


def commands(doc):
    "Examples in a docstring as code, so that no two hyphens become a dash."
    head, mark, tail = doc.partition("\nExamples:\n")
    return head + mark + re.sub(r"^  (\S.*)$", r"    \1", tail, flags=re.M)


def documenter(nb):
    "A processor that fills `show_doc` cells from the library as it is installed; no cell is run."
    from nbdev.showdoc import show_doc
    names = {}
    for module in exports("\n".join(c.source for c in nb.cells)):
        names |= vars(import_module(f"tfs.{module}"))

    def document(cell):
        call = re.search(r"^show_doc\(([\w.]+)\)", cell.source, re.M)
        if cell.cell_type != "code" or not call: return
        text = commands(show_doc(eval(call[1], names))._repr_markdown_())
        cell.outputs = [{"output_type": "display_data", "metadata": {},
                         "data": {"text/markdown": text}}]
    return document


def processors(nb, is_lesson):
    "nbdev's processors; a lesson shows its code as it is, without an API box above it."
    from nbdev.processors import FilterDefaults
    skip = {"insert_warning"}
    if is_lesson: skip |= {"add_show_docs", "add_fold", "mv_exports", "clean_magics"}
    procs = [p for p in FilterDefaults().base_procs() if p.__name__ not in skip]
    own = {"exec_show_docs": documenter(nb)}
    return [*(own.get(p.__name__, p) for p in procs), drop_directives]


def process(path, target):
    "Turn one notebook into the one that an engine renders."
    from execnb.nbio import read_nb, write_nb
    from nbdev.process import NBProcessor
    nb, lesson = read_nb(path), target.parent.name == "lessons"
    split_title(nb)
    if lesson:
        drop_host_links(nb)
        add_anchors(nb)
    NBProcessor(nb=nb, procs=processors(nb, lesson), process=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_nb(nb, target)


def page_sources(executed):
    "Each notebook of the site by its place, executed copies instead of the saved ones."
    for path in notebooks():
        fresh = executed/path.name if executed and path.parent.name == "lessons" else None
        yield path.relative_to(NBS), fresh if fresh and fresh.exists() else path


def module_of(path):
    "The module that a notebook of the library exports to, and the notebook's promise."
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    promise = re.search(r"^> *(.+)", sources[0], re.M)
    return f"tfs.{(exports(chr(10).join(sources)) or [path.stem])[0]}", promise and promise[1]


def library_page():
    "The overview of the library: groups of modules, each with its promise."
    parts = ["---", "title: The library", "description: Every module of `tfs`, by what it is for.",
             "toc: true", "---", "", "The functions of the lessons and what stands behind them. "
             "`pip install git+" + settings()["git_url"] + "` brings them all; "
             "the shell command is [`tfs`](api/cli.ipynb)."]
    for name, modules in library().items():
        parts += ["", f"## {name}", "", "| Module | For |", "|---|---|"]
        for path, _ in modules:
            module, promise = module_of(path)
            parts.append(f"| [`{module}`]({path.relative_to(NBS).as_posix()}) | {promise or ''} |")
    return "\n".join(parts) + "\n"


def sidebar():
    "The contents at the side: lessons in their order, pages to look things up, the library."
    have = {p.relative_to(NBS).as_posix() for p in [*notebooks(), *pages()]}
    def part(section, *places):
        found = [place for place in places if place in have]
        return [{"section": section, "contents": found}] * bool(found)

    groups = []
    for name, modules in library().items():
        entries = [{"text": f"{module_of(path)[0].removeprefix('tfs.')}{words and ': '}{words}",
                    "href": path.relative_to(NBS).as_posix()} for path, words in modules]
        groups.append({"section": name, "contents": entries})
    summaries = [{"text": f"Lesson {n} on one page", "href": f"summaries/{path.stem}.qmd"}
                 for n, path in enumerate(lessons(), 1)]
    howto = (path.relative_to(NBS).as_posix() for path in howto_pages())
    look_up = part("Look it up", "glossary.qmd", "references.qmd", "numbers.ipynb",
                   "speed.qmd")
    look_up[0]["contents"][1:1] = summaries
    return [{"text": "Start here", "href": "index.ipynb"},
            *part("Lessons", *(path.relative_to(NBS).as_posix() for path in lessons())),
            *part("Try it", "playground.qmd"), *part("How to", *howto, "scale.ipynb"), *look_up,
            {"text": "The library", "href": "library.qmd"}, *groups]


def configure(cfg):
    "Put the configuration and the style beside the processed notebooks."
    import yaml

    from tfs.viz import css
    website = {"title": cfg["title"], "description": cfg["description"],
               "repo-url": cfg["git_url"], "repo-branch": cfg["branch"],
               "sidebar": {"style": "docked", "contents": sidebar()}}
    (PROC/"tfs.yml").write_text(yaml.safe_dump({"website": website}, allow_unicode=True,
                                               sort_keys=False), encoding="utf-8")
    style = (PARTS/"styles.scss").read_text(encoding="utf-8")
    (PROC/"styles.css").write_text(css() + "\n" + style, encoding="utf-8")
    for path in (PARTS/"head.html", PARTS/"favicon.svg", PARTS/"player.js", ROOT/"_quarto.yml"):
        shutil.copy(path, PROC)


def prepare(executed):
    "Fill `_proc` anew; nothing of an older build stays."
    shutil.rmtree(PROC, ignore_errors=True)
    PROC.mkdir()
    os.chdir(ROOT)
    for place, path in page_sources(executed): process(path, PROC/place)
    for path in pages():
        place = PROC/path.relative_to(NBS)
        place.parent.mkdir(exist_ok=True)
        shutil.copy(path, place)
    (PROC/"library.qmd").write_text(library_page(), encoding="utf-8")


def render(engine):
    "Run the engine; give its name and version."
    quarto = shutil.which("quarto") if engine != "smalldocs" else None
    if engine == "quarto" and not quarto: sys.exit("build_site: there is no quarto on the PATH")
    smalldocs = [sys.executable, "-m", "smalldocs.cli", "render", "."]
    command = [quarto, "render"] if quarto else smalldocs
    done = subprocess.run(command, cwd=PROC, capture_output=True, encoding="utf-8",
                          errors="replace")
    if done.returncode: sys.exit(f"build_site: {Path(command[0]).name} failed\n{done.stderr}")
    if quarto: return "Quarto " + subprocess.check_output([quarto, "--version"], text=True).strip()
    from importlib.metadata import version
    for line in done.stderr.splitlines():
        if line.startswith("warning") and not line.endswith(QUARTO_ONLY): print(line)
    return "smalldocs " + version("smalldocs")


def swap(new, old):
    "Put the new site in the place of the old one."
    aside = old.with_name(old.name + ".old")
    shutil.rmtree(aside, ignore_errors=True)
    if old.exists(): old.rename(aside)
    shutil.move(new, old)
    shutil.rmtree(aside, ignore_errors=True)


def main():
    "The command line."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executed", type=Path, help="folder with executed copies of lessons")
    parser.add_argument("--engine", choices=["auto", "quarto", "smalldocs"], default="auto")
    parser.add_argument("--out", type=Path, default=ROOT/"_site")
    args = parser.parse_args()
    cfg, executed = settings(), args.executed.resolve() if args.executed else None
    prepare(executed)
    configure(cfg)
    name = render(args.engine)
    playground.install(PROC/"_site")
    pages = finish(PROC/"_site", cfg, dict(page_sources(executed)))
    swap(PROC/"_site", args.out)
    print(f"{pages} pages built by {name}: {args.out/'index.html'}")


if __name__ == "__main__": main()
