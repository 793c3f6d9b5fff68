"""Publishing against a small Hub on this machine."""
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest
import yaml
from hub_server import Hub

from tfs import hub, provide
from tfs.hub import PublishError, dataset_card, publish_dataset, publish_tokenizer, tokenizer_card

SOURCE = dict(name="Tatoeba", revision="cec1343", licence="CC BY 2.0 FR", url="https://tatoeba.org")
DATASET = dict(sizes=dict(train=9000, validation=200, test=300), sources=[SOURCE])
TOKENIZER = dict(vocab_size=16000, special=["<pad>", "<unk>"], sources=[SOURCE])


@pytest.fixture
def server(monkeypatch):
    "A Hub that the settings point to, and a user with a token."
    from huggingface_hub import constants, hf_api  # noqa: F401
    hub_server = Hub()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    # before 1.0 some requests go to the place that was set when the library was imported
    for name, module in list(sys.modules.items()):
        if name.startswith("huggingface_hub.") and hasattr(module, "ENDPOINT"):
            monkeypatch.setattr(module, "ENDPOINT", hub_server.url)
    monkeypatch.setattr(provide, "_ANSWERS", {})
    monkeypatch.setenv("HF_ENDPOINT", hub_server.url)
    monkeypatch.setenv("TFS_HUB_USER", "ada")
    monkeypatch.setenv("HF_TOKEN", hub_server.token)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"): monkeypatch.delenv(name, raising=False)
    yield hub_server
    hub_server.close()


@pytest.fixture
def splits(tmp_path):
    "Files that stand for the splits of a run."
    for name in ("train", "validation", "test"):
        (tmp_path/f"{name}.parquet").write_bytes(name.encode() * 1000)
    (tmp_path/"notes.txt").write_text("not a split", encoding="utf-8")
    (tmp_path/"dropped.parquet").write_bytes(b"left out")
    return tmp_path


def test_dataset(server, splits, capsys):
    url = publish_dataset(splits, "# card\n")
    files = server.repos["ada/tfs-tatoeba-en-ru"]
    assert url == f"{server.url}/datasets/ada/tfs-tatoeba-en-ru"
    assert sorted(files) == ["README.md", "data/test.parquet", "data/train.parquet",
                             "data/validation.parquet"]
    assert files["data/train.parquet"] == b"train" * 1000
    assert files["README.md"] == b"# card\n"
    assert capsys.readouterr().out == f"Published {url}\n"
    assert sum("/commit/" in path for _, path in server.calls) == 1


def test_tokenizer_twice(server, tmp_path):
    "The repository exists the second time: 409 is no failure."
    for text in ("{}", '{"model": 1}'):
        (tmp_path/"mine.json").write_text(text, encoding="utf-8")
        assert publish_tokenizer(tmp_path/"mine.json", "# card").endswith("/ada/tfs-bpe-en-ru-16k")
        assert server.repos["ada/tfs-bpe-en-ru-16k"]["tokenizer.json"] == text.encode()


def shown(error):
    "Everything that a person or a log could see of an error."
    chain = (error, error.__cause__, error.__context__)
    return "".join(traceback.format_exception(error)) + repr([vars(e) for e in chain if e])


FAULTS = [("/api/repos/create", 401, "doesn't know the token.*401"),
          ("/api/repos/create", 403, "write access.*403"),
          ("/api/repos/create", 429, "asks to wait.*429"),
          ("/api/repos/create", 418, "418"),
          ("/lfs/", 403, "write access.*403"),
          ("/commit/", 409, "run it again.*409"),
          ("/api/repos/create", "hang", "no answer within 1 s"),
          ("/preupload/", "hang", "no answer within 1 s"),
          ("/lfs/", "hang", "no answer within 1 s"),
          ("/commit/", "hang", "no answer within 1 s"),
          *((path, (429, {"Retry-After": 30, "RateLimit": '"api";r=0;t=30'}),
             "asks to wait.*429|no answer within 2 s") for path in
            ("/api/repos/create", "/preupload/", "/objects/batch", "/lfs/", "/commit/")),
          ("/objects/batch", 401, "doesn't know the token.*401"),
          ("/preupload/", 403, "write access.*403"),
          ("/commit/", 500, "the server failed|no answer within 2 s")]


def waits(fault):
    "Whether the client may try again until the time is up."
    return isinstance(fault, tuple) or fault == 500


@pytest.mark.parametrize("path, fault, message", FAULTS)
def test_faults(server, splits, capsys, caplog, path, fault, message):
    caplog.set_level("DEBUG")
    server.faults[path] = fault
    seconds = 1 if fault == "hang" else 2 if waits(fault) else 60
    with pytest.raises(PublishError, match=message) as error:
        publish_dataset(splits, "# card", timeout=seconds)
    out = capsys.readouterr()
    assert "\n" not in str(error.value)
    assert "ada/tfs-tatoeba-en-ru was not published" in str(error.value)
    assert server.token not in shown(error.value) + out.out + out.err + caplog.text
    assert not server.repos.get("ada/tfs-tatoeba-en-ru")


def test_wrong_token_is_not_shown(server, splits, monkeypatch, capsys):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong_token")
    with pytest.raises(PublishError, match="doesn't know the token") as error:
        publish_dataset(splits, "# card")
    assert "hf_wrong_token" not in shown(error.value) + str(capsys.readouterr())


def test_token_that_breaks_the_client(server, splits, monkeypatch):
    "A client may put a bad header into its message."
    monkeypatch.setenv("HF_TOKEN", "hf_wrong\ntoken")
    with pytest.raises(PublishError) as error: publish_dataset(splits, "# card")
    assert "hf_wrong" not in shown(error.value)


@pytest.mark.parametrize("name", ["TFS_HUB_USER", "HF_TOKEN"])
def test_nothing_without_user_or_token(server, splits, monkeypatch, capsys, name):
    monkeypatch.delenv(name)
    assert publish_dataset(splits, "# card") is None
    assert capsys.readouterr().out.count("\n") == 1
    assert server.calls == []


def test_no_network_is_quick(server, splits, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    start = time.perf_counter()
    with pytest.raises(PublishError, match="hub.invalid doesn't answer"):
        publish_dataset(splits, "# card")
    assert time.perf_counter() - start < 4


def test_missing_files(server, tmp_path):
    with pytest.raises(FileNotFoundError, match="no .parquet"): publish_dataset(tmp_path, "# card")
    with pytest.raises(FileNotFoundError): publish_tokenizer(tmp_path/"tokenizer.json", "# card")
    assert server.calls == []


def test_verbose_traceback_in_a_process(server, tmp_path):
    "A crash report with the variables of every frame keeps the token to itself."
    code = """
import sys, traceback
from tfs.hub import publish_tokenizer
try: publish_tokenizer(sys.argv[1], "# card")
except Exception as e:
    print("".join(traceback.TracebackException.from_exception(e, capture_locals=True).format()))
"""
    server.faults["/api/repos/create"] = 403
    (tmp_path/"tokenizer.json").write_text("{}", encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path/"tokenizer.json")],
                         capture_output=True, encoding="utf-8", env=dict(os.environ))
    assert "PublishError" in run.stdout
    assert server.token not in run.stdout + run.stderr


LOUD = """
import logging, sys
logging.basicConfig(level="DEBUG", stream=sys.stdout)
from tfs.hub import publish_dataset
try: publish_dataset(sys.argv[1], "# card", timeout=20)
except Exception as error:
    raise RuntimeError("while a pipeline ran") from error
"""


@pytest.mark.parametrize("path, fault", [(None, None), ("/api/repos/create", 403), ("/lfs/", 403),
                                         ("/commit/", 409)])
def test_the_loudest_log_is_silent_about_the_token(server, splits, path, fault):
    "HF_DEBUG, logging at DEBUG, and an error in the chain of another: a process of its own."
    if path: server.faults[path] = fault
    loud = {**os.environ, "HF_DEBUG": "1", "HF_HUB_VERBOSITY": "debug", "PYTHONUTF8": "1",
            "HF_HUB_DISABLE_XET": "1"}
    run = subprocess.run([sys.executable, "-X", "dev", "-c", LOUD, str(splits)],
                         capture_output=True, encoding="utf-8", env=loud)
    assert (run.returncode == 0) == (path is None), run.stderr[-900:]
    assert path is None or f"({fault})" in run.stderr and "while a pipeline ran" in run.stderr
    assert "/api/repos/create" in run.stdout  # the log was on
    assert server.token not in run.stdout + run.stderr
    assert server.token[:12] not in run.stdout + run.stderr
    files = server.repos.get("ada/tfs-tatoeba-en-ru", {})
    assert (len(files) == 4) == (path is None)


@pytest.mark.parametrize("user", ["../etc", "a/b", "ada\nx", "a b", "<b>", "\ud800", "x" * 200,
                                  "hf_secret_token_of_the_test", "\x1b[31m", "..", "-"])
def test_odd_users(server, splits, monkeypatch, user):
    "One line, nothing published, and no part of another repository."
    if user.isprintable() or user == "ada\nx": monkeypatch.setenv("TFS_HUB_USER", user)
    with pytest.raises(PublishError) as error: publish_dataset(splits, "# card", user=user)
    assert "\n" not in str(error.value) and str(error.value).isprintable()
    assert not any(path.startswith("/api/repos") for _, path in server.calls)


def head(card):
    "The YAML of a card."
    return yaml.safe_load(card.split("---\n")[1])


def test_cards_have_a_head_that_the_hub_reads():
    data, model = head(dataset_card(DATASET)), head(tokenizer_card(TOKENIZER))
    assert data["license"] == "cc-by-2.0" and data["language"] == ["en", "ru"]
    assert data["size_categories"] == ["1K<n<10K"]
    assert [f["split"] for f in data["configs"][0]["data_files"]] == ["train", "validation", "test"]
    assert model["library_name"] == "tokenizers"


def test_cards_say_what_the_run_says():
    card = dataset_card(DATASET | dict(steps=["clean: 9,500 pairs"], note="A stand-in."))
    for part in ("9,000", "cec1343", "CC BY 2.0 FR", "1. clean: 9,500 pairs", "A stand-in.",
                 "load_dataset("): assert part in card


@pytest.mark.parametrize("token", ["<|endoftext|>", "<img onerror=alert(1)>", "a|b", "$x$", "`x`",
                                   "*a*", "__b__", "&amp;", "\\", "\n", "\0", "\ud800", "]("])
def test_tokens_are_only_text(token):
    card = tokenizer_card(TOKENIZER | dict(special=[token], examples={token: [token]}))
    cells = [c for c in card.split("<code>")[1:]]
    assert len(cells) == 3
    for cell in cells:
        shown_text = cell.split("</code>")[0]
        assert not set(shown_text) & set("<>|$`*_\\\n\0[](")
    assert card.encode()
    head(card)


@pytest.mark.parametrize("missing", ["sizes", "sources"])
def test_missing_facts_are_named(missing):
    facts = {k: v for k, v in DATASET.items() if k != missing}
    with pytest.raises(ValueError, match=missing): dataset_card(facts)


def test_the_names_stand_in_one_place():
    project = Path(__file__).resolve().parents[1]
    files = [p for p in (project/"tfs").glob("*.py") if p.name not in ("hub.py", "_modidx.py")]
    for name in (hub.HUB_DATASET, hub.HUB_TOKENIZER):
        assert [p.name for p in files if name in p.read_text(encoding="utf-8")] == []
