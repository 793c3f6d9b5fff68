"""Any text and any file: a result or a documented error, never another exception; and what holds of
the result whatever the text is."""
import gzip
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_unicode import tables_differ

from tfs import bpe, data, measure, viz
from tfs.bpe import BPE
from tfs.graphemes import graphemes
from tfs.parallel import read_parallel
from tfs.reading import cut_blocks
from tfs.splits import core, split_corpus, tidy
from tfs.training import count_files, train_counts, usual_pipeline
from tfs.unigram import Unigram
from tfs.wordpiece import WordPiece, bert_words, lower

HERE = Path(__file__).parent
ODD = list("ab09 -—_\n\t\r\0\ud800\udfff\u0301\u093c\u200b\u200d\u200e\u202e\ufeff"
           "\u00ad\u0085\u00a0\u2028\u3000▁Ġ<>&$«»„’ﬁ½İΣßǅकि한\u1100\u1161\u11a8日\U0001f469\U0001f3fd\U0010ffff")
TEXTS = st.text(max_size=30) | st.text(st.sampled_from(ODD), max_size=25) | st.text(
    st.characters(categories=["Cs", "Mn", "Cf", "Zs"]), max_size=10)
CORPUS = ["the cat sat on the mat", "привет, мир", "किताबें पढ़ो", "日本語 한국어 <unk>"] * 3


def examples(n):
    "So many examples; machines are shared, so none has a time limit."
    return settings(max_examples=n, deadline=None, suppress_health_check=list(HealthCheck))


def trained(algorithm, pre_tokenizer):
    "A small tokenizer."
    pipeline = usual_pipeline(algorithm, pre_tokenizer)
    return train_counts(pipeline.count(CORPUS), algorithm, 300, pipeline)


MODELS = {f"{a} {p}": trained(a, p) for a in ("bpe", "wordpiece", "unigram")
          for p in ("lesson", "gpt2", "indic")}
TWINS = {name: model.to_hf() for name, model in MODELS.items()}
half = data.SURROGATE.search


@pytest.mark.parametrize("name", MODELS)
@given(text=TEXTS)
@examples(150)
def test_models_take_any_text(name, text):
    model, twin = MODELS[name], TWINS[name]
    tokens = model.encode(text)
    decoded = model.decode(tokens)
    assert isinstance(decoded, str)
    if name == "bpe gpt2": assert decoded == text
    # a special token spelled out in a text is text for our WordPiece and Unigram
    spelled = "bpe" not in name and any(t in text for t in model.special_tokens)
    if not half(text) and not spelled and not tables_differ(text):
        known = [model.vocab.get(t, model.vocab.get("<unk>", model.vocab.get("[UNK]")))
                 for t in tokens]
        assert known == twin.encode(text, add_special_tokens=False).ids


@given(TEXTS)
@examples(400)
def test_normalising_twice_is_normalising_once(text):
    for change in (data.normalize, tidy, core, lower,
                   *(lambda t, n=n: bpe.normalize_texts([t], n)[0] for n in bpe.NORMALIZERS)):
        assert change(change(text)) == change(text)
    key = data.fingerprint(data.normalize(text))
    assert key == data.fingerprint(key)


@given(st.lists(TEXTS, max_size=40))
@examples(150)
def test_columns_equal_loops(texts):
    assert list(data.normalize_column(texts)) == list(map(data.normalize, texts))
    assert list(data.fingerprint_column(texts)) == list(map(data.fingerprint, texts))
    words = bpe.word_counts(map(data.normalize, texts))
    assert bpe.count_words(texts) == words


@given(TEXTS)
@examples(400)
def test_cutting_loses_nothing(text):
    assert "".join(graphemes(text)) == text
    assert "".join(cut_blocks([text[:3], text[3:]], 4)) == text
    for name in ("gpt2", "indic"): assert "".join(measure.pre_tokens(text, name)) == text
    assert "".join(bert_words(text)) == "".join(c for c in text if not c.isspace())
    squeezed = data.normalize(text)
    assert "".join(bpe.pretokenize(squeezed)).replace("▁", " ").removeprefix(" ") == (
        squeezed.replace("▁", " "))


@pytest.mark.parametrize("name", ["bytes", "codepoints", "graphemes", "words", "bpe gpt2",
                                  "wordpiece lesson", "unigram indic"])
@given(text=TEXTS)
@examples(100)
def test_measures_are_numbers_or_nothing(name, text):
    tokenizer = TWINS.get(name, name)
    try: figures = measure.measure(tokenizer, text, "none").figures()
    except measure.MeasureError as e:
        assert half(text) and "lone surrogate" in str(e)
        return
    json.dumps(figures, allow_nan=False)
    assert figures["characters"] == len(text)


class Tags(HTMLParser):
    "The elements and attributes of a page, and its text."
    def __init__(self, page):
        super().__init__()
        self.seen, self.text = set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        "Note what was opened."
        self.seen |= {tag, *(name for name, _ in attrs)}

    def handle_data(self, data):
        "Note what is read."
        self.text += data


PLAIN = {"figure", "figcaption", "div", "span", "small", "table", "caption", "thead", "tbody", "tr",
         "th", "td", "style", "class", "lang", "dir", "scope", "role", "aria-label", "tabindex",
         "id", "title", "b", "p", "br", "data-quarto-disable-processing"}


@given(TEXTS, TEXTS)
@examples(250)
def test_no_text_becomes_markup(text, label):
    text = f"<img src=x onerror=alert(1)>{text}</script>"
    chips = viz.token_chips([[text, "a"]], labels=[label], ids=[[1, 2]])
    for view in (chips, viz.table({"text": [text]}, caption=label)):
        page = Tags(view._repr_html_())
        assert page.seen <= PLAIN, page.seen - PLAIN
        assert "onerror=alert(1)>" in page.text and isinstance(repr(view), str)
    ET.fromstring(chips.svg())


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                    lambda x: st.lists(x, max_size=4) | st.dictionaries(
                        st.sampled_from(["format", "version", "model", "type", "vocab", "merges",
                                         "tokens", "logp", "added_tokens", "alphabet"]), x),
                    max_leaves=8)
RAW = st.binary(max_size=60) | TEXTS.map(lambda t: t.encode("utf-8", "surrogatepass"))
SAVED = {"BPE": BPE, "WordPiece": WordPiece, "Unigram": Unigram}
FILES = {".tsv": data.read_pairs, ".csv": data.read_pairs, ".tsv.gz": data.read_pairs,
         ".tsv.xz": data.read_pairs, ".parquet": data.read_pairs, ".par.tsv": read_parallel,
         ".par.csv": read_parallel, ".par.parquet": read_parallel, ".lines": None,
         ".json": measure.as_tokenizer, ".vocab.txt": measure.as_tokenizer,
         ".tiktoken": measure.as_tokenizer, ".model": measure.as_tokenizer}


@pytest.mark.parametrize("suffix", FILES)
@given(raw=RAW)
@examples(60)
def test_files_are_read_or_refused(tmp_path_factory, suffix, raw):
    path = tmp_path_factory.getbasetemp()/f"any{suffix}"
    path.write_bytes(gzip.compress(raw)[:-2] if raw[:1] < b"\x20" and "gz" in suffix else raw)
    read = FILES[suffix] or (lambda p: count_files([p]))
    try: read(path)
    except ValueError as e:
        assert str(path) in str(e) and "\n" not in str(e) and not isinstance(e, UnicodeError)


@pytest.mark.parametrize("kind", SAVED)
@given(edit=JSON, field=st.integers(0, 9), cut=st.integers(0, 10_000) | st.none())
@examples(80)
def test_saved_models_are_read_or_refused(tmp_path_factory, kind, edit, field, cut):
    path = tmp_path_factory.getbasetemp()/f"{kind}.json"
    {"BPE": MODELS["bpe lesson"], "WordPiece": MODELS["wordpiece lesson"],
     "Unigram": MODELS["unigram lesson"]}[kind].save(path)
    if cut is None:
        saved = json.loads(path.read_text())
        saved[sorted(saved)[field % len(saved)]] = edit
        path.write_text(json.dumps(saved))
    else: path.write_bytes(path.read_bytes()[:cut])
    try: SAVED[kind].load(path)
    except ValueError as e:
        assert str(path) in str(e) and "\n" not in str(e) and not isinstance(e, UnicodeError)


SENTENCES = st.text(st.sampled_from(list("abв г.-")), max_size=8)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), max_size=25)


@given(PAIRS, PAIRS)
@examples(120)
def test_splits_add_up_and_leak_nothing(train, test):
    frame = lambda rows: pd.DataFrame(rows, columns=["en", "ru"], dtype=object)
    try: made = split_corpus(frame(train), frame(test), share=.3)
    except ValueError as e:
        assert "no pair is left" in str(e) or "empty" in str(e)
        return
    parts = [made.train, made.validation, made.dropped]
    assert sum(map(len, parts)) == len(train)
    for side in ("en", "ru"):
        sides = [set(part[side]) for part in (made.train, made.validation, made.test)]
        assert not sides[0] & sides[1] and not sides[0] & sides[2] and not sides[1] & sides[2]


PROGRAM = """
import hashlib, json
from test_totality import CORPUS, MODELS, TWINS
from tfs.data import clean, load_train, split_by_groups
pairs, _ = clean(load_train("sample")[:3000])
texts = [*pairs.en[:400], *pairs.ru[:400], *CORPUS]
found = [[m.vocab, [m.encode(t) for t in texts[::9]]] for m in MODELS.values()]
found += [[e.ids for e in t.encode_batch(texts)] for t in TWINS.values()]
found += [part.values.tolist() for part in split_by_groups(pairs, .1, seed=3)]
print(hashlib.sha256(json.dumps(found).encode()).hexdigest())
"""


def test_seeds_of_hashes_and_numbers_of_threads_change_nothing():
    seen = set()
    for seed, threads in (("0", "1"), ("1", "2"), ("4242", "8")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads,
               "OMP_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "true",
               "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True,
                              encoding="utf-8")
        assert done.returncode == 0, done.stderr
        seen.add(done.stdout)
    assert len(seen) == 1
