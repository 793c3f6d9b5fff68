"""The texts: made once by `prepare`, and read by every run.

With TFS_MIRROR they are the mirror's pairs and its test set, 123,286 different words after NFKC;
without it the bundled sample; or a file of yours, a sentence a line.
"""
import json
import os
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(os.environ.get("TFS_BENCH_WORK") or ROOT/"work"/"bench")
sys.path.insert(0, str(ROOT))

SPECIALS = ["<pad>", "<unk>", "<bos>", "<eos>"]
PARTS = {"1/27": 27, "1/9": 9, "1/3": 3, "all": 1}   # of the text, for growth


def corpus(source):
    "All sentences of a corpus, training and test pairs, both languages."
    from tfs.data import load_test, load_train
    tables = load_train(source), load_test(source)
    return [sentence for table in tables for side in ("en", "ru") for sentence in table[side]]


def chosen(path):
    "The name of the text and its sentences."
    if path: return Path(path).stem, Path(path).read_text(encoding="utf-8").splitlines()
    if os.environ.get("TFS_MIRROR"): return "mirror", corpus("tatoeba")
    return "sample", corpus("sample")


def write(name, text):
    "A file for the runs."
    (WORK/name).write_text(text, encoding="utf-8", newline="\n")


def write_words(name, sentences):
    "The different words of sentences with how often each occurs; a few facts about them."
    from tfs.bpe import count_words
    words = count_words(sentences, "nfkc")
    write(f"{name}.tsv", "".join(f"{word}\t{n}\n" for word, n in words.items()))
    return {"sentences": len(sentences), "characters": sum(map(len, sentences)),
            "words": len(words), "letters": len(set().union(*words))}


def prepare(path=None):
    "Write the shuffled text, word counts, and a tokenizer of 16,000 merges in two formats."
    from tfs.bpe import BPE
    WORK.mkdir(parents=True, exist_ok=True)
    name, texts = chosen(path)
    random.Random(0).shuffle(texts)
    write("texts.json", json.dumps(texts))
    bpe = BPE.train(texts, n_merges=16_000, special_tokens=SPECIALS, tie="id")
    bpe.save(WORK/"bpe.json")
    bpe.to_hf().save(str(WORK/"hf.json"))
    facts = {"name": name, "words": write_words("words", texts),
             "small": write_words("small", texts if path else corpus("sample"))}
    write("facts.json", json.dumps(facts))


def read(name):
    "A file of `prepare`."
    return json.loads((WORK/f"{name}.json").read_text(encoding="utf-8"))


def texts(part="all"):
    "The sentences, or the first part of them."
    rows = read("texts")
    return rows[:len(rows) // PARTS[part]]


def symbols(word):
    "A word as a row of symbols; equal ones are one object, which saves half of the memory."
    return tuple(map(sys.intern, word))


def words(kind=str, name="words"):
    "Words, as strings or by `symbols`, and how often each occurs; `small` is the sample's."
    with (WORK/f"{name}.tsv").open(encoding="utf-8", newline="\n") as lines:
        return {kind(word): int(n) for word, n in (line[:-1].split("\t") for line in lines)}

