"""The lesson's own cleaning steps, in their order, as counts: what a manifest has to agree with."""
from __future__ import annotations

import re
import unicodedata

QUOTES = str.maketrans({"«": '"', "»": '"', "„": '"', "“": '"', "”": '"',
                        "‘": "'", "’": "'", "–": "—"})
CYRILLIC = re.compile("[а-яё]", re.IGNORECASE)
MARKS = "«»„“”‘’–…\u00a0"
Pair = tuple[str, str]


def normalize(text: str) -> str:
    "NFKC, no stray marks, straight quotes, one dash, single spaces."
    text = unicodedata.normalize("NFKC", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    text = text.translate(QUOTES).replace(" - ", " — ")
    return re.sub(r"\s+", " ", text).strip()


def fingerprint(text: str) -> str:
    "Only letters and digits, caseless, ё as е."
    return "".join(c for c in text.casefold().replace("ё", "е") if c.isalnum())


def too_long(pair: Pair) -> bool:
    "Over 40 words on either side."
    return any(len(side.split()) > 40 for side in pair)


def lopsided(pair: Pair) -> bool:
    "One side more than three times as long as the other, in characters."
    short, long = sorted(map(len, pair))
    return long > 3 * short


def leaks(pairs: list[Pair], test: list[Pair], key) -> list[Pair]:
    "The pairs with a side whose key is that of a test sentence in the same language."
    seen = [{key(pair[side]) for pair in test} for side in (0, 1)]
    return [p for p in pairs if key(p[0]) in seen[0] or key(p[1]) in seen[1]]


def compatibility(text: str) -> bool:
    "Whether it has a compatibility character other than … and the no-break space."
    return any(unicodedata.decomposition(c).startswith("<") for c in text if c not in "…\u00a0")


def raw_counts(pairs: list[Pair]) -> dict[str, int]:
    "Sentences with each typographic fault, before cleaning."
    texts = [text for pair in pairs for text in pair]
    counts = {mark: sum(mark in t for t in texts) for mark in MARKS}
    counts["stress mark"] = sum("\u0301" in t for t in texts)
    counts["decomposed"] = sum(unicodedata.normalize("NFC", t) != t for t in texts)
    counts["hyphen as dash"] = sum(" - " in t for t in texts)
    counts["compatibility"] = sum(map(compatibility, texts))
    loose = lambda t: t != " ".join(t.split(" ")).strip() or "  " in t
    counts["outer or double space"] = sum(map(loose, texts))
    return counts


def clean(pairs: list[Pair], test: list[Pair]) -> tuple[list[Pair], dict[str, int]]:
    "The cleaned training pairs and what each step found."
    found = {"changed by normalisation": sum(normalize(t) != t for pair in pairs for t in pair)}
    pairs = [(normalize(en), normalize(ru)) for en, ru in pairs]
    found["Cyrillic in English"] = sum(bool(CYRILLIC.search(en)) for en, _ in pairs)
    found["no Cyrillic in Russian"] = sum(not CYRILLIC.search(ru) for _, ru in pairs)
    found["over 40 words"] = sum(map(too_long, pairs))
    pairs = [p for p in pairs
             if not CYRILLIC.search(p[0]) and CYRILLIC.search(p[1]) and not too_long(p)]
    unique = list(dict.fromkeys(pairs))
    found["duplicates"] = len(pairs) - len(unique)
    found["length ratio"] = sum(map(lopsided, unique))
    test = [(normalize(en), normalize(ru)) for en, ru in test]
    found["leaks exact"] = len(leaks(unique, test, str))
    gone = set(leaks(unique, test, fingerprint))
    found["leaks by fingerprint"] = len(gone)
    return [p for p in unique if p not in gone], found
