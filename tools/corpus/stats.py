"""What the corpus looks like: growth, rare words, unknown words, leaks of a random split."""
from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict

REFERENCE_DISTINCT, REFERENCE_SIZE = 119_567, 30_000


def words(text: str) -> list[str]:
    "Lower-cased words, as the lesson counts them."
    return re.findall(r"\w+", text.lower())


def growth(sentences: list[str], every: int = 1000) -> tuple[list[int], list[int]]:
    "Words read and distinct words so far, at every thousandth word."
    seen, read, xs, ys = set(), 0, [], []
    for sentence in sentences:
        for word in words(sentence):
            seen.add(word)
            read += 1
            if read % every == 0:
                xs.append(read)
                ys.append(len(seen))
    return xs, ys


def heaps(xs: list[int], ys: list[int]) -> dict[str, float]:
    "K, β and R² of V = K·N^β by least squares in log–log."
    a, b = [math.log(x) for x in xs], [math.log(y) for y in ys]
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    beta = sum((x - ma) * (y - mb) for x, y in zip(a, b)) / sum((x - ma) ** 2 for x in a)
    rest = sum((y - mb - beta * (x - ma)) ** 2 for x, y in zip(a, b))
    whole = sum((y - mb) ** 2 for y in b)
    return {"K": math.exp(mb - beta * ma), "beta": beta, "R2": 1 - rest / whole}


def oov_rate(train: list[str], held: list[str], size: int) -> float:
    "Share of held-out words outside the `size` most common training words."
    known = {w for w, _ in Counter(w for s in train for w in words(s)).most_common(size)}
    read = [w for s in held for w in words(s)]
    return sum(w not in known for w in read) / len(read)


def components(pairs) -> list[list[int]]:
    "Groups of pairs joined by a shared sentence, as row numbers."
    parent: dict = {}
    def find(x):
        while parent.setdefault(x, x) != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x
    for en, ru in pairs:
        parent[find(("en", en))] = find(("ru", ru))
    groups = defaultdict(list)
    for row, (en, _) in enumerate(pairs):
        groups[find(("en", en))].append(row)
    return list(groups.values())


def leak_rate(train, valid) -> float:
    "Share of validation pairs with a side that training has."
    seen = [{p[0] for p in train}, {p[1] for p in train}]
    return sum(en in seen[0] or ru in seen[1] for en, ru in valid) / len(valid)


def side(pairs, at: int) -> dict:
    "The numbers for one language."
    text = [p[at] for p in pairs]
    counts = Counter(w for s in text for w in words(s))
    fit = heaps(*growth(text))
    return {"distinct words": len(counts), "words a sentence": sum(counts.values()) / len(text),
            "characters a sentence": sum(map(len, text)) / len(text),
            "distinct sentences": len(set(text)),
            "hapax share": sum(v == 1 for v in counts.values()) / len(counts), **fit}


def summary(pairs, seed: int = 42) -> dict:
    "Everything, for cleaned training pairs in file order."
    english, russian = side(pairs, 0), side(pairs, 1)
    order = list(pairs)
    random.Random(seed).shuffle(order)
    cut = len(order) // 50
    valid, train = order[:cut], order[cut:]
    size = round(REFERENCE_SIZE * (english["distinct words"] + russian["distinct words"])
                 / REFERENCE_DISTINCT / 100) * 100
    sentences = set(p[0] for p in pairs)
    oov = [oov_rate([p[at] for p in train], [p[at] for p in valid], size) for at in (0, 1)]
    groups = sorted(map(len, components(pairs)), reverse=True)
    return {"pairs": len(pairs), "English": english, "Russian": russian,
            "pairs a distinct English sentence": len(pairs) / len(sentences),
            "Russian over English distinct words":
                russian["distinct words"] / english["distinct words"],
            "Tom": sum(bool(re.search(r"\bTom\b", s)) for s in sentences) / len(sentences),
            "Mary": sum(bool(re.search(r"\bMary\b", s)) for s in sentences) / len(sentences),
            "most translations": Counter(p[0] for p in pairs).most_common(1)[0],
            "OOV vocabulary": size, "OOV English": oov[0], "OOV Russian": oov[1],
            "random split leak": leak_rate(train, valid), "groups": len(groups),
            "groups of several pairs": sum(g > 1 for g in groups), "largest groups": groups[:5]}
