"""WordPiece against the production library, against its own plain trainer, and on bad input."""
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from tfs.bpe import normalizer
from tfs.data import load_train, normalize
from tfs.wordpiece import (
    WordPiece,
    bert_words,
    encode_wordpiece,
    join,
    pair_scores,
    spell,
    train_wordpiece,
    train_wordpiece_simple,
    wordpiece_merges,
)

COUNTS = st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 9), min_size=1,
                         max_size=8)
MIRROR = Path(os.environ.get("TFS_MIRROR", "-"))
BERT = MIRROR / "models/google-bert/bert-base-uncased/tokenizer.json"


@pytest.fixture(scope="module")
def texts():
    pairs = load_train("sample")
    return [normalize(text) for text in pairs.en.tolist() + pairs.ru.tolist()]


@pytest.fixture(scope="module")
def counts(texts):
    counts = {}
    for text in texts:
        for word in bert_words(text): counts[word] = counts.get(word, 0) + 1
    return counts


@pytest.fixture(scope="module")
def own(counts):
    return train_wordpiece(counts, 4_000, min_frequency=5)


def twenty_thousand(counts):
    "Real words, broken words, unknown letters, and words about as long as the limit."
    rng, real = random.Random(3), sorted(counts)
    letters = sorted(set("".join(real))) + ["字", "👍", "\u0301"]
    for i in range(20_000):
        word = rng.choice(real)
        if i % 3 == 1: word += rng.choice(real)
        if i % 3 == 2: word = "".join(rng.choices(letters, k=rng.randint(1, 12)))
        if i % 500 == 0: word = (word * 101)[:rng.randint(98, 103)]
        yield word


def agree(vocab, words, unk="[UNK]"):
    model, unknown = models.WordPiece(vocab, unk_token=unk, max_input_chars_per_word=100), 0
    for word in words:
        mine = encode_wordpiece(word, vocab, unk)
        assert [t.value for t in model.tokenize(word)] == mine, word
        unknown += mine == [unk]
    return unknown


def test_encoding_equals_hugging_face_with_an_own_vocabulary(own, counts):
    assert agree(own.vocab, twenty_thousand(counts)) > 100


def test_encoding_equals_hugging_face_with_a_random_vocabulary(counts):
    rng, pieces = random.Random(4), {"[UNK]"}
    for word in twenty_thousand(counts):
        a, b = sorted(rng.choices(range(len(word) + 1), k=2))
        if a < b: pieces.add(("##" if a else "") + word[a:b])
    pieces = set(rng.sample(sorted(pieces - {"[UNK]"}), 3_000)) | {"[UNK]"}
    vocab = {piece: i for i, piece in enumerate(sorted(pieces))}
    assert 100 < agree(vocab, twenty_thousand(counts)) < 19_900


@pytest.mark.mirror
@pytest.mark.skipif(not BERT.is_file(), reason="TFS_MIRROR has no BERT vocabulary")
def test_encoding_equals_hugging_face_with_berts_vocabulary(counts):
    bert = Tokenizer.from_file(str(BERT))
    words = [w.lower() for w in twenty_thousand(counts)]
    assert agree(bert.get_vocab(), words) > 100
    for text, tokens in [("Random text to encode", "random text to en ##code"),
                         ("stationery", "station ##ery"), ("10,925", "10 , 92 ##5")]:
        mine = [t for w in bert_words(text.lower()) for t in encode_wordpiece(w, bert.get_vocab())]
        assert mine == tokens.split() == bert.encode(text, add_special_tokens=False).tokens


def test_unknown_words_are_whole():  # W01
    vocab = ["[UNK]", "hello", "he", "##llo", "##l", "##o", "h", "##e", "👍"]
    model = WordPiece(vocab, ("[UNK]",))
    got = [[t for w in text.split() for t in model.encode_word(w)]
           for text in ["hello", "hello😀", "helo", "h👍", "helx hello"]]
    assert got == [["hello"], ["[UNK]"], ["he", "##l", "##o"], ["[UNK]"], ["[UNK]", "hello"]]
    assert model.unknown_rate("helx hello") == 0.5 and model.unknown_rate("") is None


def test_scores_are_exact():  # W03
    words = {spell(w): n for w, n in {"sun": 4, "sung": 2, "run": 5, "fo": 1}.items()}
    scores = pair_scores(words)
    assert max(scores, key=scores.get) == ("f", "##o") and scores["f", "##o"][0] == 1
    tied = {pair for pair, (score, _) in scores.items() if score == Fraction(1, 11)}
    assert tied == {("##n", "##g"), ("##u", "##n"), ("r", "##u"), ("s", "##u")}
    merges = train_wordpiece_simple({"sun": 4, "sung": 2, "run": 5, "fo": 1}, 2)
    assert merges == [("f", "##o"), ("##u", "##n")]


@given(COUNTS, st.integers(1, 4))
@settings(max_examples=250, deadline=None)
def test_fast_and_plain_trainers_agree(counts, least):
    plain = train_wordpiece_simple(counts, 60, least)
    assert wordpiece_merges(counts, 10**6, least)[1][:60] == plain


def test_close_fractions_are_told_apart():
    from tfs.wordpiece import PairTable
    big = 94_906_267  # 1/(big·big) and (big-1)/(big·big·(big-1)) agree, their neighbours don't
    table = PairTable([big, big, big - 1, big + 1])
    table.add("\x00\x01", big)           # 1/big
    table.add("\x02\x03", big - 1)       # 1/(big + 1), the same float to 15 digits
    assert table.best() == "\x00\x01"


def test_the_hash_seed_changes_nothing():
    code = ("from tfs.wordpiece import train_wordpiece\n"
            "words = {f'{a}{b}{c}{a}': 1 + len(a + b) for a in 'abcde' for b in 'fgha' "
            "for c in 'xay'}\n"
            "print(train_wordpiece(words, 90).tokens)")
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in "123"}
    assert len(runs) == 1 and "##" in runs.pop()


def test_to_hf_gives_the_same_ids(own, texts, tmp_path):
    twin = own.to_hf()
    twin.save(str(tmp_path / "t.json"))
    for each in (twin, Tokenizer.from_file(str(tmp_path / "t.json"))):
        found = each.encode_batch(texts[::3], add_special_tokens=False)
        assert [e.ids for e in found] == [own.ids(own.encode(t)) for t in texts[::3]]
    pair = twin.encode("a", "b")
    assert pair.tokens[0] == "[CLS]" and pair.type_ids[-1] == 1


@given(st.text(st.characters()))
@settings(max_examples=200, deadline=None)
def test_encoding_is_total(text):
    model = WordPiece(("[UNK]", "a", "##a"), ("[UNK]",), lowercase=True)
    assert model.decode(model.encode(text)) is not None
    if "\ud800" <= max(text, default="") <= "\udfff": return
    if any("\ud800" <= c <= "\udfff" for c in text): return
    assert normalizer().normalize_str(text) is not None


@given(COUNTS, st.integers(0, 30))
@settings(max_examples=80, deadline=None)
def test_sizes(counts, size):
    letters = {s for w in counts for s in spell(w)}
    if size < len(letters) + 5:
        with pytest.raises(ValueError, match=f"alone need {len(letters) + 5}; at most"):
            train_wordpiece(counts, size)
    else:
        model = train_wordpiece(counts, size)
        assert len(model.vocab) <= size
        assert all("[UNK]" not in model.encode_word(word) for word in counts)


@given(COUNTS, st.integers(1, 3))
@settings(max_examples=80, deadline=None)
def test_the_largest_size_can_be_reached(counts, least):
    train = lambda size: train_wordpiece(counts, size, min_frequency=least)
    with pytest.raises(ValueError) as error: train(0)
    most = int(str(error.value).split("at most ")[1].split()[0])
    assert [len(train(size).vocab) for size in (most, most + 9)] == [most] * 2


def test_a_word_over_the_limit_is_unknown():
    model = WordPiece(("[UNK]", "a", "##a"), ("[UNK]",), max_chars=7)
    assert model.encode_word("a" * 7) == ["a", *["##a"] * 6]
    assert model.encode_word("a" * 8) == ["[UNK]"]


def test_bad_input():
    for empty in ({}, {"": 3}, {"a": 0}):
        with pytest.raises(ValueError, match="nothing to learn from"): train_wordpiece(empty, 10)
    with pytest.raises(ValueError, match="not in the vocabulary"): WordPiece(("a",))
    assert encode_wordpiece("", {"a"}) == [] and join("##a", "##b") == "##ab"


def test_save_and_load(own, tmp_path):
    again = WordPiece.load(own.save(tmp_path / "m.json"))
    assert again == own and again.encode("Hello, мир!") == own.encode("Hello, мир!")
