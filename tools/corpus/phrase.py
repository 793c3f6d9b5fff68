"""What fills a slot: persons, noun phrases, verb phrases, plain pairs. Each knows both languages.

A value has one or more Russian *faces* (a masculine and a feminine `I`, ты and вы, синонимы) and
one or more English ones; `turn` picks which is showing. Operations are the dotted names of the
patterns.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import english
import ru_text
import russian
from lexicon import Noun, Verb

CASES = tuple(russian.CASES)


@dataclass
class Face:
    "A Russian person or thing for agreement: lemma, person, gender, number."
    lemma: str
    person: int = 3
    sex: str = "m"
    many: bool = False
    kind: str = "noun"
    before: str = ""
    fixed: bool = False


class Value:
    "A slot's filling with one face; the base of the others."
    faces: list = [None]
    twists: list = [None]

    def __init__(self):
        self.turn, self.twist = 0, 0

    @property
    def face(self):
        "The Russian face that is showing."
        return self.faces[self.turn]


class Plain(Value):
    "A fixed pair of texts, such as a time or a place; the operation picks a Russian form."

    def __init__(self, en: str, ru: str | dict, en_forms: dict | None = None):
        super().__init__()
        self.text, self.forms, self.en_forms = en, ru, en_forms or {}

    def en(self, *ops):
        "The English text."
        return self.en_forms.get(ops[0], self.text) if ops else self.text

    def ru(self, *ops):
        "The Russian text, or the form named by the operation."
        return self.forms if isinstance(self.forms, str) else self.forms[ops[0] if ops else "nom"]


class Person(Value):
    "Someone: a pronoun, a name, my brother, the doctor."

    def __init__(self, en: tuple[str, str, str], faces: list[Face], person=3, many=False):
        super().__init__()
        self.words, self.faces, self.person, self.many = en, faces, person, many

    @property
    def pro(self) -> str:
        "The subject pronoun that stands for this person."
        if self.person < 3:
            return self.words[0]
        return "they" if self.many else {"m": "he", "f": "she"}[self.faces[0].sex]

    def en(self, *ops):
        "nom, obj, poss, pro, refl, or a helper verb."
        op = ops[0] if ops else "nom"
        pro = self.pro
        if op in CLITICS:
            return self._clitic(op)
        table = {"nom": self.words[0], "obj": self.words[1], "poss": self.words[2], "pro": pro,
                 "refl": REFLEXIVE[pro], "objpro": OBJECT[pro], "its": POSSESSIVE[pro]}
        return table[op]

    def _clitic(self, op):
        "I'll, he's, Tom will, Tom has: short forms after pronouns only."
        words, key = CLITICS[op], "s" if self.person == 3 and not self.many else self.words[0]
        if self.words[0] in REFLEXIVE:
            return self.words[0] + "'" + words.get(key, words["*"])[0]
        return f"{self.words[0]} {words.get(key, words['*'])[1]}"

    def ru(self, *ops):
        "A case; `n` after a preposition; pro.<case> for the pronoun."
        case = next((op for op in ops if op in CASES), "nom")
        face = self.face
        if "pro" in ops or "his" in ops:
            return self._ru_pronoun(case, ops)
        if face.kind == "pron":
            return russian.pronoun(face.lemma, case, "n" in ops)
        if face.kind == "name":
            return face.lemma if face.fixed else russian.name(face.lemma, case, face.sex)
        return noun_with(face, case)

    def _ru_pronoun(self, case, ops):
        "он, она and so on for this person; `his` gives его, её, мой."
        face = self.face
        lemma = face.lemma if face.kind == "pron" else pronoun_for(face)
        if "his" in ops:
            return {"он": "его", "она": "её", "они": "их"}.get(lemma, "свой")
        return russian.pronoun(lemma, case, "n" in ops)


CLITICS = {"ll": {"*": ("ll", "will")}, "d": {"*": ("d", "would")},
           "m": {"*": ("re", "are"), "I": ("m", "am"), "s": ("s", "is")},
           "ve": {"*": ("ve", "have"), "s": ("s", "has")}}
REFLEXIVE = {"i": "myself", "I": "myself", "you": "yourself", "he": "himself", "she": "herself",
             "we": "ourselves", "they": "themselves", "it": "itself"}
OBJECT = {"I": "me", "you": "you", "he": "him", "she": "her", "we": "us", "they": "them",
          "it": "it"}
POSSESSIVE = {"I": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their",
              "it": "its"}


def pronoun_for(face: Face) -> str:
    "он, она, оно or они."
    return "они" if face.many else {"m": "он", "f": "она", "n": "оно"}[face.sex]


def noun_with(face: Face, case: str, many: bool = False) -> str:
    "A face's noun in a case, with the adjective or possessive before it."
    many = many or face.many
    word = russian.noun(face.lemma, case, many, face.fixed)
    if not face.before:
        return word
    living = russian.animate(face.lemma, face.fixed)
    lead = " ".join(russian.adjective(a, case, face.sex, many, living) for a in face.before.split())
    return f"{lead} {word}"


class Thing(Value):
    "A noun phrase, with an optional adjective that goes wherever it goes."

    def __init__(self, noun: Noun, adjective=None):
        super().__init__()
        self.noun, self.adjective = noun, adjective
        self.faces = [self._face(n) for n in [noun, *noun.twins[:1]]]
        same = [n for n in noun.doubles if n.mass == noun.mass and n.pair == noun.pair]
        self.twists = [noun, *same[:1]]
        self.person, self.many = 3, noun.pair

    def _face(self, noun: Noun) -> Face:
        "The Russian side of one lexicon entry."
        only = noun.ru_plural == "pt"
        return Face(noun.ru, 3, russian.gender(noun.ru, only), only, "noun",
                    self.adjective.ru if self.adjective else "", only)

    @property
    def pro(self) -> str:
        "it or they."
        return "they" if self.many else "it"

    def en(self, *ops):
        "bare, a, the, pl, some, this, pro."
        noun, op = self.twists[self.twist], ops[0] if ops else "bare"
        one = noun.en if noun.mass or noun.pair else None
        lead = self.adjective.en + " " if self.adjective else ""
        if op == "pl":
            return lead + (one or english.plural(noun.en, noun.en_plural))
        if op == "a":
            return ("" if one else "a ") + lead + noun.en
        if op == "art":
            return "" if one else "a"
        if op == "this":
            return ("these " if noun.pair else "this ") + lead + noun.en
        if op in ("pro", "objpro"):
            return {"pro": ("they", "it"), "objpro": ("them", "it")}[op][0 if noun.pair else 1]
        return ("the " if op == "the" else "") + lead + noun.en

    def ru(self, *ops):
        "A case, `pl` for the plural, pro for the pronoun, loc2 after в and на."
        case = next((op for op in ops if op in CASES), "nom")
        face = self.face
        if "pro" in ops:
            pronoun = pronoun_for(face)
            if pronoun == "оно" and case == "nom": return "оно"
            return russian.pronoun("он" if pronoun == "оно" else pronoun, case, "n" in ops)
        many = "pl" in ops and self.noun.ru_plural != "-"
        if "loc2" in ops and not many and face.lemma in russian.SECOND_LOCATIVE and not face.before:
            return russian.pick(russian.noun_parse(face.lemma, False), "loc2", "sing")
        return noun_with(face, "loc" if "loc2" in ops else case, many)


UNITS = {"year": "год", "day": "день", "hour": "час", "minute": "минута", "dollar": "доллар"}
DIGIT_UNITS = {"dpage": "страница", "dmeter": "метр", "drub": "рубль"}
ORDS = {"half": ("m", "gen"), "date": ("n", "nom"), "ordloc": ("m", "loc")}


class Count(Value):
    "A number that counts a noun on the Russian side."

    def __init__(self, n: int):
        super().__init__()
        self.n = n

    def en(self, *ops):
        "The number in words, an ordinal, or digits."
        if "d" in ops:
            return str(self.n)
        return english.ordinal(self.n) if "ord" in ops else english.number(self.n)

    def ru(self, *ops):
        "The number in words; `m`, `f`, `n` for its gender."
        if ops and ops[0] in UNITS:
            lemma = UNITS[ops[0]]
            number = ru_text.number(self.n, russian.gender(lemma))
            return f"{number} {ru_text.count_form(lemma, self.n)}"
        if ops and ops[0] in DIGIT_UNITS:
            return f"{self.n} {ru_text.count_form(DIGIT_UNITS[ops[0]], self.n)}"
        if ops and ops[0] in ORDS:
            sex, case = ORDS[ops[0]]
            return ru_text.ordinal(self.n + (ops[0] == "half"), sex, case)
        sex = next((op for op in ops if op in "mfn"), "m")
        return str(self.n) if "d" in ops else ru_text.number(self.n, sex)

    def counted(self, thing: Value, case: str = "nom") -> str:
        "пять книг; the accusative of living things counts with the genitive."
        face, n = thing.face, self.n
        living = russian.animate(face.lemma, face.fixed)
        last, teen = n % 10, 10 < n % 100 < 20
        if case == "acc" and living and last in (2, 3, 4) and not teen and n < 20:
            word = "двух трёх четырёх".split()[n - 2]
            return f"{word} {noun_with(face, 'gen', True)}"
        return f"{ru_text.number(n, face.sex)} {self._phrase(face)}"

    def _phrase(self, face: Face) -> str:
        "The counted noun and its adjective."
        word = ru_text.count_form(face.lemma, self.n)
        if not face.before:
            return word
        few = self.n % 10 in (2, 3, 4) and not 10 < self.n % 100 < 20
        case = "nom" if few and face.sex == "f" else "gen"
        lead = russian.adjective(face.before, case, face.sex, True, False)
        return f"{lead} {word}"


@dataclass
class Doing(Value):
    "A verb with its objects."
    verb: Verb
    things: dict = field(default_factory=dict)
    manner: str = "the"
    spec: str = ""

    def __post_init__(self):
        super().__init__()

    def en(self, form: str, who) -> str:
        "The English phrase in a form: base, pres, past, pp, ing."
        first, _, rest = self.verb.en.partition(" ")
        phrase = f"{english_verb(first, form, who, self.verb.forms)} {rest}".strip()
        if "one's" in phrase or "oneself" in phrase:
            phrase = phrase.replace("oneself", REFLEXIVE[who.pro])
            phrase = phrase.replace("one's", POSSESSIVE[who.pro])
        for slot, thing in self.things.items():
            phrase = phrase.replace("{" + slot + "}", self._en_thing(thing, who))
        return phrase

    def _en_thing(self, thing, who) -> str:
        "An object in English with its determiner."
        if isinstance(thing, Person):
            return thing.en("obj")
        if isinstance(thing, Plain):
            return thing.en("obj")
        many, noun = "pl" in self.manner, thing.twists[thing.twist]
        determiner = self.manner.split()[0]
        if determiner == "my" or noun.classes[0] == "kin" or noun.en in OWN:
            return f"{POSSESSIVE[who.pro]} {thing.en('bare')}"
        if determiner == "pl" or determiner == "bare" and self._generic(thing):
            return thing.en("pl")
        if determiner == "bare":
            return thing.en("bare" if noun.en in MASSY else "a")
        if determiner == "a" and not (noun.mass or noun.pair):
            return thing.en("a")
        definite = "the" in self.manner.split()
        return f"the {thing.en('pl' if many else 'bare')}" if definite else thing.en("bare")

    def ru(self, form: str, face: Face) -> str:
        "The Russian phrase: [p|i] + inf, past, pres, fut, impr, lets."
        if self.verb.perf == "-" and form in IMPERFECT or form == "fut" and self.imperfective:
            form = IMPERFECT[form]
        verb, text = self._aspect(form)
        words = text.split()
        at = verb_at(text)
        words[at] = self._conjugate(words[at], form, face)
        phrase = " ".join(words)
        for slot, thing in self.things.items():
            mark = "{" + slot + "}"
            if mark not in phrase:
                phrase += " " + mark
            phrase = phrase.replace(mark, self._ru_thing(slot, thing))
        return phrase

    @property
    def imperfective(self) -> bool:
        "Whether its simple past is imperfective in Russian."
        return "atel" in self.verb.notes or self.verb.perf == "-"

    def _aspect(self, form: str) -> tuple[str, str]:
        "Which infinitive the form starts from."
        if form == "spast":
            form = "ipast" if self.imperfective else "ppast"
        if form in ("fut", "plets") or form[0] == "p" and form[1:] in ("inf", "past", "impr"):
            return "perf", self.verb.perf
        habitual, _, progressive = self.verb.impf.partition("~")
        return "impf", (progressive or habitual) if form in ("pres", "gpast") else habitual

    def _conjugate(self, word: str, form: str, face: Face) -> str:
        "The verb itself."
        if form == "spast":
            form = "ipast" if self.imperfective else "ppast"
        if form == "bfut":
            return f"{russian.verb('быть', 'fut', face.person, face.sex, face.many)} {word}"
        kinds = {"hpres": "pres", "gpast": "past", "plets": "lets", "fut": "fut", "pres": "pres"}
        kind = kinds.get(form, form[1:])
        aspect = "perf" if form in ("fut", "plets") or form[0] == "p" and form != "pres" else "impf"
        if kind == "inf":
            return word
        return russian.verb(word, kind, face.person, face.sex, face.many, aspect)

    def _ru_thing(self, slot: str, thing) -> str:
        "An object in the case that the verb governs."
        frame = self.verb.frame.split(":")[0]
        if isinstance(thing, Plain):
            return thing.ru(frame)
        case, lead = self._case(slot)
        many = ["pl"] if "pl" in self.manner or ("bare" in self.manner.split()
                                                 and self._generic(thing)) else []
        ops = [case, *many] + (["n"] if lead or "у {o}" in self.verb.impf else [])
        return f"{lead} {thing.ru(*ops)}".strip()

    def _generic(self, thing) -> bool:
        "Whether a bare object means the kind, in the plural on both sides."
        return isinstance(thing, Thing) and thing.noun.countable and (
            thing.noun.classes[0] not in ("dish", "drink", "food", "event", "bird", "fish")
            and thing.noun.en not in MASSY)

    def _case(self, slot: str) -> tuple[str, str]:
        "Case and preposition of an object."
        frame = self.verb.frame
        if frame.startswith("prep:"):
            preposition, case = frame.split(":")[1].split("+")
            return case, preposition
        cases = frame.split(":")[0].split("+")
        return (cases[-1] if slot == "i" else cases[0]), ""


IMPERFECT = {"ppast": "ipast", "pinf": "iinf", "pimpr": "iimpr", "fut": "bfut", "plets": "bfut"}
MASSY = set("""soup chicken fish salad stew broth tea coffee juice wine beer jam cheese sauce dinner
    lunch breakfast pizza compote lemonade ice cream chocolate steak cake pie sausage yogurt
    cocoa""".split())
OWN = {"friend", "neighbor", "boss", "colleague", "roommate", "classmate"}
VERB_AT: dict[str, int] = {}


def verb_at(text: str) -> int:
    "The place of the infinitive in a phrase; the last of two (`рано вставать`), a chain's first."
    if text not in VERB_AT:
        words = text.split()
        VERB_AT[text] = next(i for i, w in enumerate(words) if not w.startswith("{") and any(
            p.tag.POS == "INFN" and p.normal_form == w for p in russian.analyzer().parse(w)))
    return VERB_AT[text]


def english_verb(word: str, form: str, who, forms=("-", "-", "-")) -> str:
    "One English verb in a form, agreeing with `who`."
    if word == "be" and form in ("pres", "past"):
        return english.be(form, who.person, who.many or who.en().lower() in ("you", "we", "they"))
    if form == "base" or form == "pres" and (who.many or who.person < 3):
        return word
    if form == "pres":
        return english.third(word)
    if form == "ing":
        return english.ing(word, forms[2])
    return english.past(word, forms[0] if form == "past" else forms[1])
