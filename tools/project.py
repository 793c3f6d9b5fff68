"""The names in settings.ini and the places of notebooks, for the maintainers' scripts and tests."""
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NBS = ROOT/"nbs"
LESSONS = ("bpe", "fertility", "subwords")


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
