"""Patterns: a line of patterns.tsv becomes sentence pairs.

A pattern has slots (`v=vp(vol,perf) s=subj(v)`), English templates and Russian templates, several
of each parted by ` | `. `{s}` shows a slot, `{n.acc.pl}` a form of it, `{want>s.pres}` inflects a
fixed word to agree with a slot. Pairs that share a side come from one filling: other faces, other
templates.
"""
from __future__ import annotations

import random
import re
from dataclasses import dataclass
from itertools import product

import english
import lexicon
import ru_text
import russian
from phrase import Count, Doing, Face, Person, Plain, Thing, english_verb
from slots import SUBJECTS, Chooser, Weighted

SLOT = re.compile(r"(\w+)=(\w+)\(([^)]*)\)")
HOLE = re.compile(r"\{([^}>]+>)?([^}]+)\}")
NEVER = {"delicious", "tasty", "appetizing", "tasteless", "homemade", "rare", "last", "next",
         "wrong"}


@dataclass
class Pattern:
    "One line of patterns.tsv."
    weight: float
    slots: list[tuple[str, str, str]]
    english: list[str]
    russian: list[str]
    line: int


def load_patterns(path=lexicon.HERE / "patterns.tsv") -> list[Pattern]:
    "All patterns, in order."
    return [Pattern(float(row["weight"]), SLOT.findall(row["slots"]), row["english"].split(" | "),
                    row["russian"].split(" | "), at)
            for at, row in enumerate(lexicon.rows(path), 2)]


class Grammar:
    "Makes groups of pairs from patterns."

    def __init__(self, seed: int, extra: float = 0.45):
        self.rng, self.extra = random.Random(seed), extra
        self.chooser, self.patterns = Chooser(self.rng), load_patterns()
        self.weighted = Weighted(self.patterns, [p.weight for p in self.patterns])

    def group(self, pattern: Pattern | None = None) -> list[tuple[str, str]]:
        "One filling of one pattern as one or more pairs."
        pattern = pattern or self.weighted.draw(self.rng)
        slots = self.fill(pattern)
        count = self.how_many()
        first = self.english(self.rng.choice(pattern.english), slots)
        pairs = [(first, ru) for ru in self.russians(pattern, slots, count)]
        return pairs + self.other_english(pattern, slots, first, pairs[0][1])

    def how_many(self) -> int:
        "How many translations to look for."
        draw = self.rng.random()
        return 1 if draw > self.extra else 2 if draw > self.extra * 0.35 else 3 + int(draw < 0.04)

    def other_english(self, pattern, slots, first: str, ru: str) -> list[tuple[str, str]]:
        "Sometimes a second English sentence for the first Russian one."
        if self.rng.random() > 0.22:
            return []
        for value in slots.values():
            value.twist = len(value.twists) - 1
            for inner in getattr(value, "things", {}).values():
                inner.twist = len(inner.twists) - 1
        texts = {self.english(t, slots): 0 for t in pattern.english}
        others = [t for t in texts if t != first]
        return [(self.rng.choice(others), ru)] if others else []

    def russians(self, pattern, slots, count: int) -> list[str]:
        "Up to `count` different Russian sentences for one filling."
        values = [v for v in slots.values()] + [t for v in slots.values()
                                                for t in getattr(v, "things", {}).values()]
        turns = list(product(*[range(len(v.faces)) for v in values]))[:12]
        options = [(turn, text) for turn in turns for text in pattern.russian]
        start = options.pop(self.first_choice(len(pattern.russian)))
        self.rng.shuffle(options)
        found = []
        for turn, template in [start, *options]:
            for value, face in zip(values, turn):
                value.turn = face
            text = self.russian(template, slots)
            if text not in found:
                found.append(text)
            if len(found) == count:
                break
        return found

    def first_choice(self, templates: int) -> int:
        "Any template for the first face."
        return self.rng.randrange(templates)

    def fill(self, pattern: Pattern) -> dict:
        "The slots of a pattern, filled from left to right."
        slots: dict = {}
        for name, kind, args in pattern.slots:
            slots[name] = getattr(self, "slot_" + kind)(args, slots)
        return slots

    def slot_vp(self, args, slots):
        "A verb phrase; its subject slot comes next and gives it its objects."
        return self.chooser.verb(args)

    def slot_subj(self, args, slots):
        "A subject: of a verb phrase, of the kinds listed, or anyone."
        verb, _, kinds = args.partition(";")
        if verb:
            if not kinds or slots[verb].verb.subject not in ("person", "he", "she"):
                return self.chooser.subject_of(slots[verb])
            who = self.pick_person(kinds, slots)
            self.chooser.fill(slots[verb], who)
            return who
        return self.pick_person(kinds, slots) if kinds else self.other(SUBJECTS, slots)

    def pick_person(self, kinds: str, slots):
        "A person of one of the kinds: `third` leaves out I, you and we; -X leaves out X."
        words = kinds.split("|")
        if words[0] in ("third", "all"):
            gone = {"I", "you", "we"} if words[0] == "third" else set()
            gone |= {w[1:] for w in words[1:]}
            table = {k: v for k, v in SUBJECTS.items() if k not in gone}
        elif words[0] == "called":
            table = {"Tom": 30, "Mary": 5, "name": 12, "kin": 9, "job": 8}
        else:
            table = {k: SUBJECTS[k] for k in words}
        return self.other(table, slots)

    def other(self, table, slots):
        "A person that no other slot has."
        things = (t for v in slots.values() for t in getattr(v, "things", {}).values())
        values = [*slots.values(), *things]
        taken = [v.en("nom") for v in values if isinstance(v, Person)]
        while True:
            who = self.chooser.someone(table)
            if who.en("nom") not in taken:
                return who

    def slot_noun(self, args, slots):
        "A noun phrase that no other slot has."
        while True:
            thing = self.chooser.thing(args)
            nouns = [v.noun.en for v in slots.values() if isinstance(v, Thing)]
            if thing.noun.en not in nouns:
                return thing

    def slot_job(self, args, slots):
        "A profession that suits the subject's gender."
        sex = slots[args].face.sex if slots[args].face.kind != "pron" or \
            slots[args].person == 3 else "m"
        while True:
            thing = self.chooser.thing("profession;count")
            same = [thing.noun, *thing.noun.twins]
            fit = [n for n in same if russian.gender(n.ru) == sex] or \
                ([thing.noun] if sex == "f" else [])
            if fit:
                thing = Thing(fit[0])
                thing.faces = thing.faces[:1]
                return thing

    def slot_num(self, args, slots):
        "A number between two."
        low, _, high = args.partition("-")
        return Count(self.rng.randint(int(low), int(high)))

    def slot_few(self, args, slots):
        "A small number, small ones more often."
        return Count(self.rng.choice([2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 10, 12]))

    def slot_round(self, args, slots):
        "A round price or distance."
        return Count(self.rng.choice([10, 20, 30, 40, 50, 60, 100, 200, 300, 500, 1000, 2000,
                                      15, 25]))

    def slot_time(self, args, slots):
        "A time of one kind."
        table = [r for r in self.chooser.tables["times"] if r["kind"] == args]
        row = self.chooser.weighted(("time", args), lambda: [
            (r, lexicon.zipf(i, 4, 1)) for i, r in enumerate(table)]).draw(self.rng)
        return Plain(row["en"], row["ru"])

    def slot_field(self, args, slots):
        "A word of a small field, with its case forms on the Russian side."
        table = [r for r in self.chooser.tables["fields"] if r["kind"] == args]
        row = self.chooser.weighted(("field", args), lambda: [
            (r, lexicon.zipf(i, 4, 0.8)) for i, r in enumerate(table)]).draw(self.rng)
        if args in ("weekday", "month", "season"):
            forms = {case: russian.noun(row["ru"], case) for case in russian.CASES}
            forms["datpl"] = russian.noun(row["ru"], "dat", True) if args == "weekday" else ""
            value = Plain(row["en"], forms)
            value.faces = [Face(row["ru"], 3, russian.gender(row["ru"]))]
            return value
        if args == "color":
            return Plain(row["en"], {"lemma": row["ru"]})
        if args == "tongue":
            return Plain(row["en"], {case: russian.adjective(row["ru"], case, "m", False, False)
                                     for case in russian.CASES})
        return Plain(row["en"], row["ru"])

    def slot_nation(self, args, slots):
        "Someone's nationality, by the gender of the subject."
        at = "mf".index(slots[args].face.sex)
        table = [r for r in self.chooser.tables["fields"] if r["kind"] == "nation"]
        row = self.rng.choice(table)
        def pick(text):
            return text.split("/")[min(at, text.count("/"))]
        return Plain("a " * (row["en"] != "Russian") + pick(row["en"]), pick(row["ru"]))

    def slot_town(self, args, slots):
        "A city or a country."
        return self.chooser.town(args.split(","))

    def slot_loc(self, args, slots):
        "A place with its prepositions."
        return self.chooser.locative()

    def slot_adjof(self, args, slots):
        "An adjective for the noun in a slot, or for `person`, of some kinds."
        name, _, kinds = args.partition(";")
        noun = slots[name].noun if name in slots else self.chooser.noun("=man")
        while not (found := self.chooser.adjective(noun, kinds)) or found.en in NEVER:
            kinds = kinds if found else "size|age|quality|colour"
        return Plain(found.en, {"lemma": found.ru})

    def slot_compar(self, args, slots):
        "A comparative."
        return self.slot_field("compar", slots)

    def slot_person(self, args, slots):
        "man or woman, boy or girl, by the gender of a slot."
        sex = slots[args].face.sex
        return Thing(self.chooser.noun({"m": "=man|boy|person#человек", "f": "=woman|girl"}[sex]))

    def slot_last(self, args, slots):
        "A last name."
        table = [r for r in lexicon.rows(lexicon.HERE / "lexicon/names.tsv")
                 if r["kind"] == "last" and r["gender"] == args]
        row = self.rng.choice(table)
        return Plain(row["en"], row["ru"])

    def slot_at(self, args, slots):
        "One of the named places."
        return self.chooser.place_named(args)

    def slot_state(self, args, slots):
        "A state that someone can be in, one of those named if any are."
        table = [r for r in self.chooser.tables["states"] if not args or r["en"] in args.split("|")]
        make = lambda: [(r, lexicon.zipf(i, 6, 0.9)) for i, r in enumerate(table)]
        row = self.chooser.weighted(("state", args), make).draw(self.rng)
        return State(row["en"], row["ru"], row["kind"])

    def english(self, template: str, slots: dict) -> str:
        "A finished English sentence."
        def show(match):
            word, name, ops = split_hole(match)
            if word:
                return english_verb(word, ops[0] if ops else "pres", slots[name])
            value = slots[name]
            if isinstance(value, Doing):
                who = slots[ops[1]] if len(ops) > 1 else slots["s"]
                return value.en(ops[0], who)
            return value.en(*ops)
        return english.polish(HOLE.sub(show, template))

    def russian(self, template: str, slots: dict) -> str:
        "A finished Russian sentence."
        def show(match):
            word, name, ops = split_hole(match)
            if word:
                return agree(word, slots[name], ops)
            value = slots[name]
            if isinstance(value, Doing):
                return value.ru(ops[0], (slots[ops[1]] if len(ops) > 1 else slots["s"]).face)
            if isinstance(value, State):
                return value.clause(slots[ops[0]], ops[1], "pro" in ops)
            if isinstance(value, Plain) and "lemma" in value.forms:
                return agree(value.forms["lemma"], slots[ops[1]], [ops[0]])
            if isinstance(value, Count) and ops and ops[0] == "ordn":
                return ru_text.ordinal(value.n, slots[ops[1]].face.sex)
            if isinstance(value, Count) and len(ops) and ops[0] == "of":
                return value.counted(slots[ops[1]], ops[2] if len(ops) > 2 else "nom")
            return value.ru(*ops)
        return ru_text.polish(HOLE.sub(show, template))


class State(Plain):
    "tired, busy, cold: a whole predicate on the Russian side."

    def __init__(self, en: str, lemma: str, kind: str):
        super().__init__(en, lemma)
        self.lemma, self.kind = lemma, kind

    def clause(self, who, tense: str, pro: bool = False) -> str:
        "The clause about `who` (or a pronoun) in a tense: pres or past."
        pros = ["pro"] if pro else []
        face, subject = who.face, who.ru("nom", *pros)
        was = russian.verb("быть", "past", 3, face.sex, face.many) + " " if tense == "past" else ""
        if self.kind == "dat":
            return f"{who.ru('dat', *pros)} {'было ' if tense == 'past' else ''}{self.lemma}"
        first, _, rest = self.lemma.partition(" ")
        if self.kind == "pres" and first == "не":
            first, _, rest = rest.partition(" ")
            subject += " не"
        words = {"past": lambda: russian.verb(first, "past", 3, face.sex, face.many, "perf"),
                 "pres": lambda: russian.verb(first, "pres" if tense == "pres" else "past",
                                              face.person, face.sex, face.many, "impf"),
                 "short": lambda: was + russian.short(first, face.sex, face.many),
                 "part": lambda: was + russian.participle(first, face.sex, face.many),
                 "one": lambda: was + russian.short("один", face.sex, face.many),
                 "long": lambda: was + russian.adjective(
                     first, "ins" if tense == "past" else "nom", face.sex, face.many, True),
                 "adv": lambda: was + first}
        return f"{subject} {words[self.kind]()} {rest}".strip()


def split_hole(match) -> tuple[str, str, list[str]]:
    "The fixed word, the slot's name and the operations of a hole."
    word = match[1][:-1] if match[1] else ""
    name, *ops = match[2].split(".")
    return word, name, ops


def agree(word: str, value, ops: list[str]) -> str:
    "A fixed Russian word that agrees with a slot: verb form, short or full adjective."
    face = value.face
    if ops and ops[0] in ("past", "pres", "fut", "impr"):
        head, _, rest = word.partition(" ")
        aspect = "perf" if ops[0] == "fut" and head != "быть" else None
        verb = russian.verb(head, ops[0], face.person, face.sex, face.many, aspect)
        return f"{verb} {rest}".strip()
    if ops and ops[0] == "short":
        return russian.short(word, face.sex, face.many)
    if ops and ops[0] == "part":
        return russian.participle(word, face.sex, face.many)
    case = next((op for op in ops if op in russian.CASES), "nom")
    living = face.kind != "noun" or russian.animate(face.lemma, face.fixed)
    return russian.adjective(word, case, face.sex, face.many or "pl" in ops, living)
