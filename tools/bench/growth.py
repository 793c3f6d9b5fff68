"""Growth: the time for four sizes of the text, and the slope in a log–log plot."""
from clock import clocked, load
from columns import count_fast
from encoding import warm
from row import Row, Target
from texts import PARTS, texts


def train(part):
    "8,000 merges from the words of a part."
    from tfs.bpe import count_words
    from tfs.flat import train_flat
    load("numpy", "pyarrow.compute")
    words = count_words(texts(part), "nfkc")
    run = clocked(lambda: train_flat(words, 8000))
    run.result = None
    return run


def row(title, function, bound):
    "The same function for each part; their results are not compared."
    contestants = {f"{part} of the text": (apart, function, part) for part in PARTS}
    return Row(f"{title}, over four sizes", contestants, targets=(Target("slope", "≤", bound),),
               runs=3)


def apart(function, part):
    "A run whose result is its own."
    run = function(part)
    run.result = None
    return run


ROWS = {"growth-count": row("counting", count_fast, 1.0),
        "growth-train": row("8,000 merges", train, 0.8),
        "growth-encode": row("encoding, warm", warm, 1.0)}
