"""Read the lexicon files into small records, each with the weight that its rank gives it."""
from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ZIPF_SHIFT = 4
ZIPF_POWER = 1.6


def rows(path: Path) -> list[dict[str, str]]:
    "The lines of a tab-separated file with a header, as dictionaries; no quoting."
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def zipf(rank: int, shift: float = ZIPF_SHIFT, power: float = ZIPF_POWER) -> float:
    "The weight of the entry at this rank (0 is the most frequent): Zipf–Mandelbrot."
    return 1 / (rank + shift) ** power


DIMINUTIVES = set("""домик братик сестрёнка мамочка сынок городок топорик цветочек кустик песенка
    стишок кусочек колечко серёжка листок сестричка штука садик мячик кисточка сторож""".split())


@dataclass(eq=False)
class Noun:
    "A noun on both sides; `twins` share its English, `doubles` its Russian."
    en: str
    en_plural: str
    ru: str
    ru_plural: str
    classes: tuple[str, ...]
    weight: float
    twins: list[Noun] = field(default_factory=list)
    doubles: list[Noun] = field(default_factory=list)

    @property
    def mass(self) -> bool:
        "Whether English neither counts it nor puts a/an before it."
        return self.en_plural == "-"

    @property
    def pair(self) -> bool:
        "Whether English has it in the plural only (scissors)."
        return self.en_plural == "pt"

    @property
    def countable(self) -> bool:
        "Whether both sides can count it."
        return not self.mass and not self.pair and self.ru_plural not in ("-", "pt")


@dataclass(eq=False)
class Verb:
    "A verb phrase with both aspects, its government, and what may be its subject."
    en: str
    forms: tuple[str, str, str]
    impf: str
    perf: str
    frame: str
    subject: str
    notes: frozenset[str]
    weight: float


@dataclass(eq=False)
class Adjective:
    "An adjective with the noun classes that it fits."
    en: str
    comparative: str
    ru: str
    classes: frozenset[str]
    kind: str
    weight: float


def _noun(row: dict[str, str], rank: int) -> Noun:
    "One line of nouns.tsv."
    classes = tuple((row["classes"] or "thing").split(","))
    return Noun(row["en"], row["en_plural"] or "", row["ru"], row["ru_plural"] or "", classes,
                zipf(rank))


def load_nouns(folder: Path = HERE / "lexicon") -> list[Noun]:
    "Both noun files, with twins and doubles linked."
    table = rows(folder / "nouns.tsv") + rows(folder / "nouns-extra.tsv")
    nouns = [_noun(row, rank) for rank, row in enumerate(table)]
    by_en, by_ru = defaultdict(list), defaultdict(list)
    for noun in nouns:
        by_en[noun.en, noun.classes[0]].append(noun)
        by_ru[noun.ru, noun.classes[0]].append(noun)
    for noun in nouns:
        noun.twins = [n for n in by_en[noun.en, noun.classes[0]] if n is not noun
                      and n.ru not in DIMINUTIVES]
        noun.doubles = [n for n in by_ru[noun.ru, noun.classes[0]] if n is not noun]
    return nouns


def load_verbs(folder: Path = HERE / "lexicon") -> list[Verb]:
    "verbs.tsv."
    return [Verb(row["en"], (row["en_past"], row["en_pp"], row["en_ing"]), row["ru_impf"],
                 row["ru_perf"], row["frame"], row["subject"], frozenset(row["note"].split()),
                 zipf(rank, 12, 1.4)) for rank, row in enumerate(rows(folder / "verbs.tsv"))]


def load_adjectives(folder: Path = HERE / "lexicon") -> list[Adjective]:
    "adjectives.tsv; relational and comparative columns as they are."
    return [Adjective(row["en"], row["en_comparative"], row["ru"],
                      frozenset(row["classes"].split(",")), row["kind"], zipf(rank, 6, 1.6))
            for rank, row in enumerate(rows(folder / "adjectives.tsv"))]
