"""Russian text beyond words: numbers, prepositions before awkward sounds, a whole sentence."""
from __future__ import annotations

import re

import russian

ONES = ("ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать "
        "тринадцать четырнадцать пятнадцать шестнадцать семнадцать восемнадцать "
        "девятнадцать").split()
TENS = "_ _ двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто".split()
HUNDREDS = "_ сто двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот".split()
ORDINALS = ("_ первый второй третий четвёртый пятый шестой седьмой восьмой девятый десятый "
            "одиннадцатый двенадцатый тринадцатый четырнадцатый пятнадцатый шестнадцатый "
            "семнадцатый восемнадцатый девятнадцатый двадцатый").split()
COLLECTIVE = "_ _ двое трое четверо пятеро шестеро семеро".split()
SWAPS = [(r"\b([Вв]) (?=[вф][бвгджзклмнпрстфхцчшщ])", r"\1о "),
         (r"\b([Сс]) (?=[сзшж][бвгджзклмнпрстфхцчшщ])", r"\1о "),
         (r"\b([Оо]) (?=[аэиоу])", r"\1б "), (r"\b([Сс]) мной", r"\1о мной"),
         (r"\b([Кк]) мне", r"\1о мне"), (r"\b([Оо])б? мне", r"\1бо мне"),
         (r"\b(перед|над|под) мной", r"\1о мной"), (r"\b([Вв]) мне", r"\1о мне"),
         (r"\b([Кк]) (?=мног|вс[ея])", r"\1о "), (r"\b([Сс]) (?=льв|вс[ея])", r"\1о "),
         (r"\b([Вв]) (?=многих|льв|сне\b|двор)", r"\1о "), (r"\b([Оо]) всём", r"\1бо всём")]


def number(n: int, sex: str = "m", case: str = "nom") -> str:
    "A number in words, nominative or accusative of the inanimate; the gender touches one and two."
    if n >= 1000:
        head = n // 1000
        word = "тысяча" if head == 1 else f"{number(head, 'f')} {count_form('тысяча', head)}"
        return word + (f" {number(n % 1000, sex)}" if n % 1000 else "")
    if n >= 100:
        return HUNDREDS[n // 100] + (f" {number(n % 100, sex)}" if n % 100 else "")
    if n >= 20:
        return TENS[n // 10] + (f" {number(n % 10, sex)}" if n % 10 else "")
    if n == 1:
        return {"m": "один", "f": "одна", "n": "одно"}[sex]
    return "две" if n == 2 and sex == "f" else ONES[n]


def ordinal(n: int, sex: str = "m", case: str = "nom") -> str:
    "An ordinal up to ninety-nine in a gender and case."
    head, last = ("", n) if n <= 20 or n % 10 == 0 else (TENS[n // 10] + " ", n % 10)
    tens = {30: "тридцатый", 40: "сороковой", 50: "пятидесятый", 60: "шестидесятый",
            70: "семидесятый", 80: "восьмидесятый", 90: "девяностый"}
    lemma = tens[last] if last > 20 else ORDINALS[last]
    return head + russian.adjective(lemma, case, sex, False, False)


def count_form(lemma: str, n: int) -> str:
    "The noun after a number: год, года, лет."
    last, teen = n % 10, 10 < n % 100 < 20
    if lemma == "год" and (teen or last in (0, 5, 6, 7, 8, 9)):
        return "лет"
    if lemma == "человек" and (teen or last in (0, 5, 6, 7, 8, 9)):
        return "человек"
    if last == 1 and not teen:
        return russian.noun(lemma, "nom")
    if last in (2, 3, 4) and not teen:
        return russian.noun(lemma, "gen")
    return russian.noun(lemma, "gen", True)


def polish(text: str) -> str:
    "A finished sentence: spaces, prepositions, a capital."
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s+([,.?!])", r"\1", text)
    for pattern, change in SWAPS:
        text = re.sub(pattern, change, text)
    return text[:1].upper() + text[1:] if text[0] != '"' else '"' + text[1].upper() + text[2:]
