"""Files over a real connection, and what is left when it breaks."""
import errno
import hashlib
import io
import json
import time
from urllib.error import HTTPError

import pytest
from hub_server import Hub

from tfs import provide
from tfs.provide import Unavailable, from_hub, from_url, hub_file, url_file

BODY = b"line\n" * 20_000
PIN = hashlib.sha256(BODY).hexdigest()


@pytest.fixture
def server(monkeypatch, tmp_path):
    "A Hub with two files, and caches of its own."
    from huggingface_hub import constants
    hub = Hub()
    hub.files = {"/ada/bpe/resolve/main/tokenizer.json": BODY, "/raw/test.txt": BODY}
    monkeypatch.setattr(provide, "_ANSWERS", {})
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path/"hub"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("TFS_CACHE", str(tmp_path/"tfs"))
    for name in ("TFS_MIRROR", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    yield hub
    hub.close()


@pytest.fixture
def hub_cache(server, monkeypatch):
    "Make the Hub's client use the cache of the test."
    import huggingface_hub
    from huggingface_hub import constants
    load, cached = huggingface_hub.hf_hub_download, huggingface_hub.try_to_load_from_cache
    place = dict(cache_dir=constants.HF_HUB_CACHE)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *a, **k: load(*a, **place, **k))
    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache",
                        lambda *a, **k: cached(*a, **place, **k))
    return server


def left(folder):
    "The names of the files below a folder."
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_url_then_cache(server, tmp_path, capsys):
    url = server.url + "/raw/test.txt"
    path, line = url_file(url, "tatoeba/test.txt", PIN)
    assert path.read_bytes() == BODY
    assert line == f"tatoeba/test.txt: {server.url[7:]}"
    assert capsys.readouterr().out == f"Downloading tatoeba/test.txt from {server.url[7:]}\n"
    calls = len(server.calls)
    assert url_file(url, "tatoeba/test.txt", PIN) == (path, "tatoeba/test.txt: cache")
    assert (len(server.calls), capsys.readouterr().out) == (calls, "")
    assert left(tmp_path/"tfs") == ["test.txt", "test.txt.note.json"]


@pytest.mark.parametrize("fault, pin, message", [
    ("cut", None, "50000 of 100000 bytes"), (404, None, "not found"),
    (429, None, "too many requests"),
    (503, None, "the server failed"), (None, "0" * 64, "not what is pinned")])
def test_a_failed_download_leaves_nothing(server, tmp_path, fault, pin, message):
    server.faults = {"cut" if fault == "cut" else "/raw/": fault} if fault else {}
    with pytest.raises(Unavailable, match=message):
        from_url(server.url + "/raw/test.txt", "test.txt", pin)
    assert left(tmp_path) == []


def test_a_silent_server(server, monkeypatch, tmp_path):
    monkeypatch.setattr(provide._open, "__defaults__", (0.3,))
    server.faults["/raw/"] = "hang"
    with pytest.raises(Unavailable, match="timed out|no answer"):
        from_url(server.url + "/raw/test.txt", "test.txt")
    assert left(tmp_path) == []


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"", lambda b: b"?" + b[1:]])
def test_a_damaged_copy_is_fetched_again(server, damage):
    url = server.url + "/raw/test.txt"
    path, _ = from_url(url, "test.txt")
    path.write_bytes(damage(BODY))
    assert from_url(url, "test.txt")[1] != "cache"
    assert path.read_bytes() == BODY


def test_a_damaged_copy_without_a_network(server, monkeypatch):
    url = server.url + "/raw/test.txt"
    from_url(url, "test.txt")[0].write_bytes(BODY[:-1])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Unavailable, match="HF_HUB_OFFLINE"): from_url(url, "test.txt")


def test_another_pin_is_fetched_anew(server):
    server.files["/raw/new.txt"] = b"new"
    from_url(server.url + "/raw/test.txt", "test.txt")
    assert from_url(server.url + "/raw/new.txt", "test.txt")[0].read_bytes() == b"new"


def test_a_copy_made_by_hand(server, tmp_path):
    (tmp_path/"tfs"/"files").mkdir(parents=True)
    (tmp_path/"tfs"/"files"/"test.txt").write_bytes(BODY)
    assert from_url(server.url + "/raw/test.txt", "test.txt", PIN)[1] == "cache"
    assert server.calls == []


def test_disk_full(server, monkeypatch, tmp_path):
    class Full(io.BytesIO):
        def write(self, data): raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(provide, "open", lambda *a: Full(), raising=False)
    with pytest.raises(Unavailable, match="No space left"):
        from_url(server.url + "/raw/test.txt", "test.txt")
    assert left(tmp_path) == []


def test_hub_then_cache(hub_cache, capsys):
    path, source = from_hub("ada/bpe", "tokenizer.json")
    assert (path.read_bytes(), source) == (BODY, "Hugging Face Hub")
    assert "Downloading tokenizer.json of ada/bpe" in capsys.readouterr().out
    assert from_hub("ada/bpe", "tokenizer.json") == (path, "Hugging Face cache")
    assert capsys.readouterr().out == ""


def test_hub_cache_needs_no_network(hub_cache, monkeypatch):
    from_hub("ada/bpe", "tokenizer.json")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert from_hub("ada/bpe", "tokenizer.json")[1] == "Hugging Face cache"


def test_a_damaged_hub_cache(hub_cache, monkeypatch):
    path = from_hub("ada/bpe", "tokenizer.json")[0]
    if not path.is_symlink(): pytest.skip("a file system without links: no name tells the content")
    path.resolve().write_bytes(BODY[:99])
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(Unavailable, match="is damaged, and HF_HUB_OFFLINE"):
        from_hub("ada/bpe", "tokenizer.json")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert from_hub("ada/bpe", "tokenizer.json")[0].read_bytes() == BODY


def test_hub_gone_in_the_middle(hub_cache, tmp_path):
    hub_cache.faults["cut"] = "cut"
    with pytest.raises(Unavailable): from_hub("ada/bpe", "tokenizer.json")
    assert "tokenizer.json" not in left(tmp_path)
    hub_cache.faults.clear()
    assert from_hub("ada/bpe", "tokenizer.json")[0].read_bytes() == BODY


def test_hub_without_the_file(hub_cache):
    with pytest.raises(Unavailable, match=r"not found \(404\)") as error:
        hub_file("ada/bpe", "other.json", third="set TFS_DATA=sample")
    assert "\n" not in str(error.value)
    for part in ("models/ada/bpe/other.json", "TFS_DATA=sample", "TFS_MIRROR is not set"):
        assert part in str(error.value)


def test_mirror_comes_first(server, monkeypatch, tmp_path):
    part = tmp_path/"class"/"files"/"test.txt"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"mine")
    note = {"files/test.txt": {"stand_in": True, "why": "smaller"}}
    (tmp_path/"class"/"mirror.json").write_text(json.dumps(note), encoding="utf-8")
    monkeypatch.setenv("TFS_MIRROR", str(tmp_path/"class"))
    path, line = url_file(server.url + "/raw/test.txt", "test.txt", PIN)
    assert (path, line) == (part, "test.txt: mirror (a stand-in: smaller)")
    assert server.calls == []


def test_a_hanging_name_server(monkeypatch):
    "Looking up a name has no timeout of its own."
    monkeypatch.setattr(provide, "_ANSWERS", {})
    monkeypatch.setattr(provide, "urlopen", lambda *a, **k: time.sleep(9))
    start = time.perf_counter()
    assert not any(provide.online(f"https://hub.invalid/{n}") for n in range(5))
    assert time.perf_counter() - start < 3.5


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_any_answer_is_an_answer(server, status):
    server.faults["/"] = status
    assert provide.online(server.url)


def test_the_root_of_an_error_tells_its_status():
    root, error = (HTTPError("https://x", status, "", {}, None) for status in (403, 500))
    error.__cause__ = root
    assert provide.status_of(error) == 403 and provide.status_of(OSError("no answer")) is None
