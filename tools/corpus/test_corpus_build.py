"""The planted faults are found by the lesson's own steps, and a rebuild gives the same bytes."""
import hashlib
import importlib.util
import json
import lzma
from pathlib import Path

import pytest

import check
import stats

OUT = Path(__file__).parent / "out"
FACTS = json.loads((OUT / "manifest.json").read_text(encoding="utf-8"))
PLANNED = {"Cyrillic in English": 4, "over 40 words": 5, "duplicates": 40, "length ratio": 15,
           "leaks exact": 150, "leaks by fingerprint": 210, "no Cyrillic in Russian": 0}
needs_pymorphy = pytest.mark.skipif(importlib.util.find_spec("pymorphy3") is None,
                                    reason="rebuilding needs pymorphy3")


def train_bytes():
    "The decompressed training file."
    return lzma.decompress((OUT / "train.tsv.xz").read_bytes())


def train():
    "The training pairs."
    return [tuple(line.split("\t")) for line in train_bytes().decode().splitlines()[1:]]


def test_pairs():
    "The test pairs."
    lines = (OUT / "test.tsv").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")[2:]) for line in lines]


test_pairs.__test__ = False


def test_shape():
    "Two columns and four columns, no stray tabs, sizes as the manifest says."
    pairs, lines = train(), (OUT / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert all(len(pair) == 2 for pair in pairs) and len(pairs) == FACTS["train"]
    assert all(len(line.split("\t")) == 4 for line in lines) and len(lines) == FACTS["test"] >= 1500
    assert {"NA", "null", '"quoted'} <= {pair[0] for pair in test_pairs()}


def test_planted_counts():
    "The lesson's steps find what was planted."
    _, found = check.clean(train(), test_pairs())
    assert found == FACTS["found"]
    assert {k: found[k] for k in PLANNED} == PLANNED
    assert check.raw_counts(train()) == FACTS["raw"]


def test_rows():
    "The rows in the manifest hold what they should."
    pairs, planted = train(), FACTS["planted"]
    assert all(any("\u0301" in side for side in pairs[at]) for at in planted["stress mark"]["rows"])
    assert all(check.too_long(pairs[at]) for at in planted["over 40 words"]["rows"])
    assert all(check.lopsided(pairs[at]) for at in planted["length ratio"]["rows"])


def test_story():
    "What the lesson shows."
    kept, _ = check.clean(train(), test_pairs())
    facts = stats.summary(kept)
    english, russian = facts["English"], facts["Russian"]
    assert facts["Russian over English distinct words"] >= 1.8 and russian["beta"] > english["beta"]
    assert min(english["R2"], russian["R2"]) >= 0.99
    assert all(0.25 <= one["hapax share"] <= 0.5 for one in (english, russian))
    assert facts["OOV Russian"] >= 4 * facts["OOV English"]
    assert facts["random split leak"] >= 0.3
    assert 1.25 <= facts["pairs a distinct English sentence"] <= 1.6
    assert 0.15 <= facts["Tom"] <= 0.25 and 0.03 <= facts["Mary"] <= 0.06
    assert facts["most translations"][1] >= 12 and 25 <= facts["largest groups"][0] < 200


def test_size():
    "At most 2 MB in the wheel."
    assert sum((OUT / name).stat().st_size for name in ("train.tsv.xz", "test.tsv", "manifest.json")) <= 2e6


def test_hashes():
    "The files are those that the manifest describes."
    digest = {"train.tsv": train_bytes(), "test.tsv": (OUT / "test.tsv").read_bytes()}
    assert {name: hashlib.sha256(data).hexdigest() for name, data in digest.items()} == FACTS["sha256"]


@needs_pymorphy
def test_rebuild():
    "The sources and the seed give the same bytes."
    import build
    files = build.build()
    assert lzma.decompress(files["train.tsv.xz"]) == train_bytes()
    for name in ("test.tsv", "manifest.json", "CARD.md"):
        assert files[name] == (OUT / name).read_bytes()
