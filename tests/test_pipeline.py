"""Words, normalisers and bytes around a model: nothing is lost, and `tokenizers` agrees."""
import unicodedata
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import normalizers as nz

from tfs.bpe import BPE, differences, hf_ids, normalize_texts
from tfs.pipeline import PRE_TOKENIZERS, Pipeline, all_pipelines, from_bytes, pipeline_of, to_bytes

CORPUS = ["Да - да. It's  so\n", "नमस्ते\u200d है।। ½", "a\tb\u00a0c \r\n", "e\u0301 ﬁ «да»", "1 2 _x"]
LIKELY = "abдж '-.\n\t\u00a0\u200d\u200cनि\u094d।\u0301é1½_▁ĠàÀﬁ«—\r\x1c\x85\u3000"
anything = st.text(st.one_of(st.sampled_from(LIKELY), st.characters()), max_size=40)
sound = st.text(st.one_of(st.sampled_from(LIKELY), st.characters(exclude_categories=["Cs", "Cn"])),
                max_size=40)
every_pipeline = pytest.mark.parametrize("pipeline", all_pipelines(), ids=str)


def same_tables(text):
    "Whether Python and `tokenizers` have the same Unicode tables for the characters of a text."
    return all(nz.NFKC().normalize_str(c) == unicodedata.normalize("NFKC", c) for c in text)


def trained(pipeline):
    "A small tokenizer with these steps."
    special = ["<pad>"] if pipeline.byte_level else ["<pad>", "<unk>"]
    return BPE.train(CORPUS * 2, 400, special_tokens=special, normalizer=pipeline.normalizer,
                     pre_tokenizer=pipeline.pre_tokenizer, byte_level=pipeline.byte_level)


@given(anything)
@example("\ud83d\ude00 \ude00\ud83d")
def test_bytes_spell_any_string(text):
    assert from_bytes(to_bytes(text)) == text


@pytest.mark.parametrize("words", PRE_TOKENIZERS)
def test_bytes_lose_nothing(words):
    "Every string comes back exactly, lone surrogates and special tokens included."
    bpe = trained(Pipeline("none", words, True))
    @settings(max_examples=150, deadline=None)
    @given(anything)
    @example("<pad> <pad>a")
    def check(text):
        ids = bpe.encode_ids(text)
        assert bpe.decode(ids, skip_special_tokens=False) == text
        assert ids == [bpe.vocab[token] for token in bpe.encode(text)]
    check()


@every_pipeline
def test_same_ids_in_tokenizers(pipeline):
    bpe = trained(pipeline)
    hf = bpe.to_hf()
    assert pipeline_of(hf) == pipeline and BPE.from_hf(hf).vocab == bpe.vocab
    @settings(max_examples=25, deadline=None)
    @given(st.lists(sound, max_size=8))
    @example(["<pad>a<pad>", " <pad> b", ""])
    def check(texts):
        texts = list(filter(same_tables, texts))
        assert differences(texts, bpe.encode_batch, hf_ids(hf)) == []
        for text in texts:
            if "▁" in text: continue # it reads as a space, and a first one as the space in front
            ids = bpe.encode_ids(text)
            assert bpe.decode(ids) == hf.decode(ids)
    check()


@every_pipeline
def test_counting_is_cutting(pipeline):
    @settings(max_examples=25, deadline=None)
    @given(st.lists(anything, max_size=8))
    def check(texts):
        assert pipeline.count(texts) == Counter(w for text in texts for w in pipeline.words(text))
    check()


@pytest.mark.parametrize("words", ["gpt2", "indic"])
def test_characters_lose_nothing_but_unknown_ones(words):
    bpe = trained(Pipeline("nfc", words))
    for text in CORPUS:
        assert bpe.decode(bpe.encode(text)) == normalize_texts([text], "nfc")[0]


@pytest.mark.parametrize("words", PRE_TOKENIZERS)
def test_tiktoken_has_the_same_ids(words):
    pytest.importorskip("tiktoken")
    bpe = trained(Pipeline("none", words, True))
    encoding = bpe.to_tiktoken()
    @settings(max_examples=100, deadline=None)
    @given(sound)
    def check(text):
        assert encoding.encode_ordinary(text) == bpe.encode_ids(text)
        assert encoding.decode(bpe.encode_ids(text)) == text
    check()
