"""Unigram against brute force, against the production libraries, and on bad input."""
import io
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from math import exp, inf, isfinite, log

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tfs.bpe import word_counts
from tfs.data import load_test, load_train, normalize
from tfs.unigram import (
    Unigram,
    em_step,
    expected_counts,
    forward,
    nbest_word,
    sample_word,
    seed_pieces,
    segmentations,
    train_unigram,
    train_unigram_simple,
    viterbi,
)

WORD = st.text("abc", min_size=1, max_size=8)
COUNTS = st.dictionaries(st.text("abcd", min_size=1, max_size=8), st.integers(1, 9), min_size=1,
                         max_size=9)
PIECES = st.dictionaries(st.text("abc", min_size=1, max_size=4), st.floats(-9, -0.01), max_size=12)


def whole(pieces):
    "The pieces with all letters."
    return {"a": -3.0, "b": -3.5, "c": -4.0, **pieces}


def score(way, logp): return sum(map(logp.get, way))


@given(WORD, PIECES)
@settings(max_examples=300, deadline=None)
def test_viterbi_and_nbest_equal_brute_force(word, pieces):
    logp = whole(pieces)
    ways = segmentations(word, logp)
    best, value = viterbi(word, logp)
    assert best in ways and value == pytest.approx(max(score(w, logp) for w in ways))
    found = nbest_word(word, logp, len(ways) + 5)
    assert sorted(w for w, _ in found) == sorted(ways)
    assert all(a >= b for (_, a), (_, b) in pairwise(found))
    few = nbest_word(word, logp, 3)
    assert [v for _, v in few] == pytest.approx([v for _, v in found[:3]])
    assert few[0][1] == pytest.approx(value)


@given(WORD, PIECES)
@settings(max_examples=300, deadline=None)
def test_expected_counts_equal_brute_force(word, pieces):
    logp, sums = whole(pieces), Counter()
    chances = {tuple(w): exp(score(w, logp)) for w in segmentations(word, logp)}
    total = sum(chances.values())
    for way, chance in chances.items():
        for piece in way: sums[piece] += chance / total
    counts, loglik = expected_counts(word, logp)
    assert loglik == pytest.approx(log(total)) == pytest.approx(forward(word, logp)[-1])
    assert {p: n for p, n in counts.items() if n > 1e-12} == pytest.approx(
        {p: n for p, n in sums.items() if n > 1e-12})


def test_expectation_uses_all_spellings():  # U03
    logp = {"a": log(.2), "b": log(.2), "ab": log(.1)}
    counts, loglik = expected_counts("ab", logp)
    assert counts == pytest.approx({"ab": 5 / 7, "a": 2 / 7, "b": 2 / 7}, abs=1e-9)
    assert loglik == pytest.approx(-1.9661128563728327, abs=1e-9)
    after, _, _ = em_step({"ab": 1}, logp)
    assert {p: exp(v) for p, v in after.items()} == pytest.approx({"ab": 5/9, "a": 2/9, "b": 2/9})


def test_ties_and_unknown_text():  # U01
    model = Unigram({"a": -1., "b": -1., "c": -1., "ab": -2., "bc": -2.})
    assert [model.encode_word(w) for w in ("abc", "ab", "zzab")] == [["a", "bc"], ["ab"],
                                                                     ["zz", "ab"]]
    assert model.ids(["zz", "ab"])[0] == 0 and viterbi("abc", model.logp)[1] == -3


@given(COUNTS)
@settings(max_examples=60, deadline=None)
def test_the_likelihood_never_falls(counts):
    seeds = seed_pieces(counts)
    logp, before = {p: log(n / sum(seeds.values())) for p, n in seeds.items()}, -inf
    for _ in range(4):
        logp, _, now = em_step(counts, logp)
        assert now >= before - 1e-9 * max(1, abs(now))
        before = now


@given(COUNTS, st.integers(0, 12))
@settings(max_examples=120, deadline=None)
def test_fast_and_plain_trainers_agree(counts, more):
    size = len(set("".join(counts))) + more
    plain = train_unigram_simple(counts, size)
    history = []
    fast = train_unigram(counts, size + 1, seed_size=10**6, history=history).logp
    # Mirrored words give exactly equal losses, which rounding may order either way.
    assume(set(plain) == set(fast)
           or sorted(plain.values()) != pytest.approx(sorted(fast.values())))
    assert set(plain) == set(fast) and fast == pytest.approx(plain, abs=1e-6)
    assert all(b >= a - 1e-9 * max(1, abs(a)) for _, liks in history for a, b in pairwise(liks))


@pytest.fixture(scope="module")
def corpus():
    train, held = load_train("sample"), load_test("sample")
    texts = lambda pairs: [normalize(t) for t in pairs.en.tolist() + pairs.ru.tolist()]
    return texts(train), texts(held)


@pytest.fixture(scope="module")
def model(corpus):
    return train_unigram(word_counts(corpus[0]), 6_000)


def test_to_hf_gives_the_same_segmentations(corpus, model, tmp_path):
    from tokenizers import Tokenizer
    twin = model.to_hf()
    twin.save(str(tmp_path / "t.json"))
    texts = corpus[0][::2] + corpus[1] + ["", "zß字字 a", "👍👍 x👍y", "2024, 12½"]
    for each in (twin, Tokenizer.from_file(str(tmp_path / "t.json"))):
        for text, e in zip(texts, each.encode_batch(texts)):
            tokens = model.encode(text)
            assert (e.tokens, e.ids) == (tokens, model.ids(tokens)), text
            assert model.decode(tokens) == normalize(text)


SIZE = 8_000


def sentencepiece_model(counts, **more):
    "What SentencePiece learns from words with counts, taken as they are."
    sp = pytest.importorskip("sentencepiece", minversion="0.2")
    rows, file = (f"{w}\t{n}" for w, n in counts.items()), io.BytesIO()
    sp.SentencePieceTrainer.train(
        sentence_iterator=rows, input_format="tsv", model_writer=file, vocab_size=SIZE,
        model_type="unigram", character_coverage=1.0, normalization_rule_name="identity",
        add_dummy_prefix=False, bos_id=-1, eos_id=-1, split_by_unicode_script=False,
        split_by_number=False, minloglevel=2, **more)
    p = sp.SentencePieceProcessor(model_proto=file.getvalue())
    return Unigram({p.id_to_piece(i): p.get_score(i) for i in range(1, p.get_piece_size())})


def held_out(model, held):
    "Tokens and log likelihood of the held-out words."
    return (sum(n * len(model.encode_word(w)) for w, n in held.items()),
            model.log_likelihood(held))


@pytest.fixture(scope="module")
def trained(corpus):
    "The words, the held-out words, our model, and SentencePiece's."
    counts, held = word_counts(corpus[0]), word_counts(corpus[1])
    return counts, held, train_unigram(counts, SIZE), sentencepiece_model(counts)


def test_level_with_sentencepiece(trained, tmp_path):
    counts, held, ours, _ = trained
    candidates = tmp_path / "candidates.tsv"
    lines = (f"{piece}\t{n}\n" for piece, n in seed_pieces(counts).items())
    candidates.write_text("".join(lines), encoding="utf-8", newline="\n")
    theirs = sentencepiece_model(counts, seed_sentencepieces_file=str(candidates))
    assert len(ours.vocab) == len(theirs.vocab) == SIZE
    tokens, shipped = zip(held_out(ours, held), held_out(theirs, held))
    assert tokens[0] == pytest.approx(tokens[1], rel=.02)
    # It drops its last tenth of pieces without estimating again, and loses by that.
    assert shipped[0] >= shipped[1]
    refined = [held_out(Unigram(em_step(counts, m.logp)[0]), held)[1] for m in (ours, theirs)]
    assert refined[0] == pytest.approx(refined[1], rel=.02)
    assert shipped[0] == pytest.approx(refined[1], rel=.02)


def test_level_with_sentencepiece_by_its_own_rule(trained):
    counts, held, _, theirs = trained
    mine, other = (held_out(m, held) for m in (train_unigram(counts, SIZE, ends=False), theirs))
    assert mine == pytest.approx(other, rel=.02)


def test_ahead_of_sentencepiece_with_its_own_candidates(trained):
    counts, held, ours, theirs = trained
    (tokens, loglik), (other, likelihood) = held_out(ours, held), held_out(theirs, held)
    assert tokens <= other and loglik >= likelihood
    # A substring that one sign always follows, be it the end, is no candidate there.
    absent = [[w for w, _ in counts.most_common(500) if w not in m.logp] for m in (ours, theirs)]
    followed = {(w[i:j], w[j:j + 1]) for w in counts for i in range(len(w))
                for j in range(i + 1, min(i + 16, len(w)) + 1)}
    signs = Counter(piece for piece, _ in followed)
    assert len(absent[0]) < 25 and len(absent[1]) > 100
    assert sum(signs[w] == 1 for w in absent[1]) > .95 * len(absent[1])


def test_sampling_follows_the_model():
    from scipy.stats import chisquare
    logp, rng = {"a": log(.3), "b": log(.2), "ab": log(.2), "ba": log(.15),
                 "aba": log(.15)}, random.Random(5)
    ways = [tuple(w) for w in segmentations("ababa", logp)]
    for alpha in (1, .4, 0):
        chances = [exp(alpha * score(w, logp)) for w in ways]
        drawn = Counter(tuple(sample_word("ababa", logp, rng, alpha)) for _ in range(6_000))
        expected = [6_000 * c / sum(chances) for c in chances]
        assert chisquare([drawn[w] for w in ways], expected).pvalue > 1e-3
    one, two = (Unigram(logp).sample("ababab", random.Random(9)) for _ in range(2))
    assert one == two


def test_long_words_do_not_underflow():
    logp = {"a": -9.0, "b": -9.0, "ab": -12.0}
    word = "ab" * 5_000
    counts, loglik = expected_counts(word, logp)
    assert isfinite(loglik) and counts["ab"] + counts["a"] == pytest.approx(5_000)
    history = []
    trained = train_unigram({word: 2, "ba": 3}, 12, history=history)
    assert all(map(isfinite, trained.logp.values())) and all(isfinite(v) for _, ls in history
                                                             for v in ls)
    assert "".join(trained.encode_word("a" * 100_000)) == "a" * 100_000


@given(st.text(st.characters()))
@settings(max_examples=150, deadline=None)
def test_encoding_is_total_and_lossless(text):
    model = Unigram({"a": -1.0, "▁": -1.0, "▁a": -1.5})
    if "▁" not in text: assert model.decode(model.encode(text)) == normalize(text)


@given(COUNTS, st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_sizes(counts, size):
    low = len(set("".join(counts))) + 1
    if size < low:
        with pytest.raises(ValueError, match=f"alone need {low}; at most"):
            train_unigram(counts, size)
    else:
        model = train_unigram(counts, size)
        assert len(model.vocab) <= size and set("".join(counts)) <= set(model.logp)


@given(COUNTS)
@settings(max_examples=100, deadline=None)
def test_candidates_without_ends_are_followed_by_two_signs(counts):
    places = [(w, w[i:j], w[j:j + 1]) for w in counts for i in range(len(w))
              for j in range(i + 1, len(w) + 1)]
    times, signs = Counter(), Counter(piece for piece, _ in {place[1:] for place in places})
    for word, piece, _ in places: times[piece] += counts[word]
    found = train_unigram(counts, 10_000, ends=False).logp
    assert set(found) == {p for p in times if len(p) == 1 or times[p] >= 2 and signs[p] > 1}


@given(COUNTS)
@settings(max_examples=60, deadline=None)
def test_the_largest_size_can_be_reached(counts):
    with pytest.raises(ValueError) as error: train_unigram(counts, 0)
    most = int(str(error.value).split("at most ")[1].split()[0])
    assert [len(train_unigram(counts, size).vocab) for size in (most, most + 9)] == [most] * 2


def test_bad_input(tmp_path):
    for empty in ({}, {"": 3}, {"a": 0}):
        with pytest.raises(ValueError, match="nothing to learn from"): train_unigram(empty, 10)
    with pytest.raises(ValueError, match="no special token"): Unigram({"a": -1.0}, ("<pad>",))
    with pytest.raises(ValueError, match="special token and a piece"): Unigram({"<unk>": -1.0})
    model = train_unigram({"ab\ud800": 2, "ab": 3}, 9)
    assert Unigram.load(model.save(tmp_path / "m.json")) == model


def test_the_memo_is_bounded():
    model = Unigram({"a": -1.0, "b": -2.0})
    model._memo = {f"{i}": [] for i in range(100_000)}
    assert model.encode_word("ab") == ["a", "b"] and len(model._memo) == 1


def test_the_hash_seed_changes_nothing():
    code = ("from tfs.unigram import train_unigram\n"
            "words = {f'{a}{b}{c}{a}': 1 + len(a + b) for a in 'abcde' for b in 'fgha' "
            "for c in 'xay'}\n"
            "print(train_unigram(words, 60).logp)")
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in "123"}
    assert len(runs) == 1
