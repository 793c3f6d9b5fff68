"""Every code point in four contexts: what is written here and its twin in `tokenizers` do the same.

Two libraries carry two editions of the Unicode tables. A difference is allowed where the tables
themselves differ on that very text, and nowhere else.
"""
import unicodedata

import pytest
from tokenizers import Regex
from tokenizers import normalizers as nz
from tokenizers import pre_tokenizers as pt

from tfs import bpe, data, measure
from tfs.wordpiece import bert_words, lower

CODE_POINTS = [chr(i) for i in range(0x110000) if not 0xd800 <= i < 0xe000]
CONTEXTS = {"alone": "{}", "after a letter": "a{}", "between spaces": "a {} b",
            "before a mark": "a{}\u0301"}
BORDER = " : "  # between texts that are asked together
KC = nz.NFKC()


def engine_class(name):
    "All characters that the regular expressions of `tokenizers` count to a class."
    outside = nz.Replace(Regex(rf"[^{name}]+"), "")
    return frozenset(outside.normalize_str("".join(CODE_POINTS)))


CLASSES = {name: engine_class(rf"\p{{{name}}}") for name in ("L", "Mn", "M", "N", "Cn")}
MOVED = frozenset(c for c in CODE_POINTS for name, members in CLASSES.items()
                  if (c in members) != unicodedata.category(c).startswith(name))


def tables_differ(text):
    "Whether the two Unicode editions disagree about a character, or about its normal form."
    return (not MOVED.isdisjoint(text) or any(unicodedata.category(c) == "Cn" for c in text)
            or KC.normalize_str(text) != unicodedata.normalize("NFKC", text))


def in_context(context):
    "Each code point in a context."
    head, tail = CONTEXTS[context].split("{}")
    return [head + c + tail for c in CODE_POINTS]


def differing(texts, ours, theirs, size=512):
    "The texts with two results; many are asked at once, and one by one where that differs."
    found = []
    for block in (texts[i:i + size] for i in range(0, len(texts), size)):
        joined = BORDER.join(block)
        if ours(joined) != theirs(joined): found += [t for t in block if ours(t) != theirs(t)]
    return found


def differing_alone(texts, ours, theirs):
    "The texts with two results, asked one by one; what no edition knows is asked many at once."
    unknown = [t for t in texts if t in CLASSES["Cn"] and t not in MOVED]
    known = [t for t in texts if t not in CLASSES["Cn"] or t in MOVED]
    return [t for t in known if ours(t) != theirs(t)] + differing(unknown, ours, theirs)


def pieces(pre_tokenizer):
    "A function that cuts a text with a pre-tokeniser of `tokenizers`."
    def cut(text):
        return [piece for piece, _ in pre_tokenizer.pre_tokenize_str(text)]
    return cut


def slices(pre_tokenizer):
    "The same by offsets, for pre-tokenisers that respell their pieces."
    def cut(text):
        return [text[a:b] for _, (a, b) in pre_tokenizer.pre_tokenize_str(text)]
    return cut


LESSON = pieces(bpe.pre_tokenizer())
TWINS = {
    "lesson": (data.normalize, bpe.normalizer().normalize_str),
    "NFC": (lambda t: unicodedata.normalize("NFC", t), nz.NFC().normalize_str),
    "lower case": (lower, nz.Lowercase().normalize_str),
    "lesson's words": (bpe.pretokenize, lambda t: LESSON(" " + t) if t else []),
    "GPT-2's pieces": (lambda t: measure.pre_tokens(t, "gpt2"),
                       slices(pt.ByteLevel(add_prefix_space=False))),
    "Indic pieces": (lambda t: measure.pre_tokens(t, "indic"),
                     pieces(pt.Split(Regex(measure.PATTERNS["indic"]), "isolated"))),
    "BERT's words": (bert_words, pieces(pt.Split(
        Regex(r"[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]"), "removed", invert=True))),
}
NORMALIZED = ("lesson's words", "BERT's words")  # they are given normalised text


# a mark behind a character changes its normal form, and cuts nothing
CASES = [(name, context) for name in TWINS for context in CONTEXTS
         if context != "before a mark" or name in ("lesson", "NFC", "lower case")]


@pytest.mark.parametrize(("name", "context"), CASES)
def test_every_code_point(name, context):
    ours, theirs = TWINS[name]
    texts = in_context(context)
    if name in NORMALIZED: texts = list(dict.fromkeys(map(data.normalize, texts)))
    compare = differing_alone if context == "alone" else differing
    different = compare(texts, ours, theirs)
    wrong = [t for t in different if not tables_differ(t)]
    assert not wrong, f"{len(wrong)} of {len(different)}, first {wrong[0]!r}"
    # the editions differ on what is new in one of them, not on whole scripts
    assert len(different) < 30_000


def test_few_characters_are_excused():
    "The editions agree on nearly all that both know, and on all of Latin and Cyrillic."
    known = [c for c in CODE_POINTS if unicodedata.category(c) != "Cn"]
    excused = [c for c in known if tables_differ(c)]
    assert len(excused) < 10_000
    assert not any("\u0400" <= c < "\u0530" or c < "\u0250" for c in excused)


def test_next_line_is_whitespace_on_both_sides():
    "U+0085 between two words."
    assert data.normalize("a \x85 b") == bpe.normalizer().normalize_str("a \x85 b") == "a b"


def test_final_sigma():
    "Python alone looks at what follows a sigma; a tokenizer must not."
    assert lower("ΟΔΟΣ ΣΑΣ") == nz.Lowercase().normalize_str("ΟΔΟΣ ΣΑΣ") == "οδοσ σασ"
