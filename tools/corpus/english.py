"""English morphology: plurals, verb forms, articles, numbers."""
from __future__ import annotations

import re

VOWELS = "aeiou"
SILENT_H = ("hour", "honest", "heir", "honor")
LONG_U = ("uni", "use", "usu", "eu", "one", "uk", "ur")
ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
            "nine": "ninth", "twelve": "twelfth"}
BE = {"pres": ("am", "are", "is"), "past": ("was", "were", "was")}


def plural(noun: str, irregular: str = "") -> str:
    "The plural of a noun; `irregular` wins when it is there."
    if irregular and irregular not in "-pt":
        return irregular
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def third(verb: str) -> str:
    "The third person singular of the present."
    if verb in ("have", "be", "go", "do"):
        return {"have": "has", "be": "is", "go": "goes", "do": "does"}[verb]
    return plural(verb)


def ing(verb: str, irregular: str = "-") -> str:
    "The -ing form."
    if irregular != "-":
        return irregular
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + "ing"


def past(verb: str, irregular: str = "-") -> str:
    "The past tense, or the participle."
    if irregular != "-":
        return irregular
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ied"
    return verb + "ed"


def be(tense: str, person: int, many: bool) -> str:
    "The form of `be`."
    first, several, single = BE[tense]
    return several if many else {1: first, 2: several, 3: single}[person]


def number(n: int) -> str:
    "A number up to 9,999 in words."
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + ("-" + ONES[n % 10] if n % 10 else "")
    if n < 1000:
        return f"{ONES[n // 100]} hundred" + (f" and {number(n % 100)}" if n % 100 else "")
    return f"{number(n // 1000)} thousand" + (f" {number(n % 1000)}" if n % 1000 else "")


def ordinal(n: int) -> str:
    "An ordinal up to the ninety-ninth."
    head, dash, last = number(n).rpartition("-")
    if last in ORDINALS:
        return head + dash + ORDINALS[last]
    return head + dash + (last[:-1] + "ieth" if last.endswith("y") else last + "th")


def starts_with_vowel(word: str) -> bool:
    "Whether `an` stands before this word."
    low = word.lower()
    if low.startswith(SILENT_H):
        return True
    return low[:1] in VOWELS and not low.startswith(LONG_U)


def fix_articles(text: str) -> str:
    "`a` or `an`, by the word after it."
    def swap(match):
        article = match[1] + ("n" if starts_with_vowel(match[2]) else "")
        return f"{article} {match[2]}"
    return re.sub(r"\b([Aa])n? (?=\w)([\w'-]+)", swap, text)


def polish(text: str) -> str:
    "A finished sentence: articles, spaces, a capital."
    text = re.sub(r"\s+", " ", fix_articles(text)).strip()
    text = re.sub(r"\s+([,.?!])", r"\1", text)
    text = re.sub(r"\b(said|asked|suggested) (he|she|I)\.", r"\2 \1.", text)
    return text[:1].upper() + text[1:] if text[0] != '"' else '"' + text[1].upper() + text[2:]
