"""Choose what fills a slot: weighted by rank, filtered by what makes sense."""
from __future__ import annotations

import random
from bisect import bisect
from itertools import accumulate

import lexicon
import russian
from phrase import Doing, Face, Person, Plain, Thing

PRONOUNS = {
    "I": (("I", "me", "my"), [Face("я", 1, "m", False, "pron"), Face("я", 1, "f", False, "pron")],
          1, False),
    "you": (("you", "you", "your"), [Face("ты", 2, "m", False, "pron"),
                                     Face("вы", 2, "m", True, "pron"),
                                     Face("ты", 2, "f", False, "pron")], 2, False),
    "he": (("he", "him", "his"), [Face("он", 3, "m", False, "pron")], 3, False),
    "she": (("she", "her", "her"), [Face("она", 3, "f", False, "pron")], 3, False),
    "we": (("we", "us", "our"), [Face("мы", 1, "m", True, "pron")], 1, True),
    "they": (("they", "them", "their"), [Face("они", 3, "m", True, "pron")], 3, True)}
SUBJECTS = {"Tom": 28.5, "I": 13, "he": 11, "she": 9, "you": 8, "we": 6, "they": 6, "Mary": 4.7,
            "name": 7, "kin": 8, "job": 6}
OBJECTS = {"Tom": 22, "I": 14, "he": 13, "she": 12, "you": 6, "we": 6, "they": 9, "Mary": 3.5,
           "name": 6, "kin": 6, "job": 5}
PLAIN_KIN = set("""mother father brother sister son daughter wife husband grandmother grandfather
    uncle aunt cousin grandson granddaughter nephew niece mom dad stepmother stepfather
    mother-in-law father-in-law son-in-law daughter-in-law relative grandma""".split())
THINGS = frozenset("""household container tool toy kitchenware furniture device clothing footwear
    jewel""".split())


PAIRED = set("""glove mitten sock stocking earring skate ski shoe boot slipper sneaker sandal
    moccasin clog bead freckle eyelash dimple""".split())
PAIRED |= {"cuff link", "felt boot", "flip-flop", "ballet shoe"}
ODD = {"cannon", "bomb", "underpants", "bra", "cancer", "word combination", "orphanage", "crossing",
       "maternity hospital", "kolobok", "thing", "heel", "circus ring", "pole", "skirt chaser"}


class Weighted:
    "Draw from a list by weight."

    def __init__(self, items: list, weights: list[float]):
        self.items, self.cumulative = items, list(accumulate(weights))

    def draw(self, rng: random.Random):
        "One item."
        at = bisect(self.cumulative, rng.random() * self.cumulative[-1])
        return self.items[min(at, len(self.items) - 1)]


class Chooser:
    "Fills slots from the lexicon."

    def __init__(self, rng: random.Random):
        self.rng, self.nouns, self.cache = rng, lexicon.load_nouns(), {}
        self.verbs, self.adjectives = lexicon.load_verbs(), lexicon.load_adjectives()
        self.named = [row for row in lexicon.rows(lexicon.HERE / "lexicon/names.tsv")
                      if row.get("kind", "first") != "last"]
        self.places = lexicon.rows(lexicon.HERE / "lexicon/places.tsv")
        self.tables = {name: lexicon.rows(lexicon.HERE / f"lexicon/{name}.tsv")
                       for name in ("locatives", "times", "states", "fields")}

    def weighted(self, key, make) -> Weighted:
        "The weighted list under a key, made once."
        if key not in self.cache:
            pairs = make()
            if not pairs:
                raise ValueError(f"nothing to choose from for {key}")
            self.cache[key] = Weighted([p[0] for p in pairs], [p[1] for p in pairs])
        return self.cache[key]

    def pool(self, spec: str) -> list:
        "The nouns that a list of classes and =names stands for."
        found = []
        for part in spec.split(","):
            if part.startswith("="):
                for name in part[1:].split("|"):
                    found += self.by_name(name)
            else:
                found += [n for n in self.nouns if part in n.classes
                          and (n.en not in PAIRED or part == "footwear") and n.en not in ODD]
        return list(dict.fromkeys(found))

    def by_name(self, name: str) -> list:
        "The entries of one English noun; name#ru picks one of several senses."
        name, _, ru = name.partition("#")
        same = [n for n in self.nouns if n.en == name and ru in ("", n.ru)]
        return [n for n in same if n.classes[0] == same[0].classes[0]]

    def noun(self, spec: str, flags: tuple[str, ...] = ()):
        "One noun of a specification."
        def make():
            return [(n, n.weight) for n in self.pool(spec) if fits(n, flags)]
        return self.weighted((spec, flags), make).draw(self.rng)

    def thing(self, args: str) -> Thing:
        "A noun phrase: classes; flags; +adj or ?adj with kinds."
        spec, _, rest = args.partition(";")
        words = rest.split()
        flags = tuple(w for w in words if w[0] not in "+?")
        noun = self.noun(spec, flags)
        wants = [w for w in words if w[0] == "+" or w[0] == "?" and self.rng.random() < 0.22]
        return Thing(noun, self.adjective(noun, wants[0][1:]) if wants else None)

    def adjective(self, noun, kinds: str):
        "An adjective that fits the noun, of these kinds, or none."
        classes = set(noun.classes) | ({"thing"} if THINGS & set(noun.classes) else set()) | {"any"}
        kinds = set(kinds.split("|"))
        def make():
            return [(a, a.weight) for a in self.adjectives
                    if a.classes & classes and a.kind in kinds] or [(None, 1)]
        return self.weighted(("adj", noun.classes, *sorted(kinds)), make).draw(self.rng)

    def someone(self, table: dict, avoid: str = "") -> Person:
        "A person drawn from a table of kinds; `avoid` is an English form that must not come back."
        names = [k for k in table if k != avoid]
        kind = Weighted(names, [table[k] for k in names]).draw(self.rng)
        return self.person(kind)

    def person(self, kind: str) -> Person:
        "A person of one kind."
        if kind in PRONOUNS:
            words, faces, number, many = PRONOUNS[kind]
            faces = list(faces)
            if self.rng.random() < 0.4:
                self.rng.shuffle(faces)
            return Person(words, faces, number, many)
        if kind in ("Tom", "Mary"):
            ru, sex = {"Tom": ("Том", "m"), "Mary": ("Мэри", "f")}[kind]
            return self.name(kind, ru, sex, kind == "Mary")
        if kind == "name":
            row = self.weighted("names", lambda: [(r, lexicon.zipf(i, 4, 1.4)) for i, r in
                                                  enumerate(self.named)]).draw(self.rng)
            return self.name(row["en"], row["ru"], row["gender"], row["declines"] != "yes")
        return self.role(kind)

    def name(self, en: str, ru: str, sex: str, fixed: bool) -> Person:
        "Someone with a first name."
        return Person((en, en, en + "'s"), [Face(ru, 3, sex, False, "name", "", fixed)])

    def role(self, kind: str) -> Person:
        "My brother, the doctor."
        kin = kind == "kin"
        def make():
            pool = [n for n in self.pool("kin" if kin else "profession") if fits(n, ("count",))
                    and (not kin or n.en in PLAIN_KIN) and n.ru not in lexicon.DIMINUTIVES]
            weight = (3, 0.9) if kin else (4, 1.7)
            return [(n, lexicon.zipf(i, *weight)) for i, n in enumerate(pool)]
        noun = self.weighted(("role", kind), make).draw(self.rng)
        lead, before = ("my ", "мой") if kin else ("the ", "")
        face = Face(noun.ru, 3, russian.gender(noun.ru), False, "noun", before)
        text = lead + noun.en
        return Person((text, text, text + "'s"), [face])

    def verb(self, args: str) -> Doing:
        "A verb phrase with these properties, its objects chosen (persons come later)."
        tags = tuple(args.split(","))
        verb = self.weighted(("verb", tags), lambda: [(v, v.weight) for v in self.verbs
                                                      if able(v, tags)]).draw(self.rng)
        return Doing(verb, {}, " ".join(n for n in ("a", "my", "bare", "pl", "the")
                                        if n in verb.notes) or "the")

    def subject_of(self, doing: Doing) -> Person | Thing:
        "Who or what does it, drawn from what the verb allows; then its objects."
        spec = doing.verb.subject
        if spec == "person":
            who = self.someone(SUBJECTS)
        elif spec in ("he", "she"):
            men = spec == "he"
            who = self.person(self.rng.choice(["Tom", "he", "I"] if men else ["Mary", "she", "I"]))
            if who.person == 1:
                who.faces = [Face("я", 1, "m" if men else "f", False, "pron")]
        else:
            who = Herd(self.noun(spec, ("count",))) if "pl" in doing.verb.notes else \
                Definite(self.noun(spec))
        self.fill(doing, who)
        return who

    def fill(self, doing: Doing, who) -> None:
        "Choose the objects of a verb phrase."
        frame, _, spec = doing.verb.frame.partition(":")
        if frame == "prep":
            spec = spec.partition(":")[2]
        if frame == "intr":
            return
        slot = "i" if "{i}" in doing.verb.en and frame == "dat" else "o"
        if frame in ("to", "at", "in", "from", "on"):
            doing.things["o"] = self.place(frame, spec, doing)
        elif spec == "lang":
            doing.things["o"] = self.language()
        else:
            doing.things[slot] = self.object(spec, who)
        if frame == "acc+dat":
            doing.things = {"i": self.object("who", who), **doing.things}

    def object(self, spec: str, who):
        "An object: someone, or a thing of the classes."
        parts = spec.split(",")
        if "who" in parts and (len(parts) == 1 or self.rng.random() < 0.7):
            avoid = who.en("nom") if isinstance(who, Person) else ""
            while True:
                other = self.someone(OBJECTS, avoid)
                if not clash(who, other):
                    return other
        spec = ",".join(p for p in parts if p != "who")
        return Thing(self.noun(spec))

    def language(self) -> Plain:
        "A language as in `speak English`."
        table = [r for r in self.tables["fields"] if r["kind"] == "language"]
        row = self.weighted("lang", lambda: [(r, lexicon.zipf(i, 3)) for i, r in
                                             enumerate(table)]).draw(self.rng)
        return Plain(row["en"], {"prep": row["ru"], "nom": row["ru"]})

    def place(self, frame: str, spec: str, doing: Doing):
        "Somewhere to go, to be, or to come from."
        regions = ("city", "country", "river", "island", "region")
        kinds = [p for p in spec.split(",") if p in regions]
        if kinds and (len(kinds) == len(spec.split(",")) or self.rng.random() < 0.6):
            return self.town(kinds, frame)
        if "loc" in spec.split(","):
            return self.locative(frame)
        return self.noun_place(frame, ",".join(p for p in spec.split(",") if p not in kinds), doing)

    def town(self, kinds: list[str], frame: str = "in") -> Plain:
        "A city or a country from places.tsv."
        rows = [r for r in self.places if r["kind"] in kinds]
        row = self.weighted(("town", *kinds), lambda: [(r, lexicon.zipf(i, 4, 1.4)) for i, r in
                                                       enumerate(rows)]).draw(self.rng)
        forms = {"in": row["ru_in"], "to": row["ru_to"], "from": row["ru_from"], "nom": row["ru"],
                 "at": row["ru_in"], "on": row["ru_in"]}
        return Plain(row["en"], forms)

    def locative(self, frame: str = "in") -> Plain:
        "The park, the station: with the preposition that each language wants."
        row = self.weighted("loc", lambda: [(r, lexicon.zipf(i, 6, 0.9)) for i, r in enumerate(
            self.tables["locatives"])]).draw(self.rng)
        plural_only = row["ru"] == "похороны"
        thing = Face(row["ru"], 3, "m", plural_only, "noun", "", plural_only)
        return Plain(*place_words(row["en"], row["prep"], row["ru_prep"], thing))

    def place_named(self, names: str) -> Plain:
        "One of the named rows of locatives.tsv."
        def make():
            table = self.tables["locatives"]
            return [(r, 1 / (i + 3)) for i, r in enumerate(
                [r for r in table if r["en"] in names.split("|")])]
        row = self.weighted(("at", names), make).draw(self.rng)
        return Plain(*place_words(row["en"], row["prep"], row["ru_prep"], Face(row["ru"])))

    def noun_place(self, frame: str, spec: str, doing: Doing) -> Plain:
        "A place given as a noun in a verb's frame."
        noun = self.noun(spec)
        noun = self.by_name(noun.en)[0]
        article = "a" if "a" in doing.verb.notes else "the"
        table = {r["ru"]: r for r in self.tables["locatives"]}
        row = table.get(noun.ru, {})
        lead = "на" if frame == "on" or noun.ru in ON or (noun.ru, frame) == ("море", "to") else \
            "в" if frame == "in" else row.get("ru_prep", "в")
        prep = "" if noun.en in ("school", "work", "church") else f"in {article}"
        face = Face(noun.ru, 3, "m", noun.ru_plural == "pt", "noun", "", noun.ru_plural == "pt")
        return Plain(*place_words(noun.en, prep, lead, face))


ON = set("юг остров ферма берег луна завод фабрика почта вокзал".split())


class Definite(Thing):
    "The train: a thing as a subject."

    def en(self, *ops):
        "With `the` in the nominative."
        return super().en("the") if not ops or ops[0] == "nom" else super().en(*ops)


class Herd(Thing):
    "Bears: a kind as a subject."

    def __init__(self, noun):
        super().__init__(noun)
        self.many = True
        for face in self.faces:
            face.many = True

    def en(self, *ops):
        "The bare plural."
        return super().en("pl") if not ops or ops[0] == "nom" else super().en(*ops)


def place_words(en: str, prep: str, lead: str, face: Face):
    "English and Russian forms of a place: in, to, from."
    article = prep.split()[-1] + " " if " " in prep else ""
    origin = {"в": "из", "на": "с"}[lead]
    many = face.many
    where = russian.noun(face.lemma, "loc", many, face.fixed)
    if face.lemma in russian.SECOND_LOCATIVE:
        where = russian.pick(russian.noun_parse(face.lemma, False), "loc2", "sing")
    to = russian.noun(face.lemma, "acc", many, face.fixed)
    out = russian.noun(face.lemma, "gen", many, face.fixed)
    forms = {"in": f"{lead} {where}", "at": f"{lead} {where}", "on": f"{lead} {where}",
             "to": f"{lead} {to}", "from": f"{origin} {out}", "nom": face.lemma}
    text = f"{article}{en}"
    ways = {"in": f"{prep} {en}", "to": f"to {text}", "from": f"from {text}", "obj": text}
    return text, forms, ways


def fits(noun, flags: tuple[str, ...]) -> bool:
    "Whether a noun has the properties that a slot asks for."
    tests = {"count": noun.countable, "mass": noun.mass, "one": not noun.pair,
             "few": noun.countable, "living": "animal" in noun.classes}
    return all(tests.get(flag, True) for flag in flags)


def able(verb, tags: tuple[str, ...]) -> bool:
    "Whether a verb phrase may stand in a pattern."
    notes, person = verb.notes, verb.subject in ("person", "he", "she")
    tests = {"vol": not notes & {"stat", "inv", "bad"} and person,
             "volx": not notes & {"stat", "inv"} and person,
             "ask": "noask" not in notes, "tel": "atel" not in notes,
             "sched": "sched" in notes, "person": person,
             "perf": verb.perf != "-" and "noperf" not in notes,
             "prog": not notes & {"stat", "mom"}, "hab": "once" not in notes and usual(verb),
             "thing": not person, "act": "stat" not in notes, "any": True,
             "inv": "inv" in notes, "fun": "fun" in notes, "mom": "mom" in notes,
             "intr": verb.frame == "intr", "sure": not notes & {"stat"}}
    return all(tests[tag] for tag in tags if tag)


def usual(verb) -> bool:
    "Whether it can be a habit: no one thing as its object, or marked as a habit."
    if verb.notes & {"hab", "bare", "my", "pl"} or "{o}" not in verb.en:
        return "{i} {o}" not in verb.en
    spec, lead = verb.frame.split(":")[-1], verb.frame.split(":")[0]
    return spec.startswith("who") or "lang" in spec or lead in ("to", "in", "at")


def clash(one, other) -> bool:
    "Whether two persons can't meet in one clause: the same one, or I with we."
    if not isinstance(one, Person):
        return False
    first = {one.en("nom"), other.en("nom")}
    if one.person == other.person and one.person < 3:
        return True
    return len(first) == 1 or one.en("nom") == other.en("nom")
