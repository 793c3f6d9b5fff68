"""Counting the same words from any source, in bounded memory, whatever breaks on the way."""
import copy
import gzip
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfs import count, sources, tally
from tfs.bpe import BPE, word_counts
from tfs.count import WordCounts, count_to, count_words, load_counts
from tfs.data import normalize
from tfs.pipeline import Pipeline
from tfs.reading import read_chunks
from tfs.tally import CountsError, Recipe, Tally, merge_counts

ROOT = Path(__file__).resolve().parents[1]
posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
PIPELINES = [Pipeline(n, p, *kind) for n in ("lesson", "nfc", "nfkc", "none")
             for p in ("lesson", "gpt2", "indic")
             for kind in ((False, False), (True, False), (False, True))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pairs, texts):
    "The corpus as files of every kind."
    here = tmp_path_factory.mktemp("corpus")
    lines = "\n".join(texts).encode()
    (here/"a.txt").write_bytes(lines)
    (here/"a.txt.gz").write_bytes(gzip.compress(lines, 1))
    with pa.CompressedOutputStream(str(here/"a.txt.zst"), "zstd") as file: file.write(lines)
    with open(here/"a.jsonl", "w", encoding="utf-8", newline="\n") as file:
        for row in pairs.to_pylist(): file.write(json.dumps(row) + "\n")
    pq.write_table(pairs, here/"a.parquet", row_group_size=5_000)
    assert not [t for t in texts if "\n" in t], "a line is a text"
    return here


def test_counts_are_those_of_the_lesson(texts, whole):
    assert whole == word_counts(map(normalize, texts))


@pytest.mark.parametrize("num_proc", [1, 2])
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.txt.zst", "a.jsonl", "a.parquet"])
def test_files_give_the_same_counts(name, num_proc, folder, pairs, whole, monkeypatch):
    monkeypatch.setattr(count, "PART", 2**20)
    fields = pairs.column_names if name in ("a.jsonl", "a.parquet") else "text"
    assert count_words(folder/name, fields=fields, num_proc=num_proc) == whole


def test_datasets_give_the_same_counts(folder, pairs, whole):
    from datasets import Dataset, load_dataset
    names = pairs.column_names
    saved = load_dataset("parquet", data_files=str(folder/"a.parquet"), split="train",
                         cache_dir=str(folder/"cache"))
    assert saved.cache_files
    assert count_words(saved, fields=names, num_proc=2) == whole
    assert count_words(saved.shuffle(seed=1), fields=names) == whole
    assert count_words(saved.to_iterable_dataset(3), fields=names) == whole
    assert count_words(Dataset(pairs), fields=names, num_proc=2) == whole


def test_merges_are_equal_from_a_file_of_counts(folder, texts, whole, tmp_path):
    count_to(tmp_path/"c.parquet", folder/"a.txt", max_words=10_000)
    counts = load_counts(tmp_path/"c.parquet")
    assert counts == whole and list(counts) == sorted(whole)
    assert BPE.train(counts, 4_000).merges == BPE.train(texts, 4_000).merges


def test_a_killed_worker_changes_nothing(folder, whole, monkeypatch):
    monkeypatch.setattr(count, "PART", 2**20)
    found = []
    thread = threading.Thread(target=lambda: found.append(count_words(folder/"a.txt", num_proc=2)))
    thread.start()
    while not (workers := active_children()) and thread.is_alive(): time.sleep(.05)
    workers[0].kill()
    thread.join()
    assert found == [whole] and not active_children()


def test_one_part_that_is_damaged(folder, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(count, "PART", 2**20)
    good, packed = tmp_path/"1.gz", (folder/"a.txt.gz").read_bytes()
    good.write_bytes(packed)
    # the sum at the end no longer fits, after all text was read
    (tmp_path/"2.gz").write_bytes(packed[:-8] + b"oops" + packed[-4:])
    (tmp_path/"3.txt").write_bytes((folder/"a.txt").read_bytes() + b"\n\xff")
    (tmp_path/"4.parquet").write_bytes((folder/"a.parquet").read_bytes()[:-100])
    for num_proc in (1, 2):
        with pytest.raises(ValueError, match="2.gz is damaged"):
            count_words([good, tmp_path/"2.gz"], num_proc=num_proc)
        found = count_words(sorted(tmp_path.iterdir()), skip_damaged=True, num_proc=num_proc)
        assert found == whole
        assert [Path(p).name for p in found.recipe.skipped] == ["2.gz", "3.txt", "4.parquet"]
    assert not active_children()


def test_damage_is_skipped_also_when_counts_lie_on_disk(folder, whole, tmp_path):
    (tmp_path/"bad.gz").write_bytes((folder/"a.txt.gz").read_bytes()[:-9])
    saved = count_to(tmp_path/"c.parquet", [tmp_path/"bad.gz", folder/"a.txt"], max_words=999,
                     skip_damaged=True, num_proc=2)
    assert load_counts(tmp_path/"c.parquet") == whole and len(saved.recipe.skipped) == 1


TEXT = st.text("ab1-–«' \u00a0\t\u0301\u200dнйि।…￼－ﬁ", max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, max_size=30), st.sampled_from(PIPELINES), st.randoms())
def test_merging_in_any_order(tmp_path_factory, texts, pipeline, rng):
    here, files = tmp_path_factory.mktemp("merge"), []
    cuts = sorted(rng.choices(range(len(texts) + 1), k=3))
    for i, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(texts)])):
        files.append(here/f"{i}.parquet")
        count_to(files[-1], texts[a:b], pipeline, max_words=rng.randrange(1, 9))
    while len(files) > 1:
        rng.shuffle(files)
        merge_counts(files[:2], to := here/f"m{len(files)}.parquet")
        files = [*files[2:], to]
    assert load_counts(files[0]) == pipeline.count(texts)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, min_size=8, max_size=40), st.sampled_from(PIPELINES))
def test_a_long_line_may_be_cut_only_where_no_word_changes(tmp_path_factory, texts, pipeline):
    path = tmp_path_factory.getbasetemp()/"long.txt"
    line = " ".join(texts).replace("\r", "")
    path.write_text(line, encoding="utf-8", newline="")
    if not count._may_cut(pipeline): return
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sources, "LONGEST", 20)
        patched.setattr(sources, "PIECE", 7)
        blocks = [t for block in sources.read_texts(str(path), cut=True) for t in block]
    assert "".join(blocks) == line
    assert pipeline.count(blocks) == pipeline.count([line])


@pytest.mark.parametrize("share", [.1, .01, .001])
def test_pruning_keeps_its_promise(share):
    rng = random.Random(1)
    words = [f"{int(1 / (rng.random() + 1e-4))}" for _ in range(50_000)]
    few = Tally(".", max_words=50, prune=share)
    for i in range(0, len(words), 70): few.add(Counter(words[i:i + 70]))
    assert few.missing <= share * len(words) and len(few.counts) < len(set(words))
    for word, n in Counter(words).items(): assert 0 <= n - few.counts.get(word, 0) <= few.missing


def test_pruned_counts_know_their_error(texts, whole, tmp_path):
    for name in "ab": count_to(tmp_path/f"{name}.parquet", texts, prune=1e-4, max_words=2_000)
    merge_counts([tmp_path/"a.parquet", tmp_path/"b.parquet"], tmp_path/"c.parquet")
    counts = load_counts(tmp_path/"c.parquet")
    assert 0 < counts.recipe.missing <= 2e-4 * sum(whole.values()) and len(counts) < len(whole)
    for word, n in whole.items(): assert 0 <= 2 * n - counts[word] <= counts.recipe.missing


def test_unlike_counts_are_not_merged(tmp_path):
    a, b = tmp_path/"a.parquet", tmp_path/"b.parquet"
    count_to(a, ["x"])
    others = Recipe(Pipeline("nfc")), Recipe(special_tokens=("<s>",)), Recipe(unicode="9.0.0")
    for other in others:
        WordCounts({"y": 1}, other).save(b)
        with pytest.raises(CountsError, match="were counted differently"):
            merge_counts([a, b], tmp_path/"c.parquet")
    with pytest.raises(ValueError, match="named twice"): merge_counts([a, a], tmp_path/"c.parquet")
    assert not (tmp_path/"c.parquet").exists()


def test_what_is_no_file_of_counts(tmp_path):
    path = tmp_path/"a.parquet"
    pq.write_table(pa.table({"word": ["a"], "count": [1]}), path)
    with pytest.raises(CountsError, match="holds no counts of words"): load_counts(path)
    path.write_text("no")
    with pytest.raises(ValueError, match="is damaged or no Parquet"): load_counts(path)
    disordered = [pa.table({"word": ["b", "a"], "count": [1, 1]})]
    tally.write_counts(path, disordered, Recipe())
    with pytest.raises(CountsError, match="out of order"): load_counts(path)


def test_many_files_of_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(tally, "FAN", 3)
    for i in range(11): WordCounts({"a": 1, f"w{i}": i + 1}).save(tmp_path/f"{i:02}.parquet")
    merge_counts([f"{tmp_path}/*.parquet"], tmp_path/"sum.parquet")
    counts = load_counts(tmp_path/"sum.parquet")
    assert counts["a"] == 11 and counts["w10"] == 11 and len(counts) == 12
    assert len(list(tmp_path.iterdir())) == 12


def test_files_that_were_merged_leave_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(tally, "FAN", 3)
    total = Tally(tmp_path, max_words=1)
    for i in range(20): total.add({f"w{i:02}": 1, "x": 1})
    assert len(total.runs) == 20
    found = [n for table in total.tables() for n in table["count"].to_pylist()]
    assert found == [1] * 20 + [20]
    assert len(list(tmp_path.iterdir())) <= 3


def test_memory_limit_is_kept(texts, tmp_path):
    sizes, add = [], Tally.add
    with pytest.MonkeyPatch.context() as patched:
        def noted(self, counts):
            add(self, counts)
            sizes.append(len(self.counts))
        patched.setattr(Tally, "add", noted)
        count_to(tmp_path/"c.parquet", texts, max_words=5_000)
    assert max(sizes) <= 5_000


def test_a_special_token_with_a_space_is_never_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "LONGEST", 4)
    text, special = "x y<a b>z " * 9, ["<a b>"]
    (tmp_path/"a.txt").write_text(text, encoding="utf-8")
    found = count_words(tmp_path/"a.txt", special_tokens=special)
    assert found == count_words([text], special_tokens=special) and "▁b" not in found


def test_characters_may_lie_across_pieces(tmp_path, monkeypatch):
    lines, path = ["aя€😀я", "😀€"], tmp_path/"a.txt"
    path.write_bytes("\n".join(lines).encode("utf-8-sig"))
    (tmp_path/"bad.txt").write_bytes("😀".encode() + b"\x80")
    for size in range(1, 9):
        monkeypatch.setattr(sources, "PIECE", size)
        assert [line for block in sources.read_texts(path) for line in block] == lines
        assert "".join(read_chunks(path, size)) == "\n".join(lines)
        for read in (sources.read_texts, partial(read_chunks, size=size)):
            with pytest.raises(ValueError, match="byte 4 is not UTF-8"):
                list(read(tmp_path/"bad.txt"))


def test_standard_input_is_read_by_the_parent(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tfs", "count", "-", "-j", "2", "-o",
               str(tmp_path/"c.parquet")]
    done = subprocess.run(command, env=env, input=b"low lower\nlow", capture_output=True)
    assert done.returncode == 0, done.stderr
    assert load_counts(tmp_path/"c.parquet") == {"▁low": 2, "▁lower": 1}


def test_lines_that_are_cut_whole_fill_no_memory(tmp_path):
    lines, most, take = [f"- w{i} -" for i in range(6_000)], [], count._Stretches.take
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(count._Stretches, "take", lambda self: most.append(len(self)) or take(self))
        patched.setattr(count, "SOME", 1_000)
        assert count_words(lines, max_words=400) == {**{f"▁w{i}": 1 for i in range(6_000)},
                                                     "▁-": 12_000}
    assert max(most) <= 400


def blocks(language):
    "The blocks of code of a language on the page about scale."
    cells = json.loads((ROOT/"nbs"/"scale.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_commands_of_the_page(tmp_path, monkeypatch, texts, capsys):
    from tfs.cli import run
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(count, "PART", 2**16)
    for name, part in (("part-00", texts[:900]), ("part-10", texts[900:2000])):
        rows = "".join(json.dumps({"text": text}) + "\n" for text in part)
        (tmp_path/f"{name}.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    whole = count_words(texts[:2000], special_tokens=["<pad>", "<unk>", "<bos>", "<eos>"])
    lines = [line.partition("#")[0] for block in blocks("sh") for line in block.splitlines()]
    lines = [line for line in lines if line.startswith("tfs ")]
    assert len(lines) == 8
    for line in lines:
        args = shlex.split(line)[1:]
        args = ["2" if a == "8" else a for a in args]
        assert run(args) == 0, capsys.readouterr().err
        if args[0] == "merge-counts" or "part-*.jsonl.gz" in args:
            assert load_counts("counts.parquet") == whole


@posix
@pytest.mark.parametrize("num_proc", [1, 2])
def test_a_pipe_with_a_name_is_read_by_the_parent(tmp_path, num_proc):
    os.mkfifo(tmp_path/"pipe")
    write = partial((tmp_path/"pipe").write_text, "a b\nb\n")
    threading.Thread(target=write, daemon=True).start()
    assert count_words(tmp_path/"pipe", num_proc=num_proc) == {"▁a": 1, "▁b": 2}


def test_a_copy_knows_how_it_was_counted():
    counts = count_words(["so so"], Pipeline("none", "gpt2", byte_level=True))
    for twin in (counts.copy(), copy.copy(counts), WordCounts(counts)):
        assert twin == counts and twin.recipe == counts.recipe


def test_counts_of_other_words_train_no_tokenizer():
    with pytest.raises(ValueError, match="counted with .*gpt2"):
        BPE.train(count_words(["so so"], Pipeline("none", "gpt2", byte_level=True)), 300)


@posix
@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(tmp_path, folder, kill):
    for name in ("in", "tmp"): (tmp_path/name).mkdir()
    for i in range(40): os.link(folder/"a.txt.gz", tmp_path/"in"/f"{i}.gz")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path/"tmp")}
    command = [sys.executable, "-m", "tfs", "count", str(tmp_path/"in"/"*.gz"), "--num-proc", "2",
               "--max-words", "1000", "-o", str(tmp_path/"c.parquet")]
    # a shell starts what runs in its background with Ctrl-C ignored
    heeding = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    run = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, start_new_session=True,
                           preexec_fn=heeding)
    deadline = time.monotonic() + 60
    while not list((tmp_path/"tmp").rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(.05)
    # Ctrl-C reaches every process of a terminal, the other only the parent
    (os.killpg if kill == signal.SIGINT else os.kill)(run.pid, kill)
    error = run.communicate(timeout=30)[1].decode()
    if kill == signal.SIGINT: assert (run.returncode, error) == (130, "tfs: interrupted\n")
    assert not (tmp_path/"c.parquet").exists() and not list((tmp_path/"tmp").iterdir())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "tmp"]
    assert ended(run.pid), "no process of the group is left"


@posix
def test_workers_end_with_a_parent_that_is_killed():
    code = ("import threading, time\n"
            "from multiprocessing import active_children\n"
            "from tfs.workers import run_tasks\n"
            "def tell():\n"
            "    while len(active_children()) < 2: time.sleep(.1)\n"
            "    time.sleep(1)\n"
            "    print('busy', flush=True)\n"
            "threading.Thread(target=tell).start()\n"
            "list(run_tasks('time:sleep', [(90,), (90,)], 2))")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE,
                           start_new_session=True)
    assert run.stdout.readline() == b"busy\n"
    run.kill()
    # the workers hold the other end, too
    run.communicate(timeout=30)
    assert ended(run.pid)


def ended(group):
    "Whether all processes of a group end within some seconds."
    for _ in range(100):
        try: os.killpg(group, 0)
        except ProcessLookupError: return True
        time.sleep(.1)
    return False
