"""Faults that users of other libraries have reported, with the right result here.

Each test names the report. Those about training, encoding, WordPiece, Unigram, batches and measures
stand beside their modules.
"""
import io
import unicodedata

import pytest
from tokenizers import normalizers as nz

from tfs import bpe, data, measure, viz
from tfs.bpe import BPE
from tfs.cli import _write_markdown
from tfs.parallel import read_parallel
from tfs.reading import read_chunks
from tfs.training import count_files


def test_marks_are_those_of_category_mn():
    "https://github.com/huggingface/tokenizers/issues/572: three definitions, three Hindi texts."
    text = "की कि कु का कं क़"
    assert data.normalize(text) == bpe.normalizer().normalize_str(text) == "की कि क का क क"
    assert bpe.normalize_texts([text], "nfc") == [unicodedata.normalize("NFC", text)]
    assert measure.pre_tokens("किताबें पढ़ो", "indic") == ["किताबें", " पढ़ो"]


def test_nfkc_is_the_published_one():
    "https://github.com/tesseract-ocr/tesseract/issues/1852: more than a harmless clean-up."
    text = "10² ½ ﬁne Ⅷ ㎏ … x\u00a0y ´ \u2011 − Ａ"
    right = "102 1⁄2 fine VIII kg ... x y  \u0301 \u2010 − A"
    assert bpe.normalize_texts([text], "nfkc") == [right] == [nz.NFKC().normalize_str(text)]


def test_an_apostrophe_that_is_a_letter_stays_one():
    "https://github.com/facebookresearch/fastText/issues/1265: U+02BC is a letter."
    words = {"м’ята": ["▁м", "'", "ята"], "м'ята": ["▁м", "'", "ята"], "мʼята": ["▁мʼята"]}
    for word, pieces in words.items(): assert bpe.pretokenize(data.normalize(word)) == pieces
    assert measure.pre_tokens("мʼята", "indic") == ["мʼята"]


@pytest.mark.parametrize("text", ["a  b\tc\n", " a", "a ", "\n\n", "a\u2028b", "x\u00a0y"])
def test_whitespace_is_kept_where_losslessness_is_promised(text):
    "https://github.com/google/sentencepiece/issues/185: a pattern that skips loses."
    for name in ("gpt2", "indic"): assert "".join(measure.pre_tokens(text, name)) == text
    model = BPE.train([text * 3], n_merges=5, pre_tokenizer="gpt2", byte_level=True,
                      normalizer="none")
    assert model.decode(model.encode(text)) == text
    twin = model.to_hf()
    assert twin.decode(twin.encode(text).ids) == text


def test_whitespace_between_words_is_what_the_lesson_says_it_loses():
    "The twin of `findall` leaves out what it leaves out."
    model = BPE.train(["a  b\tc\n"], n_merges=0, normalizer="none")
    assert model.encode("a  b\tc\n") == model.to_hf().encode("a  b\tc\n").tokens
    assert model.decode(model.encode("a  b\tc\n")) == "a bc"


def test_line_ends_are_no_text(tmp_path):
    "https://github.com/huggingface/tokenizers/issues/231: a file is its lines."
    (tmp_path/"lf").write_bytes(b"ab ab\nab cd\n")
    (tmp_path/"crlf").write_bytes(b"ab ab\r\nab cd\r\n")
    lines = bpe.count_words(["ab ab", "ab cd"])
    assert count_files([tmp_path/"lf"]) == count_files([tmp_path/"crlf"]) == lines
    assert not any("\n" in word or "\r" in word for word in lines)


def test_ties_follow_the_alphabet_in_use():
    "https://github.com/karpathy/minbpe/pull/90: bytes sort otherwise than characters."
    words = [" ab", " ab"]
    assert BPE.train(words, n_merges=2, tie="id", byte_level=True, normalizer="none",
                     pre_tokenizer="gpt2").merges == [("a", "b"), ("Ġ", "ab")]
    first = BPE.train({" ab": 2}, n_merges=2, tie="id").merges
    assert first == [(" ", "a"), (" a", "b")]


def test_decoding_cleans_nothing_up(tmp_path):
    "https://github.com/huggingface/transformers/issues/32575: spaces before punctuation stay."
    text = "x != y , ok ? do n't it 's"
    model = BPE.train([text] * 2, n_merges=20)
    assert model.decode(model.encode(text)) == text
    transformers = pytest.importorskip("transformers")
    from tfs.training import save_tokenizer
    save_tokenizer(model, tmp_path/"tokenizer.json")
    wrapped = measure.as_tokenizer(transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path/"tokenizer.json")))
    assert wrapped.decode(wrapped.encode([text])) == [text]


def test_only_a_line_feed_ends_a_line(tmp_path):
    "https://github.com/huggingface/datasets/issues/3729: str.splitlines sees six lines here."
    rows = ["1\ta\u2028b", "2\tc\x85d", "3\te\x0cf"]
    path = tmp_path/"odd.tsv"
    path.write_text("\n".join(["en\tru", *rows, ""]), encoding="utf-8", newline="")
    assert data.read_pairs(path).values.tolist() == [row.split("\t") for row in rows]
    assert read_parallel(path).values.tolist()[:3] == [row.split("\t") for row in rows]
    assert len(list(map(str, "".join(read_chunks(path)).split("\n")))) == 5


def test_a_byte_order_mark_is_no_text(tmp_path):
    "https://github.com/trezor/python-mnemonic/pull/83: the first word, and only at the beginning."
    (tmp_path/"bom.txt").write_bytes("\ufeffhello\n".encode())
    (tmp_path/"plain.txt").write_bytes(b"hello\n")
    (tmp_path/"inside.txt").write_bytes("a\ufeffb".encode())
    assert "".join(read_chunks(tmp_path/"bom.txt")) == "hello\n"
    assert count_files([tmp_path/"bom.txt"]) == count_files([tmp_path/"plain.txt"])
    assert "".join(read_chunks(tmp_path/"inside.txt")) == "a\ufeffb"
    assert data.read_text(tmp_path/"bom.txt") == "hello\n"


def test_nul_is_a_character(tmp_path):
    "https://github.com/google/sentencepiece/issues/1308: counted, decoded and shown."
    figures = measure.measure("codepoints", "a\0b")
    assert figures.characters == figures.tokens == 3
    model = BPE.train(["a\0b"], n_merges=3, byte_level=True, pre_tokenizer="gpt2")
    assert model.decode(model.encode("a\0b")) == "a\0b"
    chips = viz.token_chips([["a", "\0", "b"]])
    assert "\0" not in chips._repr_html_() and "\\x00" in chips._repr_html_()
    (tmp_path/"nul.csv").write_bytes(b"en,ru\n1,a\0b\n")
    try: assert data.read_pairs(tmp_path/"nul.csv").ru.tolist() == ["a\0b"]
    except data.PairsError as e: assert "line 2" in str(e) and "NUL" in str(e)  # before 3.11


TATOEBA = '1\teng\t"Wait, he said.\tА\n2\teng\tHello.\tБ\n3\teng\t"Quoted" start\tВ\n'


def test_a_quote_swallows_nothing(tmp_path):
    "https://github.com/Tatoeba/tatoeba2/issues/2973: as many pairs as lines."
    path = tmp_path/"quotes.tsv"
    path.write_text("\n".join(line.split("\t", 2)[2] for line in TATOEBA.splitlines()),
                    encoding="utf-8")
    assert data.read_pairs(path).values.tolist() == [
        ['"Wait, he said.', "А"], ["Hello.", "Б"], ['"Quoted" start', "В"]]


@pytest.mark.parametrize(("rows", "line"), [("hi\tпривет\none\ttwo\tтри\nbye\tпока\n", 2),
                                            ("one\ttwo\tтри\nhi\tпривет\n", 1)])
def test_a_field_too_many_shifts_nothing(tmp_path, rows, line):
    "https://github.com/Helsinki-NLP/OPUS/issues/23: the line is named."
    path = tmp_path/"wide.tsv"
    path.write_text(rows, encoding="utf-8")
    with pytest.raises(data.PairsError, match=f"line {line}: 3 fields"): data.read_pairs(path)


@pytest.mark.parametrize("turn", [lambda i: (i, i + 1), lambda i: (99_999 - i, 99_998 - i),
                                  lambda i: (i + 1, i)])
def test_long_chains_need_no_recursion(turn):
    "https://github.com/elizaOS/eliza/issues/24029: 100,000 links, one group, whatever the order."
    union = data.UnionFind()
    union.union(5, 5)
    for i in range(99_999): union.union(*turn(i))
    assert len({union.find(i) for i in range(100_000)}) == 1


TROUBLE = ["$", "$$", "a$b$c", "$x_1$", "$\\foo$", "\\$5 and $6", "a_b^c", "{", "%", "<unk>",
           "<pad>", "<s>", "</s>", "<0x0A>", "[CLS]", "`$5` and `$6`",
           "<img src=x onerror=alert(1)>"]


def test_no_token_is_a_formula():
    "https://github.com/matplotlib/matplotlib/issues/20266: drawn letter by letter."
    for kind in ("png", "svg"):
        viz.token_chips([TROUBLE]).figure().savefig(io.BytesIO(), format=kind)


def test_no_token_is_markup(capsys):
    "https://github.com/microsoft/vscode/issues/12491: the text of a cell is a text."
    from html.parser import HTMLParser

    class Text(HTMLParser):
        tags, text = set(), ""
        def handle_starttag(self, tag, attrs): self.tags = self.tags | {tag}
        def handle_data(self, data): self.text += data

    blank = dict.fromkeys(map(ord, " ␣"))
    for view in (viz.table([{"token": t} for t in TROUBLE]), viz.token_chips([TROUBLE])):
        page = Text()
        page.feed(view._repr_html_())
        assert not page.tags & {"img", "unk", "pad", "s"}
        for token in TROUBLE: assert token.translate(blank) in page.text.translate(blank)
        assert "mathjax_ignore" in view._repr_html_()
    _write_markdown([{"token": t, "n": 1} for t in TROUBLE], {"token": "token", "n": "count"})
    out = capsys.readouterr().out
    assert not set("<>$`") & set(out.replace("| --- | --- |", "")) and "&#60;unk&#62;" in out
