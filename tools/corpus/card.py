"""The data card, its numbers filled in from a build."""
from __future__ import annotations

from pathlib import Path

import lexicon

HERE = Path(__file__).parent
FILES = ("nouns", "nouns-extra", "verbs", "adjectives", "adverbs", "names", "places", "locatives",
         "times", "states", "fields")


def lexicon_sizes() -> dict[str, int]:
    "Entries a lexicon file."
    return {name: len(lexicon.rows(HERE / f"lexicon/{name}.tsv")) for name in FILES}


def pattern_count() -> int:
    "Sentence patterns."
    return len(lexicon.rows(HERE / "patterns.tsv"))


def values(facts: dict) -> dict[str, str]:
    "Every number of the card, formatted."
    stat, source, found = facts["statistics"], facts["sources"], facts["found"]
    en, ru = stat["English"], stat["Russian"]
    numbers = {
        "train": facts["train"], "test": facts["test"], "clean": stat["pairs"],
        "hand": source["hand-written training pairs"],
        "handtest": source["hand-written test pairs"],
        "entries": sum(source["lexicon entries"].values()), "patterns": source["patterns"],
        "groups": stat["groups"], "several": stat["groups of several pairs"],
        "largest": stat["largest groups"][0], "oov_size": stat["OOV vocabulary"],
        "en_words": en["distinct words"], "ru_words": ru["distinct words"],
        "champion": stat["most translations"][1], "exact": found["leaks exact"],
        "near": found["leaks by fingerprint"]}
    ratios = {
        "per_english": stat["pairs a distinct English sentence"], "en_len": en["words a sentence"],
        "ru_len": ru["words a sentence"], "en_chars": en["characters a sentence"],
        "ru_chars": ru["characters a sentence"],
        "more": stat["Russian over English distinct words"],
        "en_beta": en["beta"], "ru_beta": ru["beta"]}
    shares = {
        "tom": stat["Tom"], "mary": stat["Mary"], "en_hapax": en["hapax share"],
        "ru_hapax": ru["hapax share"], "leak": stat["random split leak"],
        "en_oov": stat["OOV English"], "ru_oov": stat["OOV Russian"]}
    return ({k: f"{v:,}" for k, v in numbers.items()} | {k: f"{v:.2f}" for k, v in ratios.items()}
            | {k: f"{100 * v:.1f} %" for k, v in shares.items()}
            | {"en_r2": f"{en['R2']:.4f}", "ru_r2": f"{ru['R2']:.4f}",
               "champion_text": stat["most translations"][0]})


def fault_table(facts: dict) -> str:
    "The planted faults as a Markdown table."
    lines = ["| planted | pairs |", "|---|---:|"]
    planted = [f"| {name} | {entry['pairs']} |" for name, entry in facts["planted"].items()]
    return "\n".join(lines + planted)


def render(facts: dict) -> str:
    "CARD.md."
    template = (HERE / "CARD.template.md").read_text(encoding="utf-8")
    for name, value in {**values(facts), "faults": fault_table(facts)}.items():
        template = template.replace("{{" + name + "}}", value)
    return template
