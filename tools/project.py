"""The names in settings.ini and the places of notebooks, for the maintainers' scripts and tests."""
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NBS = ROOT/"nbs"
LESSONS = ("bpe", "fertility", "subwords")
HOWTO = ("measure", "train", "split", "offline", "publish")
FACTS = {   # lesson: how long it takes, what it needs
    "bpe": ("about an hour; a run takes up to ten minutes", "Python and a little pandas"),
    "fertility": ("40 minutes; a run takes a minute", "Python, and BPE from lesson 1"),
    "subwords": ("about an hour; a run takes a minute", "Python, and BPE from lesson 1")}
# The library in the order of its contents: group, notebook of nbs/api, a few words on it.
LIBRARY = {
    "Load and measure": {
        "pretrained": "tokenizers of real models", "adapters": "any tokenizer, one interface",
        "measure": "what a text costs", "parallel": "one text, many languages",
        "graphemes": "characters as readers count", "reading": "blocks of a text"},
    "Prepare": {"data": "sentence pairs", "splits": "clean and split without leaks"},
    "Train and encode": {
        "training": "from files of any size", "bpe-class": "byte-pair encoding",
        "flat": "BPE in NumPy", "wordpiece": "WordPiece", "lattice": "Unigram",
        "pipeline": "what stands around a model", "batch": "rows, masks, labels",
        "ngram": "the smallest language models", "saved": "a model in one file",
        "hub": "publish what you made"},
    "Count at any size": {
        "count": "words of any source", "sources": "texts from files",
        "tally": "counts beyond memory", "workers": "several processes",
        "spark": "a cluster"},
    "In the shell": {
        "cli": "measure and tax", "cli-text": "encode, decode, chips", "cli-train": "train",
        "cli-split": "split", "cli-count": "count, merge-counts", "cli-course": "lesson, doctor",
        "main": "python -m tfs"},
    "Show": {
        "viz": "chips, tables, charts", "draw": "drawings of lesson 3",
        "explore": "a table to sort and filter", "player": "figures to step through",
        "svg": "shapes and colours"},
    "Run anywhere": {
        "env": "notebook, Kaggle or Colab", "provide": "files, online or offline"}}


def settings():
    "The names in settings.ini."
    ini = ConfigParser(delimiters=["="], interpolation=None)
    ini.read(ROOT/"settings.ini", encoding="utf-8")
    return ini["DEFAULT"]


def lessons():
    "The lesson notebooks that exist, in the order of the course."
    paths = (NBS/"lessons"/f"{name}.ipynb" for name in LESSONS)
    return [p for p in paths if p.exists()]


def notebooks(folder=NBS):
    "All notebooks below a folder, in a fixed order; checkpoints are left out."
    return sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def pages():
    "The pages of the site that are plain Markdown."
    return sorted(NBS.rglob("*.qmd"))


def howto_pages():
    "The how-to pages, in the order in which a reader needs them."
    return [NBS/"howto"/f"{name}.qmd" for name in HOWTO]


def library():
    "Groups of notebooks with a few words each; what no group names comes last."
    left = {p.stem: p for p in notebooks(NBS/"api")}
    groups = {name: [(left.pop(stem), words) for stem, words in group.items() if stem in left]
              for name, group in LIBRARY.items()}
    if left: groups["More"] = [(path, "") for path in left.values()]
    return groups


def blob(cfg, place):
    "The address of a file of the repository."
    return f"{cfg['git_url']}/blob/{cfg['branch']}/{place}"


def site(cfg, place=""):
    "The address of a page of the published site."
    return f"{cfg['doc_host']}{cfg['doc_baseurl']}/{place}"


def colab(cfg, place):
    "The address that opens a notebook of the repository in Colab."
    repository = f"{cfg['user']}/{cfg['repo']}"
    return f"https://colab.research.google.com/github/{repository}/blob/{cfg['branch']}/{place}"


def kaggle(cfg, place):
    "The address that opens a notebook of the repository in Kaggle."
    return f"https://kaggle.com/kernels/welcome?src={blob(cfg, place)}"
