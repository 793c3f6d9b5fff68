"""The bundled corpus: every planted fault is found, and the lesson's story holds."""
import hashlib
import importlib.util
import json
import lzma
import re
import sys
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tfs
from tfs import data

SAMPLE = Path(tfs.__file__).parent/"sample"
MANIFEST = json.loads((SAMPLE/"manifest.json").read_text(encoding="utf-8"))
WORD = re.compile(r"\w+")


@cache
def raw():
    return data.load_train("sample"), data.load_test("sample")


@cache
def prepared():
    "Everything that the lesson makes of the sample, by its own steps."
    train, test = raw()
    test = test.assign(en=test.en.map(data.normalize), ru=test.ru.map(data.normalize))
    pairs, dropped = data.clean(train)
    exact = pairs.en.isin(set(test.en)) | pairs.ru.isin(set(test.ru))
    kept, leaked = data.drop_leaks(pairs, test)
    return dict(test=test, clean=pairs, dropped=dropped, exact=exact, kept=kept, leaked=leaked,
                splits=data.split_by_groups(kept))


def test_joined_tables_are_cleaned():
    "A row number that stands twice confuses nothing."
    train = raw()[0][:500]
    double = pd.concat([train, train])
    kept, dropped = data.clean(double)
    assert list(kept.en) == list(data.clean(train)[0].en)
    assert len(kept) + len(dropped) == 1000


def words(column):
    return [WORD.findall(text.lower()) for text in column]


def growth(column, every=1000):
    "Words read and distinct words, as lesson 1 counts them."
    seen, read, points = set(), 0, []
    for n, sentence in enumerate(words(column), 1):
        read += len(sentence)
        seen.update(sentence)
        if n % every == 0 or n == len(column): points.append((read, len(seen)))
    return np.log(np.array(points)).T


def has_stress(text):
    "A stress mark that is still there after composing."
    return any(unicodedata.category(c) == "Mn" for c in unicodedata.normalize("NFC", text))


def decomposed(text):
    "й or ё written as two code points."
    return "и\u0306" in text or "е\u0308" in text


def test_size_and_rights():
    train, test = raw()
    assert MANIFEST["sources"]["hand-written training pairs"] >= 5_000
    assert len(train) >= 40_000 and len(test) >= 1_500
    assert sum(p.stat().st_size for p in SAMPLE.iterdir()) <= 2_000_000
    assert data.SAMPLE.licence == "CC0-1.0" and "CC0" in (SAMPLE/"CARD.md").read_text("utf-8")


@pytest.mark.parametrize("part", ["train", "test"])
def test_files_are_the_ones_that_were_built(part):
    text = lzma.open(SAMPLE/f"{part}.tsv.xz").read()
    assert hashlib.sha256(text).hexdigest() == MANIFEST["sha256"][f"{part}.tsv"]


def nine_digits(text):
    "Bytes whose numbers are rounded: from Python 3.12 on, a sum may end on another digit."
    return re.sub(rb"\d\.\d{10,}", lambda m: b"%.9f" % float(m[0]), text)


@pytest.mark.skipif(importlib.util.find_spec("pymorphy3") is None, reason="needs pymorphy3")
def test_the_sources_give_the_same_bytes(monkeypatch):
    folder = Path(__file__).parents[1]/"tools"/"corpus"
    monkeypatch.syspath_prepend(str(folder))
    for name in ("build", "check", "stats"): sys.modules.pop(name, None)
    import build
    for name, content in build.build().items():
        there = (SAMPLE/name).read_bytes()
        if name.endswith(".xz"): content, there = map(lzma.decompress, (content, there))
        if name == "manifest.json": content, there = map(nine_digits, (content, there))
        assert content == there, name


def test_faults_of_the_first_steps():
    found, p, train = MANIFEST["found"], prepared(), raw()[0]
    sides = [text for column in ("en", "ru") for text in train[column]]
    faults = data.find_faults(train.assign(en=train.en.map(data.normalize),
                                           ru=train.ru.map(data.normalize)))
    counts = {"changed by normalisation": sum(data.normalize(text) != text for text in sides),
              "duplicates": sum(p["dropped"].reason == "duplicates"),
              "leaks exact": sum(p["exact"]), "leaks by fingerprint": len(p["leaked"]),
              **faults.sum().to_dict()}
    assert counts == {name: found[name] for name in counts}
    assert found["Cyrillic in English"] == 3 + 1 and found["over 40 words"] == 5
    assert found["duplicates"] == 40
    assert found["leaks exact"] == 150 and found["leaks by fingerprint"] == 150 + 60


def test_good_pairs_that_a_length_filter_would_remove():
    pairs = prepared()["clean"]
    ratio = pairs.en.str.len() / pairs.ru.str.len()
    assert ((ratio > 3) | (ratio < 1/3)).sum() == MANIFEST["found"]["length ratio"] == 15


def test_marks_are_as_many_as_the_manifest_says():
    sides = [text for column in ("en", "ru") for text in raw()[0][column]]
    signs = Counter(c for text in sides for c in set(text))
    planted = MANIFEST["raw"]
    for mark in "«»„“”‘’–…\xa0": assert signs[mark] == planted[mark] > 0, mark
    assert planted["…"] == 30 and planted["\xa0"] == 20
    assert sum(has_stress(text) for text in sides) == planted["stress mark"] == 60
    assert sum(decomposed(text) for text in sides) == planted["decomposed"] == 20
    assert sum(" - " in text for text in sides) == planted["hyphen as dash"] == 40
    assert planted["compatibility"] == 10


def test_many_translations_of_one_sentence():
    pairs = prepared()["clean"]
    assert 1.25 <= len(pairs) / pairs.en.nunique() <= 1.6
    assert pairs.en.value_counts().iloc[0] >= 12
    labels = data.group_labels(pairs)
    stop = labels[(pairs.en == "Stop!").to_numpy()]
    assert len(set(stop)) == 1 and (labels == stop[0]).sum() >= 25


def test_default_characters():
    english = raw()[0].en
    assert 0.15 <= english.str.contains(r"\bTom\b").mean() <= 0.25
    assert 0.03 <= english.str.contains(r"\bMary\b").mean() <= 0.06
    russian = set(WORD.findall(" ".join(raw()[0].ru)))
    assert {"Том", "Тома", "Тому", "Томом", "Томе"} <= russian


def test_russian_needs_more_words_and_more_of_them_are_rare():
    train, valid = prepared()["splits"]
    counts = {side: Counter(w for s in words(train[side]) for w in s) for side in ("en", "ru")}
    assert len(counts["ru"]) >= 1.8 * len(counts["en"])
    for count in counts.values():
        assert 0.25 <= sum(n == 1 for n in count.values()) / len(count) <= 0.5
    size = min(30_000, len(train) // 8)
    unknown = {}
    for side, count in counts.items():
        known = {w for w, _ in count.most_common(size)}
        held_out = [w for s in words(valid[side]) for w in s]
        unknown[side] = sum(w not in known for w in held_out) / len(held_out)
    assert unknown["ru"] >= 4 * unknown["en"] > 0


def test_growth_follows_heaps_law():
    train, _ = prepared()["splits"]
    beta = {}
    for side in ("en", "ru"):
        read, seen = growth(train[side])
        beta[side] = np.polyfit(read, seen, 1)[0]
        assert np.corrcoef(read, seen)[0, 1] ** 2 >= 0.99
    assert beta["ru"] > beta["en"]


def test_a_random_split_leaks_and_groups_do_not():
    kept, (train, valid) = prepared()["kept"], prepared()["splits"]
    drawn = kept.sample(frac=0.02, random_state=42)
    assert data.leak_rate(kept.drop(drawn.index), drawn) >= 0.3
    assert data.leak_rate(train, valid) == 0
    assert not any(data.find_leaks(train, prepared()["test"]))


def test_every_row_is_accounted_for():
    p, train = prepared(), raw()[0]
    parts = [*p["splits"], p["leaked"], p["dropped"]]
    assert sorted(i for part in parts for i in part.index) == list(train.index)


def test_sentences_that_trip_readers_stay_sentences():
    english = set(raw()[1].en)
    assert {"NA", "null"} <= english
    assert any(text.startswith('"') and text.count('"') == 1 for text in english)
    lines = lzma.open(SAMPLE/"test.tsv.xz", "rt", encoding="utf-8", newline="\n").read().split("\n")
    assert all(line.count("\t") == 3 and line.startswith("eng\trus\t") for line in lines[:-1])


def test_its_tokenizer_needs_fewer_russian_tokens_than_gpt4o():
    from tfs.bpe import build_tokenizer
    from tfs.pretrained import TokenizerUnavailable, load_tokenizer
    try: gpt4o = load_tokenizer("gpt4o")
    except TokenizerUnavailable as why: pytest.skip(str(why))
    train, valid = prepared()["splits"]
    ours = build_tokenizer(train.en.tolist() + train.ru.tolist())
    def cost(tokenizer, side):
        return sum(map(len, tokenizer.encode_batch(valid[side].tolist(), add_special_tokens=False)))
    assert cost(ours, "ru") < cost(gpt4o, "ru")
    assert cost(ours, "en") >= cost(gpt4o, "en")
