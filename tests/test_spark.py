"""Counting on Spark: the same counts as one process, also when a worker or an executor dies."""
import os
import signal

import pytest
from test_count import blocks

from tfs.bpe import BPE
from tfs.count import count_to, count_words, load_counts
from tfs.pipeline import Pipeline
from tfs.spark import local_session, why_no_spark, word_frame
from tfs.tally import CountsError, Recipe

pytestmark = pytest.mark.skipif(os.name == "nt" or bool(why_no_spark()),
                                reason=why_no_spark() or "signals of POSIX")


@pytest.fixture(scope="module")
def spark():
    session = local_session(2)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table(spark, pairs, tmp_path_factory):
    "The corpus as a Spark table of several partitions."
    import pyarrow.parquet as pq
    path = tmp_path_factory.mktemp("spark")/"pairs.parquet"
    pq.write_table(pairs, path)
    return spark.read.parquet(str(path)).repartition(4)


def test_same_counts_and_merges(table, pairs, texts, whole, tmp_path):
    count_to(tmp_path/"spark.parquet", table, fields=pairs.column_names)
    counts = load_counts(tmp_path/"spark.parquet")
    assert counts == whole
    assert BPE.train(counts, 2_000).merges == BPE.train(texts, 2_000).merges
    count_to(tmp_path/"files.parquet", texts)
    same = (tmp_path/"spark.parquet").read_bytes() == (tmp_path/"files.parquet").read_bytes()
    assert same, "the same counts are the same bytes"


def test_a_killed_worker_is_replaced(spark, tmp_path):
    pid, texts = tmp_path/"pid", [f"word{i % 97} x - y" for i in range(40_000)]

    def dies_once(batches):
        "Pass on half of the rows, then wait to be killed, the first time."
        import time
        for i, batch in enumerate(batches):
            if i == 1 and not pid.exists():
                pid.write_text(str(os.getpid()))
                time.sleep(60)
            yield batch

    table = spark.createDataFrame([(t,) for t in texts], "text string").repartition(2)
    frame = word_frame(table.mapInArrow(dies_once, "text string"), Recipe())
    killer = killing(pid)
    counts = {row.word: row["count"] for row in frame.collect()}
    killer.join()
    assert killer.killed and counts == count_words(texts)


def killing(pid):
    "A thread that kills the process whose number a file will hold."
    import threading
    import time

    def run():
        while not (pid.exists() and pid.read_text()): time.sleep(.1)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        thread.killed = True

    thread = threading.Thread(target=run, daemon=True)
    thread.killed = False
    thread.start()
    return thread


def test_program_of_the_page(spark, monkeypatch, texts, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq
    pq.write_table(pa.table({"text": texts[:500]}), tmp_path/"corpus.parquet")
    places = [str(tmp_path/"corpus.parquet"), str(tmp_path/"counts.parquet")]
    monkeypatch.setattr("sys.argv", ["count.py", *places])
    (program,) = blocks("python")
    exec(program, {})
    found = load_counts(places[1])
    assert found == count_words(texts[:500]) and "<unk>" in found.recipe.special_tokens


def test_other_ways_of_cutting(spark):
    texts = ["It's  so", "नदी वहति। ", None, "don't - stop\n"] * 9
    table = spark.createDataFrame([(t,) for t in texts], "text string")
    gpt2 = Pipeline("none", "gpt2", byte_level=True)
    found = count_words(table, gpt2, special_tokens=["stop"])
    assert found == gpt2.count((t for t in texts if t), ["stop"])
    assert found.recipe.pipeline == gpt2


def test_errors_are_one_line(spark, tmp_path):
    table = spark.sql("select cast(unhex('61ff') as string) as text")
    with pytest.raises(CountsError, match="Spark could not count: .*UTF-8") as found:
        count_to(tmp_path/"c.parquet", table)
    assert "\n" not in str(found.value) and not list(tmp_path.iterdir())
    with pytest.raises(CountsError, match="has no column ru .its columns: text"):
        count_words(table, fields="ru")
