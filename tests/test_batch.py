"""Batches against the production library in 2,000 random cases, and where ours differs."""
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfs.batch import (
    STRATEGIES,
    Cut,
    aligned,
    cells_of,
    encode_batch,
    encode_rows,
    normalized_spans,
    shares,
    spread_labels,
    windows,
)
from tfs.data import normalize
from tfs.wordpiece import WordPiece, train_wordpiece

COLUMNS = {"token": "tokens", "id": "ids", "type": "type_ids", "attention": "attention_mask",
           "special": "special_tokens_mask", "word": "word_ids", "span": "offsets"}
WORDS = ["sing", "singer", "singers", "ring", "hello", "x", "?", "unknown", "—", "lo", "мир", "he"]


@pytest.fixture(scope="module")
def model():
    return train_wordpiece({"sing": 6, "singers": 3, "ring": 5, "hello": 2, "мир": 2, "x": 1}, 30)


@pytest.fixture(scope="module")
def letters():
    return WordPiece(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdef"),
                     ("[PAD]", "[UNK]", "[CLS]", "[SEP]"))


def case(rng):
    "A random call: texts, pairs, and how to cut and pad."
    text = lambda: " ".join(rng.choices(WORDS, k=rng.randint(0, 12)))
    texts = [text() for _ in range(rng.randint(1, 4))]
    if rng.random() < .3: texts = [t.split() for t in texts]
    pairs = None
    if rng.random() < .6:
        pairs = [t.split() if isinstance(texts[0], list) else t for t in (text() for _ in texts)]
    cut = dict(max_length=rng.choice([None, *range(2, 30)]), truncation=rng.choice(STRATEGIES),
               truncation_side=rng.choice(["left", "right"]), stride=rng.choice([0, 0, 1, 2, 5]))
    pad = dict(padding=rng.choice([None, "longest", 12, 40]),
               padding_side=rng.choice(["left", "right"]),
               multiple_of=rng.choice([1, 1, 4, 8]))
    return texts, pairs, cut, pad


def theirs(tokenizer, texts, pairs, cut, pad):
    "The rows that Hugging Face makes, and the text of each."
    tokenizer.no_truncation(); tokenizer.no_padding()
    if cut["max_length"] is not None:
        tokenizer.enable_truncation(cut["max_length"], stride=cut["stride"],
                                    strategy=cut["truncation"],
                                    direction=cut["truncation_side"])
    if pad["padding"] is not None:
        tokenizer.enable_padding(
            direction=pad["padding_side"], pad_id=tokenizer.token_to_id("[PAD]"), pad_token="[PAD]",
            length=None if pad["padding"] == "longest" else pad["padding"],
            pad_to_multiple_of=None if pad["multiple_of"] == 1 else pad["multiple_of"])
    inputs = texts if pairs is None else list(zip(texts, pairs))
    made = tokenizer.encode_batch(inputs, is_pretokenized=isinstance(texts[0], list))
    return [(i, row) for i, e in enumerate(made) for row in (e, *e.overflowing)]


def test_two_thousand_random_cases(model):
    rng, tokenizer, seen = random.Random(0), model.to_hf(), Counter()
    compared = overflowed = refused = 0
    while compared < 2_000:
        texts, pairs, cut, pad = case(rng)
        try: ours = encode_batch(texts, model, pairs, Cut(**cut), **pad, overflow=True)
        except ValueError as e:
            assert any(w in str(e) for w in ("stride", "longest_first", "special tokens alone")), e
            refused += 1
            continue
        if cut["max_length"] and cut["max_length"] - 3 <= cut["stride"]: continue # refused there
        rows = theirs(tokenizer, texts, pairs, cut, pad)
        if not all(shares_room(texts, pairs, cut, model)): continue
        compared += 1
        seen.update([f"pairs: {pairs is not None}", f"stride: {cut['stride'] > 0}",
                     cut["truncation"], f"cut {cut['truncation_side']}",
                     f"pad {pad['padding_side']}", f"multiples of {pad['multiple_of']}"])
        overflowed += len(ours.rows) > len(texts)
        assert ours.text == [i for i, _ in rows], (texts, pairs, cut)
        for mine, their in COLUMNS.items():
            expected = [list(getattr(row, their)) for _, row in rows]
            assert ours.column(mine) == expected, (mine, texts, pairs, cut, pad)
    assert overflowed > 300 and refused > 50
    # Single texts and pairs, three ways to cut, sides, strides, multiples: many of each.
    assert len(seen) == 14 and min(seen.values()) > 300, seen


def shares_room(texts, pairs, cut, model):
    "Whether each text keeps something; at none, Hugging Face overflows with too long a row."
    for first, second in zip(texts, pairs or [None] * len(texts)):
        if cut["max_length"] is None: yield True; continue
        a, b = len(cells_of(model, first)), 0 if second is None else len(cells_of(model, second))
        kept = shares(a, b, cut["max_length"] - (2 if second is None else 3), cut["truncation"])
        yield (kept[0] or not a) and (kept[1] or not b)


def test_special_tokens_keep_their_room(letters):  # S01
    tokens = lambda cut, **kw: [c.token
                                for c in encode_rows(letters, "a b c d e f", cut=Cut(cut, **kw))[0]]
    assert tokens(5) == ["[CLS]", "a", "b", "c", "[SEP]"]
    assert tokens(3) == ["[CLS]", "a", "[SEP]"] and tokens(2) == ["[CLS]", "[SEP]"]
    assert tokens(4, truncation_side="left") == ["[CLS]", "e", "f", "[SEP]"]
    assert tokens(2, single="$A") == ["a", "b"]
    row = encode_rows(letters, "a b c d e f", cut=Cut(5))[0]
    assert [c.word for c in row] == [None, 0, 1, 2, None] and [c.special for c in row] == [1, 0, 0,
                                                                                           0, 1]
    with pytest.raises(ValueError, match="special tokens alone are 2"): tokens(1)
    with pytest.raises(ValueError, match="special tokens alone are 3"):
        encode_rows(letters, "a", "b", Cut(2))


def test_words_of_split_input(letters):  # S04
    row = encode_rows(letters, ["a", "b c", "", "d"])[0]
    assert [c.token for c in row] == ["[CLS]", "a", "b", "c", "d", "[SEP]"]
    assert [c.word for c in row] == [None, 0, 1, 1, 3, None]
    assert [c.span for c in row] == [(0, 0), (0, 1), (0, 1), (2, 3), (0, 1), (0, 0)]
    padded = encode_batch(["a b c", "a"], letters).column("word")
    assert padded[1] == [None, 0, None, None, None]


def test_offsets_cover_what_was_normalised():  # S06
    from unicodedata import normalize as form
    for text, rule, spans in [
            ("cafe\u0301x", lambda t: form("NFC", t), [(0, 1), (1, 2), (2, 3), (3, 5), (5, 6)]),
            ("\u1100\u1161\u11a8\u1102\u1161", lambda t: form("NFC", t), [(0, 3), (3, 5)]),
            ("ﬁx½", lambda t: form("NFKC", t), [(0, 1), (0, 1), (1, 2), (2, 3), (2, 3), (2, 3)]),
            ("İS", str.lower, [(0, 1), (0, 1), (1, 2)])]:
        assert aligned(text, rule) == (rule(text), spans)
    # a mark that is deleted and never composed belongs to its letter all the same
    assert normalized_spans("q\u0301x") == ("qx", [(0, 2), (2, 3)])


@given(st.text(st.one_of(st.characters(),
                         st.sampled_from(" -—\u0301\u0334\u1100\u1161\u11a8ﬁ½«»e\t"))))
@settings(max_examples=400, deadline=None)
def test_places_of_any_text(text):
    new, spans = normalized_spans(text)
    assert new.split() == normalize(text).split() and len(new) == len(spans)
    assert all(0 <= a < b <= len(text) for a, b in spans)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(spans, spans[1:]))


def test_tokens_can_be_cut_out_of_the_text(model):
    text = "  sing «hello»   singеrs e\u0301 мир - x"
    for cell in cells_of(model, text):
        piece = text[slice(*cell.span)]
        if cell.token != "[UNK]": assert normalize(piece) == cell.token.removeprefix("##")
        else: assert piece.strip() == piece != ""


@given(st.integers(0, 40), st.integers(1, 12), st.integers(0, 11),
       st.sampled_from(["left", "right"]))
@settings(max_examples=300, deadline=None)
def test_windows_lose_nothing(n, room, stride, side):
    cells = list(range(n))
    if stride >= room and n > room:
        with pytest.raises(ValueError, match="stride"): windows(cells, room, stride, side)
        return
    parts = windows(cells, room, stride, side)
    assert {c for part in parts for c in part} == set(cells) and all(len(p) <= room for p in parts)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 50))
@settings(max_examples=300, deadline=None)
def test_longest_first_cuts_the_longer(first, second, room):
    a, b = shares(first, second, room)
    assert (a, b) <= (first, second) and a + b == min(room, first + second)
    if a < first and b < second: assert abs(a - b) <= 1


def test_bad_input(letters):
    with pytest.raises(ValueError, match="2 texts and 1 second"):
        encode_batch(["a", "b"], letters, ["c"])
    with pytest.raises(ValueError, match="expected one of longest_first"):
        encode_rows(letters, "a b c d", cut=Cut(3, "longest"))
    with pytest.raises(ValueError, match="not in the vocabulary"):
        encode_rows(letters, "a", cut=Cut(single="<s> $A"))
    assert encode_batch([], letters).rows == []


def test_a_pad_id_that_is_not_zero(letters):
    other = WordPiece(("[UNK]", "[CLS]", "[SEP]", "[PAD]", "a"),
                      ("[UNK]", "[CLS]", "[SEP]", "[PAD]"))
    ids = np.array(encode_batch(["a", "a a a"], other).column("id"))
    assert ids.shape == (2, 5) and (ids[0, 3:] == 3).all()


def test_labels_go_to_tokens(model):
    row = encode_batch([["singers", "x"]], model, padding=9).rows[0]
    labels = spread_labels(row, ["NAME", "O"])
    assert [labels[i] for i, c in enumerate(row) if c.word == 1] == ["O"]
    assert all((label == -100) == (cell.word is None) for label, cell in zip(labels, row))
    assert spread_labels(row, ["NAME", "O"], inside=-100).count("NAME") == 1


def test_any_tokenizer_of_the_production_library(model):
    twin = model.to_hf()
    a, b = (encode_batch(["hello singers", "x"], m, cut=Cut(5)).rows for m in (model, twin))
    assert a == b


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("normalizer", ["lesson", "nfc", "nfkc", "none"])
@pytest.mark.parametrize("pre_tokenizer", ["lesson", "gpt2", "indic"])
def test_cells_follow_the_model(normalizer, pre_tokenizer, lowercase):
    text = "ΟΔΟΣ «ﬁx½» Кот's पढ़ो e\u0301 - x"
    letters = sorted({c for form in (text, text.lower(), normalize(text)) for c in form} | {*"ﬁ½"})
    made = WordPiece(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{c}" for c in letters)),
                     lowercase=lowercase, normalizer=normalizer, pre_tokenizer=pre_tokenizer,
                     special_tokens=("[PAD]", "[UNK]", "[CLS]", "[SEP]"))
    cells = cells_of(made, text)
    assert [c.token for c in cells] == made.encode(text)
    assert [c.id for c in cells] == made.to_hf().encode(text, add_special_tokens=False).ids
    assert max(c.word for c in cells) + 1 == len(made.words(text))


def test_half_a_character_is_named(model):
    "Our own model reads it, and the production library can't."
    assert encode_batch(["a\ud800"], model).rows
    for text in ("a\ud800", ["a", "\udfff"]):
        with pytest.raises(ValueError, match="lone surrogate"): encode_batch([text], model.to_hf())
