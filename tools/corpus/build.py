"""Rebuild the sample corpus from its sources: `python build.py [output folder]`.

Same sources, same seed, same pymorphy3 dictionary: the same bytes (compared decompressed).
"""
from __future__ import annotations

import hashlib
import json
import lzma
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

import card
import faults
import stats
from check import (
    CYRILLIC,
    Pair,
    clean,
    fingerprint,
    leaks,
    lopsided,
    normalize,
    raw_counts,
    too_long,
)
from faults import Row
from grammar import Grammar

HERE = Path(__file__).parent
SEED, GENERATED, TEST_SIZE = 42, 35_000, 1_600
EXACT_LEAKS, NEAR_LEAKS, LOPSIDED = 150, 60, 15
ENGLISH_OK = re.compile(r"[ -~]+")
RUSSIAN_OK = re.compile(r"[ А-Яа-яЁё0-9.,!?:;\"'()%—+/-]+")


def read_pairs(path: Path) -> list[Pair]:
    "The pairs of a file without a header."
    lines = path.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line]


def handwritten(test: bool) -> list[Pair]:
    "All hand-written pairs, of the test files or of the others, once each."
    files = [f for f in sorted((HERE / "handwritten").glob("*.tsv"))
             if f.stem.endswith("-test") == test]
    return list(dict.fromkeys(pair for f in files for pair in read_pairs(f)))


def extra(name: str) -> list[Pair]:
    "The pairs written for one kind of fault."
    return read_pairs(HERE / "faults" / f"{name}.tsv")


def canonical(pair: Pair) -> bool:
    "Whether a pair is free of every fault that is planted later."
    return (all(normalize(t) == t for t in pair) and bool(ENGLISH_OK.fullmatch(pair[0]))
            and bool(RUSSIAN_OK.fullmatch(pair[1])) and bool(CYRILLIC.search(pair[1]))
            and not too_long(pair) and all(map(fingerprint, pair)))


def generate(count: int, seed: int) -> list[Pair]:
    "That many different canonical pairs from the grammar."
    grammar, pairs = Grammar(seed), {}
    while len(pairs) < count:
        for pair in grammar.group():
            if canonical(pair) and not lopsided(pair):
                pairs.setdefault(pair)
    return list(pairs)[:count]


def split_off(pairs: list[Pair], rng: random.Random) -> tuple[list[Pair], list[Pair], list[Pair]]:
    "Test pairs from the grammar, training pairs that leak into them exactly, and the lone ones."
    by = [defaultdict(set), defaultdict(set)]
    for pair in pairs:
        for at in (0, 1):
            by[at][pair[at]].add(pair)
    order, chosen, leaked, lone, touched = list(pairs), [], set(), [], set()
    rng.shuffle(order)
    for pair in order:
        near = (by[0][pair[0]] | by[1][pair[1]]) - {pair}
        if touched & (near | {pair}):
            continue
        if not near and len(lone) < TEST_SIZE:
            lone.append(pair)
        elif 0 < len(near) <= min(3, EXACT_LEAKS - len(leaked)):
            chosen.append(pair)
            leaked |= near
            touched |= near | {pair}
    return chosen, sorted(leaked), lone


def near_leaks(lone: list[Pair]) -> dict[Pair, tuple[Pair, str]]:
    "Near copies of lone test pairs: fifteen of each kind."
    kinds = ["case", "ё as е", "punctuation", "spacing"]
    quota, found = Counter({kind: NEAR_LEAKS // len(kinds) for kind in kinds}), {}
    for at, pair in enumerate(lone):
        for kind in kinds[at % 4:] + kinds[:at % 4]:
            copy = faults.near_copy(pair, kind) if quota[kind] else None
            if copy and not lopsided(copy):
                found[copy] = (pair, kind)
                quota[kind] -= 1
                break
    return found


def make_test(generated: list[Pair], rng: random.Random):
    "The test set, the exact leaks and the near leaks."
    written = [p for p in handwritten(True) if not lopsided(p)] + extra("special-test")
    chosen, leaked, lone = split_off(generated, rng)
    missing = TEST_SIZE - len(written) - len(chosen)
    lone = [p for p in lone if p not in leaks(lone, written + chosen, fingerprint)][:missing]
    test = written + chosen + lone
    rng.shuffle(test)
    return test, leaked, near_leaks(lone)


def lopsided_pairs(written: list[Pair]) -> list[Pair]:
    "Fifteen good pairs that a length-ratio filter would remove: hand-written ones first."
    own = [p for p in written if lopsided(p)]
    return list(dict.fromkeys(own + [p for p in extra("lopsided") if lopsided(p)]))[:LOPSIDED]


def training_rows(generated, test, leaked, near, rng) -> list[Row]:
    "All rows of the training file, faults planted, not yet shuffled."
    written = handwritten(False)
    odd = lopsided_pairs(written)
    pool = list(dict.fromkeys([p for p in written if canonical(p) and not lopsided(p)] + generated))
    gone = set(leaks(pool, test, fingerprint)) | set(odd)
    rows = faults.plant([Row(*p) for p in pool if p not in gone], rng)
    rows += [Row(*p, ["length ratio"]) for p in odd]
    rows += [Row(*p, ["exact leak"]) for p in leaked]
    rows += [Row(*p, ["near leak", f"near leak: {kind}"]) for p, (_, kind) in near.items()]
    rows += [Row(*p, ["over 40 words"]) for p in extra("long")]
    rows += [Row(*p, ["compatibility"]) for p in extra("compatibility")]
    rows.append(Row("Показать перевод", "Показать перевод", ["interface text"]))
    rng.shuffle(rows)
    return rows


def manifest(rows: list[Row], test: list[Pair], found: dict, text: dict[str, bytes]) -> dict:
    "What was planted where, and what the lesson's steps find."
    places = defaultdict(list)
    for at, row in enumerate(rows):
        for fault in row.faults:
            if fault != "has a double":
                places[fault].append(at)
    pairs = [row.pair for row in rows]
    planted = {fault: {"pairs": len(at), "rows": at} for fault, at in sorted(places.items())}
    return {"seed": SEED, "train": len(rows), "test": len(test), "found": found,
            "raw": raw_counts(pairs), "planted": planted,
            "note": "Row numbers count from 0 below the header. The Cyrillic filter catches the "
                    "lookalike letters and the interface text together. `leaks by fingerprint` "
                    "includes the exact ones.",
            "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in text.items()}}


def expect(rows: list[Row], found: dict, raw: dict) -> None:
    "Every count is what was planned."
    exact = {"Cyrillic in English": 4, "no Cyrillic in Russian": 0, "over 40 words": 5,
             "duplicates": 40, "length ratio": LOPSIDED, "leaks exact": EXACT_LEAKS,
             "leaks by fingerprint": EXACT_LEAKS + NEAR_LEAKS}
    signs = {"stress mark": 60, "decomposed": 20, "hyphen as dash": 40, "…": 30, "\u00a0": 20,
             "«": 60, "»": 60, "„": 20, "“": 50, "”": 30, "‘": 10, "’": 50, "–": 30,
             "compatibility": 10,
             "outer or double space": 20}
    wrong = {k: (found[k], v) for k, v in exact.items() if found[k] != v}
    wrong |= {k: (raw[k], v) for k, v in signs.items() if raw[k] != v}
    if wrong:
        raise SystemExit(f"counts differ (found, planned): {wrong}")


def compress(data: bytes) -> bytes:
    "xz without a timestamp; the decompressed bytes are what tests compare."
    return lzma.compress(data, preset=9 | lzma.PRESET_EXTREME)


def as_train(rows: list[Row]) -> bytes:
    "The training file: a header and two columns."
    lines = ["english\tnon_english"] + [f"{row.en}\t{row.ru}" for row in rows]
    return ("\n".join(lines) + "\n").encode()


def as_test(test: list[Pair]) -> bytes:
    "The test file: four columns, no header, no quoting, as in the Tatoeba Challenge."
    return "".join(f"eng\trus\t{en}\t{ru}\n" for en, ru in test).encode()


def build() -> dict[str, bytes]:
    "Every output file as bytes."
    rng = random.Random(SEED)
    generated = generate(GENERATED + TEST_SIZE, SEED)
    test, leaked, near = make_test(generated, rng)
    rows = training_rows(generated, test, leaked, near, rng)
    cleaned, found = clean([row.pair for row in rows], test)
    expect(rows, found, raw_counts([row.pair for row in rows]))
    text = {"train.tsv": as_train(rows), "test.tsv": as_test(test)}
    facts = manifest(rows, test, found, text)
    facts["statistics"] = stats.summary(cleaned)
    facts["sources"] = {"hand-written training pairs": len(handwritten(False)),
                        "hand-written test pairs": len(handwritten(True)),
                        "lexicon entries": card.lexicon_sizes(), "patterns": card.pattern_count()}
    data = json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n"
    return {"train.tsv.xz": compress(text["train.tsv"]), "test.tsv.xz": compress(text["test.tsv"]),
            "manifest.json": data, "CARD.md": card.render(facts).encode()}


def main(folder: str = str(HERE.parents[1] / "tfs" / "sample")) -> None:
    "Write the files into the package and say how large they are."
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for name, data in build().items():
        (target / name).write_bytes(data)
        print(f"{name:14} {len(data):>9,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:2])
