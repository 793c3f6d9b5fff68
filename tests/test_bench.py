"""`make bench` on a text of a few sentences: its machinery, not its figures."""
import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

TEXT = ["Tom isn't here.", "Тома здесь нет.", "Where is the cat?", "Где кошка?", "The cat is here."]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    "A function that runs the bench on a small text and gives what it printed."
    folder = tmp_path_factory.mktemp("bench")
    (folder/"text.txt").write_text("\n".join(TEXT * 20), encoding="utf-8")

    def run(*args):
        done = subprocess.run(
            [sys.executable, str(ROOT/"tools"/"bench"), *args], encoding="utf-8",
            capture_output=True, env={**os.environ, "TFS_BENCH_WORK": str(folder/"work"),
                                      "PYTHONUTF8": "1"})
        return done.returncode, done.stdout, done.stderr
    text = ["--text", str(folder/"text.txt")]
    return lambda *args: run(*args, *(text if "--row" in args else []))


def test_a_row_alone_measures_all_contestants_and_judges_them(bench):
    code, out, err = bench("--quick", "--row", "groups", "--row", "long")
    assert code == 0, err
    for who in ("| tfs | ", "| lesson | ", "| Hugging Face | "): assert who in out
    assert "Equal results: tfs · lesson." in out and "- seconds of tfs ≤ 1: " in out
    assert "100 English and Russian sentences" in out and str(ROOT) not in out


def test_rows_are_listed_and_an_unknown_one_is_refused(bench):
    code, out, _ = bench("--list")
    assert code == 0 and "train-8000" in out and "growth-encode" in out
    code, _, err = bench("--row", "nothing")
    assert code == 2 and "invalid choice: 'nothing'" in err


def test_the_page_shows_the_saved_results():
    found = json.loads((ROOT/"bench"/"results.json").read_text(encoding="utf-8"))
    code = ("import json, report, sys; sys.stdout.reconfigure(encoding='utf-8', newline='\\n');"
            "found = json.loads(report.OUT.read_text(encoding='utf-8'));"
            "print(report.HEAD + report.page(found), end='')")
    page = subprocess.run([sys.executable, "-c", code], cwd=ROOT/"tools"/"bench", encoding="utf-8",
                          capture_output=True, check=True).stdout
    assert (ROOT/"nbs"/"speed.qmd").read_text(encoding="utf-8") == page
    assert {"processor", "cores", "python", "tokenizers"} <= set(found["machine"])
