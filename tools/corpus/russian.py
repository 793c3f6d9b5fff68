"""Russian morphology over pymorphy3: cases, agreement, verbs, numbers, prepositions."""
from __future__ import annotations

from functools import cache

import lexicon
import pymorphy3

CASES = {"nom": "nomn", "gen": "gent", "dat": "datv", "acc": "accs", "ins": "ablt", "loc": "loct"}
GENDERS = {"m": "masc", "f": "femn", "n": "neut"}
AVOID = {"V-oy", "V-ey", "V-be", "V-en", "V-ie", "V-bi", "V-sh", "V-ej", "Infr", "Arch", "Slng",
         "Dist", "Erro", "Litr", "gen2", "acc2", "loc2"}
SECOND_LOCATIVE = set("""лес сад шкаф мост пол угол снег берег порт аэропорт край пруд луг лоб рот
    нос лёд круг ряд бок рай верх низ глаз шкаф бал бой плен тыл лужок""".split())
PRONOUNS = {
    "я": "я меня мне меня мной мне", "ты": "ты тебя тебе тебя тобой тебе",
    "он": "он его ему его им нём", "она": "она её ей её ей ней", "мы": "мы нас нам нас нами нас",
    "вы": "вы вас вам вас вами вас", "они": "они их им их ими них",
    "кто": "кто кого кому кого кем ком"}
SHORT = {"уверенный": "уверен уверена уверено уверены", "должный": "должен должна должно должны",
         "рад": "рад рада радо рады", "один": "один одна одно одни",
         "виноватый": "виноват виновата виновато виноваты"}
IMPERATIVES = {"приехать": "приезжай", "переехать": "переезжай", "уехать": "уезжай",
               "проехать": "проезжай", "ехать": "поезжай"}
_ANALYZER = None


def analyzer() -> pymorphy3.MorphAnalyzer:
    "The one shared analyser."
    global _ANALYZER
    _ANALYZER = _ANALYZER or pymorphy3.MorphAnalyzer(lang="ru")
    return _ANALYZER


@cache
def noun_parse(lemma: str, plural_only: bool):
    "The first noun parse whose dictionary form this is."
    number = "plur" if plural_only else "sing"
    loose = [p for p in analyzer().parse(lemma) if p.tag.POS == "NOUN"
             and p.tag.case == "nomn" and p.tag.number == number]
    parses = [p for p in loose if plural_only or p.normal_form == lemma] or loose
    if not parses:
        raise ValueError(f"no noun parse for {lemma!r}")
    named = {"Name", "Surn", "Geox", "Abbr", "Init"}
    plain = [p for p in parses if not named & set(p.tag.grammemes)]
    return (plain or parses)[0]


def pick(parse, *wanted: str) -> str:
    "The form of the lexeme with all these grammemes, plain variants first."
    need = set(wanted)
    forms = [f for f in parse.lexeme if need <= set(f.tag.grammemes)]
    plain = [f for f in forms if not AVOID & set(f.tag.grammemes)]
    if not forms:
        raise ValueError(f"no form {wanted} of {parse.normal_form!r}")
    return (plain or forms)[0].word


@cache
def overrides() -> dict:
    "Noun forms where the library's first choice is not the usual one (forms.tsv)."
    table = lexicon.rows(lexicon.HERE / "lexicon/forms.tsv")
    return {(row["ru"], row["number"]): row for row in table}


@cache
def noun(lemma: str, case: str, plural: bool = False, plural_only: bool = False) -> str:
    "A noun (or a phrase whose last noun is the head) in a case and number."
    own = overrides().get((lemma, "plur" if plural or plural_only else "sing"))
    if own:
        return own[case]
    head, *rest = phrase_head(lemma)
    parse = noun_parse(head, plural_only)
    if parse.tag.number == "sing" and "Fixd" in parse.tag:
        return lemma
    form = pick(parse, CASES[case], "plur" if plural or plural_only else "sing")
    return rest_of_phrase(lemma, head, form, case, plural or plural_only, parse)


@cache
def name(lemma: str, case: str, sex: str) -> str:
    "A first name in a case: the parse that is a name of this gender."
    fits = lambda tag: GENDERS[sex] in tag.grammemes or tag.gender is None
    parses = [p for p in analyzer().parse(lemma) if p.tag.POS == "NOUN" and p.tag.case == "nomn"
              and p.tag.number == "sing" and fits(p.tag)]
    first = next((p for p in parses if "Name" in p.tag), parses[0] if parses else None)
    if first is None:
        first = analyzer().parse(lemma)[0]
    form = pick(first, CASES[case], "sing")
    return "-".join(part[:1].upper() + part[1:] for part in form.split("-"))


def phrase_head(lemma: str) -> list[str]:
    "The head noun of a phrase: the first word that is a nominative noun."
    words = lemma.split()
    for word in words:
        parses = [p for p in analyzer().parse(word) if p.tag.POS == "NOUN"]
        if len(words) == 1 or (parses and parses[0].tag.case == "nomn"
                               and analyzer().parse(word)[0].tag.POS == "NOUN"):
            return [word]
    return [words[-1]]


def rest_of_phrase(lemma: str, head: str, form: str, case: str, many: bool, parse) -> str:
    "The phrase around an inflected head: adjectives before it agree, the rest stays."
    words = lemma.split()
    at = words.index(head)
    before = [agree_word(w, parse, case, many) for w in words[:at]]
    return " ".join(before + [form] + words[at + 1:])


def agree_word(word: str, parse, case: str, many: bool) -> str:
    "A nominative adjective put into the case, gender and number of a noun."
    for candidate in analyzer().parse(word):
        if candidate.tag.POS in ("ADJF", "PRTF"):
            return adjective_form(candidate, case, gender_of(parse), many, "anim" in parse.tag)
    return word


def gender_of(parse) -> str:
    "m, f or n."
    return {"femn": "f", "neut": "n"}.get(parse.tag.gender, "m")


@cache
def gender(lemma: str, plural_only: bool = False) -> str:
    "The gender of a noun or noun phrase."
    return gender_of(noun_parse(phrase_head(lemma)[0], plural_only))


@cache
def animate(lemma: str, plural_only: bool = False) -> bool:
    "Whether the noun is animate."
    return "anim" in noun_parse(phrase_head(lemma)[0], plural_only).tag


def adjective_form(parse, case: str, sex: str, many: bool, living: bool) -> str:
    "A full adjective in a case; the accusative follows animacy where it matters."
    wanted = {CASES[case]} | ({"plur"} if many else {"sing", GENDERS[sex]})
    forms = [f for f in parse.lexeme if wanted <= set(f.tag.grammemes)
             and f.tag.POS in ("ADJF", "PRTF") and ("Supr" in f.tag) == ("Supr" in parse.tag)]
    if case == "acc" and (many or sex == "m"):
        forms = [f for f in forms if ("anim" if living else "inan") in f.tag] or forms
    plain = [f for f in forms if not AVOID & set(f.tag.grammemes)]
    return max(plain or forms, key=lambda f: f.word[:3] == parse.word[:3]).word


@cache
def adjective(lemma: str, case: str, sex: str, many: bool, living: bool) -> str:
    "An adjective by its dictionary form."
    parses = [p for p in analyzer().parse(lemma) if p.tag.POS in ("ADJF", "PRTF")
              and {"masc", "nomn", "sing"} <= set(p.tag.grammemes)]
    if not parses:
        raise ValueError(f"no adjective {lemma!r}")
    return adjective_form(parses[0], case, sex, many, living)


@cache
def short(lemma: str, sex: str, many: bool) -> str:
    "The short form of an adjective, for a predicate."
    if lemma in SHORT:
        return SHORT[lemma].split()["mfn".index(sex) if not many else 3]
    parses = [p for p in analyzer().parse(lemma) if p.tag.POS == "ADJF"]
    forms = [f for p in parses for f in p.lexeme if f.tag.POS == "ADJS"
             and ("plur" in f.tag if many else GENDERS[sex] in f.tag)]
    return forms[0].word


@cache
def participle(verb: str, sex: str, many: bool) -> str:
    "The short passive participle of a perfective verb."
    forms = [f for f in verb_parse(verb, "perf").lexeme if f.tag.POS == "PRTS" and "past" in f.tag
             and ("plur" in f.tag if many else GENDERS[sex] in f.tag)]
    return forms[0].word


@cache
def verb_parse(word: str, aspect: str | None = None):
    "The infinitive parse, of the wanted aspect where there is a choice."
    parses = [p for p in analyzer().parse(word) if p.tag.POS == "INFN" and p.normal_form == word]
    if not parses:
        raise ValueError(f"no verb {word!r}")
    parses.sort(key=lambda p: (p.tag.aspect != aspect, "Impe" in p.tag))
    return parses[0]


@cache
def verb(word: str, form: str, person: int = 3, sex: str = "m", many: bool = False,
         aspect: str | None = None) -> str:
    "A verb form: inf, past, pres, fut, impr or lets."
    parse = verb_parse(word, aspect)
    if form == "inf":
        return word
    if form == "past":
        return pick(parse, "past", "VERB", "plur" if many else GENDERS[sex])
    if form == "impr" and word in IMPERATIVES:
        return IMPERATIVES[word] + "те" * many
    if form == "impr":
        return pick(parse, "impr", "excl", "plur" if many else "sing")
    if form == "lets":
        return pick(parse, "VERB", "futr" if parse.tag.aspect == "perf" else "pres", "1per", "plur")
    if word == "быть" and form == "pres":
        return "есть"
    tense = "futr" if form == "fut" or (word == "быть") else "pres"
    return pick(parse, "VERB", tense, f"{person}per", "plur" if many else "sing")


def pronoun(lemma: str, case: str, after_preposition: bool = False) -> str:
    "A personal pronoun in a case, with н- after a preposition."
    form = PRONOUNS[lemma].split()[list(CASES).index(case)]
    third = lemma in ("он", "она", "они") and case != "nom"
    return "н" + form if after_preposition and third and not form.startswith("н") else form
