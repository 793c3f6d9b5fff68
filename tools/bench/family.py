"""WordPiece and Unigram with 8,000 pieces, from word counts."""
from clock import clocked, load, moment
from row import HF, SPM, Row, Target, at_most
from texts import words
from training import sentencepiece

SIZE, FIRST, LONGEST = 8000, 20, 16
PLAIN, SHORT = f"lesson, {FIRST} merges", f"tfs, {FIRST} merges"


def wordpiece(n=None):
    "The library's trainer by score; `n` merges are compared with the lesson's."
    from tfs.wordpiece import spell, train_wordpiece, wordpiece_merges
    load("numpy")
    counts = words(name="small")
    if n is None:
        run = clocked(lambda: train_wordpiece(counts, SIZE))
        run.result = None
        return run
    letters = len({symbol for word in counts for symbol in spell(word)})
    return clocked(lambda: wordpiece_merges(counts, letters + n)[1])


def wordpiece_plain(n):
    "The lesson's trainer: all scores anew at each merge."
    from tfs.wordpiece import train_wordpiece_simple
    counts = words(name="small")
    return clocked(lambda: train_wordpiece_simple(counts, n))


def hf_trained(model, trainer, name):
    "Hugging Face's trainer from text that holds every word as often as it occurs."
    from tokenizers import Tokenizer, pre_tokenizers
    counts, read_at, tokenizer = words(name=name), [], Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()

    def feed():
        for word, n in counts.items(): yield " ".join([word] * n)
        read_at.append(moment())

    run = clocked(lambda: tokenizer.train_from_iterator(feed(), trainer), since=read_at)
    run.result = None
    return run


def wordpiece_hf():
    "Hugging Face's WordPiece trainer, which merges by frequency."
    from tokenizers import models, trainers
    trainer = trainers.WordPieceTrainer(vocab_size=SIZE, show_progress=False)
    return hf_trained(models.WordPiece(unk_token="[UNK]"), trainer, "small")


def unigram(name):
    "The library's trainer."
    from tfs.unigram import train_unigram
    counts = words(name=name)
    run = clocked(lambda: train_unigram(counts, SIZE, max_length=LONGEST))
    run.result = None
    return run


def unigram_hf(name):
    "Hugging Face's Unigram trainer, on all cores."
    from tokenizers import models, trainers
    trainer = trainers.UnigramTrainer(vocab_size=SIZE, show_progress=False, unk_token="<unk>",
                                      special_tokens=["<unk>"], max_piece_length=LONGEST)
    return hf_trained(models.Unigram(), trainer, name)


def unigram_row(name, title, bound, runs):
    "A row of Unigram on one of the texts."
    return Row(f"Unigram, {SIZE:,} pieces: {title}",
               {"tfs": (unigram, name), HF: (unigram_hf, name),
                SPM: (sentencepiece, SIZE, "unigram", name, LONGEST)},
               targets=(at_most("tfs", SPM, bound),), runs=runs,
               note="The trainers prune differently, so their pieces are not compared here.")


ROWS = {
    "wordpiece": Row(
        f"WordPiece, {SIZE:,} pieces: the bundled sample",
        {"tfs": (wordpiece,), HF: (wordpiece_hf,), SHORT: (wordpiece, FIRST),
         PLAIN: (wordpiece_plain, FIRST)}, ((SHORT, PLAIN),),
        (Target("seconds", "≤", 10, "tfs"),), runs=2, once=(PLAIN,),
        note="Hugging Face's trainer merges by frequency, which is less work than by score."),
    "unigram": unigram_row("small", "the bundled sample", 1.5, 3),
    "unigram-large": unigram_row("words", "the text", 1.0, 1)}
