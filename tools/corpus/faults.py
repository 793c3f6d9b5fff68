"""Plant the faults that the lesson finds, each a known number of times."""
from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from check import normalize

HERE = Path(__file__).parent
LOOKALIKES = str.maketrans("aceopxyTHMKBCEAO", "асеорхуТНМКВСЕАО")
PLAN = {"guillemets": 55, "low quotes": 20, "curly quotes": 30, "left single": 10,
        "right single": 50, "en dash": 30, "hyphen as dash": 30, "ellipsis": 30,
        "no-break space": 15, "stress mark": 60, "decomposed": 20, "lookalike": 3}
DOUBLES = {"guillemets": 5, "hyphen as dash": 10, "no-break space": 5, "double space": 12,
           "outer space": 8}


@dataclass
class Row:
    "A training pair on its way to the file."
    en: str
    ru: str
    faults: list[str] = field(default_factory=list)

    @property
    def pair(self) -> tuple[str, str]:
        "Both sides."
        return self.en, self.ru


def stress_words() -> dict[str, str]:
    "Words with their stress, from faults/stress.txt."
    lines = (HERE / "faults/stress.txt").read_text(encoding="utf-8").split()
    return {unicodedata.normalize("NFC", w.replace("\u0301", "")): w for w in lines}


STRESS = stress_words()


def stressed(text: str) -> str:
    "The first word whose stress is known, marked."
    for word in re.findall(r"[А-Яа-яЁё]+", text):
        mark = STRESS.get(word.lower())
        if mark:
            mark = mark[0].upper() + mark[1:] if word[0].isupper() else mark
            return re.sub(rf"\b{word}\b", mark, text, count=1)
    return text


def quoted(text: str, left: str, right: str) -> str:
    "The one quotation of a text in other quotes."
    if text.count('"') != 2:
        return text
    return text.replace('"', left, 1).replace('"', right, 1)


def decompose(text: str) -> str:
    "The first й or ё as a letter and a mark."
    return re.sub("[йё]", lambda m: unicodedata.normalize("NFD", m[0]), text, count=1)


def lookalike(text: str) -> str:
    "One Latin letter of a name or word as its Cyrillic double."
    return re.sub(r"(?<=[a-z])[aceopxy]", lambda m: m[0].translate(LOOKALIKES), text, count=1)


EN = {"curly quotes": lambda t: quoted(t, "“", "”"),
      "left single": lambda t: re.sub(r"(?<=n)'(?=t\b)", "‘", t) if t.count("'") == 1 else t,
      "right single": lambda t: t.replace("'", "’") if t.count("'") == 1 else t,
      "lookalike": lookalike}
RU = {"guillemets": lambda t: quoted(t, "«", "»"), "low quotes": lambda t: quoted(t, "„", "“"),
      "en dash": lambda t: t.replace(" — ", " – "),
      "hyphen as dash": lambda t: t.replace(" — ", " - "),
      "ellipsis": lambda t: re.sub(r"(?<=[а-яё])\.+$", "…", t),
      "no-break space": lambda t: re.sub(r"(?<=[а-яё]) (?=[а-яё])", "\u00a0", t, count=1),
      "stress mark": stressed, "decomposed": decompose,
      "double space": lambda t: re.sub(r"(?<=\w) (?=\w)", "  ", t, count=1),
      "outer space": lambda t: t + " "}


def planted(row: Row, fault: str) -> Row | None:
    "The row with the fault, or nothing where it has no place for it."
    en = EN.get(fault, str)(row.en)
    ru = RU.get(fault, str)(row.ru)
    return Row(en, ru, [fault]) if (en, ru) != row.pair else None


def take(rows: list[Row], fault: str, count: int) -> int:
    "Plant a fault in the first `count` untouched rows that have a place for it."
    done = 0
    for at, row in enumerate(rows):
        if done == count:
            break
        if not row.faults and (new := planted(row, fault)):
            rows[at] = new
            done += 1
    if done < count:
        raise ValueError(f"only {done} places for {fault}, {count} wanted")
    return done


def doubled(rows: list[Row], fault: str, count: int) -> list[Row]:
    "Copies of untouched rows that differ from them by a fault only."
    copies = []
    for row in rows:
        if len(copies) == count:
            break
        if not row.faults and (new := planted(row, fault)) and normalize(new.ru) == row.ru:
            row.faults = ["has a double"]
            copies.append(Row(*new.pair, [fault, "duplicate"]))
    return copies


def plant(rows: list[Row], rng: random.Random) -> list[Row]:
    "All faults of the plan, in untouched rows."
    rng.shuffle(rows)
    for fault, count in PLAN.items():
        take(rows, fault, count)
    copies = [copy for fault, count in DOUBLES.items() for copy in doubled(rows, fault, count)]
    return rows + copies


LEAK_KINDS = {"case": lambda t: t[0].lower() + t[1:],
              "punctuation": lambda t: t[:-1] + "!" if t[-1] == "." else t,
              "spacing": lambda t: t[:-1] + " " + t[-1]}


def near_copy(pair: tuple[str, str], kind: str) -> tuple[str, str] | None:
    "A pair with the same fingerprints and other strings on both sides."
    if kind == "ё as е":
        new = LEAK_KINDS["punctuation"](pair[0]), pair[1].replace("ё", "е").replace("Ё", "Е")
    else:
        new = tuple(LEAK_KINDS[kind](side) for side in pair)
    return new if new[0] != pair[0] and new[1] != pair[1] else None
