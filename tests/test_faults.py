"""What is left on the disk when something breaks: the old file or the new one, whole.

Real processes on a real file system. `TFS_FAULTS=1 pytest -s tests/test_faults.py` prints a table.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from hub_server import Hub

from tfs import cli, provide

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, limits and /dev/full")
PAIRS = "".join(f"{a}\t{b}\n" for a, b in zip("abcdefgh", "абвгдежз"))
NOBODY = 65_534
LEFT = Counter()  # (what, fault, what was left): how often


def command(*args):
    "A job that runs a command of `tfs`; it ends with the command's code."
    def job(n):
        sys.argv = ["tfs", *(a.format(n=n, seed=n + 1, size=262 + 3 * n) for a in args)]
        cli.main()
    return job


def models():
    "Jobs that save what the library makes; the number chooses one of two contents."
    import pandas as pd

    from tfs.bpe import BPE
    from tfs.data import save_splits
    from tfs.unigram import train_unigram
    from tfs.viz import plot_lines, table, token_chips
    from tfs.wordpiece import train_wordpiece
    counts = {f"w{i}x": i + 1 for i in range(60)}
    frames = [pd.DataFrame({"en": [f"{c} {i}" for i in range(300)], "ru": ["б"] * 300})
              for c in "ab"]
    made = {"BPE.save": [BPE.train(counts, n) for n in (40, 50)],
            "WordPiece.save": [train_wordpiece(counts, n) for n in (100, 120)],
            "Unigram.save": [train_unigram(counts, n) for n in (60, 80)],
            "chips.save": [token_chips([list(counts)[n:]]) for n in (0, 1)],
            "table.save": [table(f) for f in frames],
            "chart.save": [plot_lines([1, 2], {"a": [1, n]}, "t", "x", "y") for n in (2, 3)]}
    ends = {"chips.save": "svg", "table.save": "html", "chart.save": "png"}
    save = lambda name, n: made[name][n].save(f"out/it.{ends.get(name, 'json')}")
    jobs = {name: partial(save, name) for name in made}
    splits = lambda n: save_splits("out/it", *[frames[n]] * 3)
    return jobs | {"save_splits": splits}


def commands():
    "Jobs that run commands."
    from tfs import training  # noqa: F401
    return {"tfs train": command("train", "{n}.txt", "-v", "{size}", "-p", "gpt2", "-o",
                                 "out/it.json"),
            "tfs encode": command("encode", "{n}.txt", "-t", "bytes", "-o", "out/it.txt"),
            "tfs decode": command("decode", "{n}.ids", "-t", "bytes", "-o", "out/it.txt"),
            "tfs chips": command("chips", "low {n}", "-t", "bytes", "-o", "out/it.svg"),
            "tfs split": command("split", "pairs.tsv", "--seed", "{seed}", "--share", "0.3", "-o",
                                 "out/it"),
            "tfs count": command("count", "{n}.txt", "-o", "out/it.parquet")}


def start(job, folder, before=lambda: None, out=None):
    "Run a job in a new process; gives its number and a pipe with what it says."
    read, write = os.pipe()
    if pid := os.fork():
        os.close(write)
        return pid, open(read, "rb")
    code = 99
    try:
        os.chdir(folder)
        os.dup2(write if out is None else out, 1)
        os.dup2(write, 2)
        sys.stdin, sys.stdout = (open(os.devnull), open(1, "w", closefd=False))
        sys.stderr = open(2, "w", closefd=False)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        before()
        job()
        code = 0
    except SystemExit as e: code = e.code
    except BaseException: traceback.print_exc()
    finally:
        with suppress(OSError): sys.stderr.flush()
        os._exit(code)


def finish(started):
    "The code of a process (negative for a signal) and what it has said."
    pid, pipe = started
    said = pipe.read().decode()
    pipe.close()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def run(job, folder, **options): return finish(start(job, folder, **options))


def demoted(job=lambda n: None):
    "Become nobody, where we are root; first a job loads the modules that nobody may read."
    if os.geteuid(): return
    with suppress(SystemExit): job(0)
    for change, to in ((os.setgroups, []), (os.setgid, NOBODY), (os.setuid, NOBODY)): change(to)


def content(folder):
    "What there is in a folder that isn't hidden, and the names of what is."
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
             if p.is_file()}
    hidden = [name for name in files if any(part[0] == "." for part in Path(name).parts)]
    return {k: v for k, v in files.items() if k not in hidden}, hidden


@pytest.fixture(scope="module")
def place():
    "A folder that everyone may enter, with what commands read."
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        folder.chmod(0o755)
        patch.setenv("HF_HUB_OFFLINE", "1")
        for n in (0, 1):
            (folder/f"{n}.txt").write_text(f"low lower lowest{n}\n" * 400, encoding="utf-8")
            (folder/f"{n}.ids").write_text(f"97 98 {99 + n}\n" * 400, encoding="utf-8")
        (folder/"pairs.tsv").write_text(PAIRS, encoding="utf-8")
        (folder/"out").mkdir()
        yield folder


@pytest.fixture(scope="module")
def jobs(place):
    "Every job, and its two contents: what a job leaves that isn't disturbed."
    found = {}
    for name, job in (models() | commands()).items():
        both = []
        for n in (0, 1):
            code, said = run(lambda job=job, n=n: job(n), place)
            assert code == 0, (name, said)
            both.append(content(place/"out")[0])
        assert both[0] != both[1] and both[0], name
        clear(place/"out")
        found[name] = job, *both
    return found


def clear(folder):
    "Empty a folder."
    import shutil
    for p in folder.iterdir(): shutil.rmtree(p) if p.is_dir() else p.unlink()


def write(folder, files):
    "Put files into a folder that is emptied."
    clear(folder)
    for name, data in files.items():
        (folder/name).parent.mkdir(exist_ok=True, parents=True)
        (folder/name).write_bytes(data)


def judge(name, fault, folder, old, new, litter=False):
    "Check what is left, and note it."
    files, hidden = content(folder)
    left = "old" if files == old else "new" if files == new else "nothing" if not files else "other"
    if name == "save_splits" and left == "other":
        from tfs.data import PairsError, load_splits
        with pytest.raises(PairsError, match="of different runs"): load_splits(folder/"it")
        left = "a set that is refused"
    LEFT[name, fault, left + (", and a draft" if hidden else "")] += 1
    assert left in ("old", "new", "a set that is refused") or not old and left == "nothing", \
        (name, fault, list(files))
    assert litter or not hidden, (name, fault, hidden)
    return left


@contextmanager
def full_disk(folder):
    "A small disk in the place of a folder; where none can be had, a limit on the size of files."
    import resource
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "none", folder]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        yield None, lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                             resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)))
        return
    try: yield folder, lambda: None
    finally: subprocess.run(["umount", folder], check=True)


def test_disk_full(place, jobs):
    "Every job says so in one line that names the file, and the old file stays."
    with full_disk(place/"out") as (disk, limit):
        for name, (job, old, new) in jobs.items():
            for before in ({}, old):
                write(place/"out", before)
                if disk: fill(disk)
                code, said = run(lambda job=job: job(1), place, before=limit)
                if disk: (disk/"filler").unlink()
                fault = "disk full" if disk else "file too large"
                assert judge(name, fault, place/"out", before, new) != "new", name
                assert "it" in said and ("No space left" in said or "oo large" in said), said
                if name.startswith("tfs"): assert (code, said.count("\n")) == (1, 1), said


def fill(disk):
    "Write a file until the disk is full."
    with open(disk/"filler", "wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096): pass


def test_no_permission(place, jobs):
    "A folder that one may not write to."
    for name, (job, old, new) in jobs.items():
        write(place/"out", old)
        for p in (place/"out", place/"out"/"it"):
            if p.is_dir(): p.chmod(0o555)
        null = os.open(os.devnull, os.O_WRONLY)
        code, said = run(lambda job=job: job(1), place, before=partial(demoted, job), out=null)
        os.close(null)
        for p in (place/"out", place/"out"/"it"):
            if p.is_dir(): p.chmod(0o755)
        assert judge(name, "no permission", place/"out", old, new) == "old"
        assert "ermission" in said or "may write to" in said, said
        if name.startswith("tfs"): assert (code, said.count("\n")) == (1, 1), said


RENAMES = ("replace", "rename")


def killer(step):
    "Make the process kill itself before the call of a given number that renames a file."
    calls = []
    def renaming(old):
        def call(*args, **options):
            if len(calls) == step: os.kill(os.getpid(), signal.SIGKILL)
            calls.append(1)
            return old(*args, **options)
        return call
    # Python 3.10's Path.rename holds the function itself
    accessor = getattr(pathlib, "_NormalAccessor", type("Nobody", (), {}))
    for name in RENAMES:
        call = renaming(getattr(os, name))
        setattr(os, name, call)
        setattr(accessor, name, staticmethod(call))


def test_killed_at_every_step(place, jobs):
    "Before each rename; the next run clears up, and brings back a folder that was half-way."
    for name, (job, old, new) in jobs.items():
        for step in range(4):
            write(place/"out", old)
            code, _ = run(lambda job=job: job(1), place, before=lambda step=step: killer(step))
            if code == 0: break
            assert code == -signal.SIGKILL
            if name == "tfs split" and not content(place/"out")[0]:
                run(lambda: job_that_fails(place), place)
                assert content(place/"out") == (old, [])
                LEFT[name, "killed between two renames", "old, which the next run brings back"] += 1
            else: judge(name, "killed before a rename", place/"out", old, new, litter=True)
            assert run(lambda job=job: job(1), place)[0] == 0
            assert content(place/"out") == (new, [])
        assert step


def job_that_fails(place):
    "Something else goes wrong in the next run."
    from tfs.env import atomic_folder
    from tfs.splits import SPLIT_FILES
    with atomic_folder(place/"out"/"it", SPLIT_FILES): raise SystemExit(1)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM],
                         ids=lambda s: s.name)
def test_ended_at_any_moment(place, jobs, sign):
    rng = random.Random(sign)
    for name, (job, old, new) in jobs.items():
        if sign != signal.SIGKILL and not name.startswith("tfs"): continue
        def ready(job=job): os.write(2, b"."), job(1)
        begin = time.perf_counter()
        assert run(ready, place)[0] == 0
        usual = time.perf_counter() - begin
        for _ in range(4):
            write(place/"out", old)
            pid, pipe = start(ready, place)
            pipe.read(1)
            time.sleep(rng.random() * usual)
            with suppress(ProcessLookupError): os.kill(pid, sign)
            code, said = finish((pid, pipe))
            judge(name, sign.name, place/"out", old, new, litter=sign == signal.SIGKILL)
            wanted = {"SIGKILL": -9, "SIGINT": 130, "SIGTERM": 143}[sign.name]
            assert code in (0, wanted), (name, code, said)
            # a command that is ended behind its last step has made its report already
            lines = said.count("\n") <= 1 or content(place/"out")[0] == new
            assert not code or "Traceback" not in said and lines, (name, said)
        assert run(lambda job=job: job(1), place)[0] == 0
        assert content(place/"out") == (new, [])


def test_two_at_once(place, jobs):
    "Two processes write the same output again and again; a reader sees one or the other."
    for name, (job, old, new) in jobs.items():
        write(place/"out", old)
        def often(n, job=job):
            for _ in range(12):
                try: job(n)
                except SystemExit as e:
                    if e.code: raise
        both = [start(lambda n=n: often(n), place) for n in (0, 1)]
        if len(old) == 1:
            file = place/"out"/next(iter(old))
            for _ in range(50): assert file.read_bytes() in (*old.values(), *new.values())
        for code, said in map(finish, both): assert code == 0, (name, said)
        judge(name, "two at once", place/"out", old, new)


# Standard output that can't be written.

@pytest.mark.parametrize("args", [["doctor"], ["encode", "0.txt", "-t", "bytes"], ["--help"],
                                  ["measure", "0.txt", "-t", "bytes"], ["--version"],
                                  ["chips", "a", "-t", "bytes"],
                                  ["measure", "0.txt", "-t", "bytes", "--json"]], ids=str)
def test_full_standard_output(place, args):
    with open("/dev/full", "wb") as full:
        code, said = run(lambda: command(*args)(0), place, out=full.fileno())
    lines = [line for line in said.splitlines() if not line.startswith("note: ")]
    assert code == 1 and len(lines) == 1 and "No space left" in lines[0], said
    LEFT["tfs", "standard output is full", "one line, code 1"] += 1


# The cache of downloads.

BODY = b"line\n" * 20_000


@pytest.fixture
def server(monkeypatch, tmp_path):
    "A server with a file, and a cache of its own."
    hub = Hub()
    hub.files = {"/raw/test.txt": BODY}
    monkeypatch.setattr(provide, "_ANSWERS", {})
    monkeypatch.setenv("TFS_CACHE", str(tmp_path/"tfs"))
    for name in ("TFS_MIRROR", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    yield hub
    hub.close()


def fetch(server): return provide.from_url(server.url + "/raw/test.txt", "test.txt")


def test_killed_in_the_middle_of_a_download(server, tmp_path):
    server.faults["stall"] = "stall"
    for _ in range(3):
        pid, pipe = start(lambda: fetch(server), tmp_path)
        end = time.time() + 20
        while not list(tmp_path.rglob("*.tmp")) and time.time() < end: time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        assert finish((pid, pipe))[0] == -signal.SIGKILL
        assert len(list(tmp_path.rglob("*.tmp"))) == 1  # it doesn't grow
    assert not (tmp_path/"tfs"/"files"/"test.txt").exists()
    LEFT["download", "killed in the middle", "nothing, and a draft"] += 3
    server.faults.clear()
    assert fetch(server)[0].read_bytes() == BODY
    assert sorted(os.listdir(tmp_path/"tfs"/"files")) == ["test.txt", "test.txt.note.json"]


def test_one_cache_for_many(server, tmp_path):
    def check(): assert fetch(server)[0].read_bytes() == BODY
    for code, said in map(finish, [start(check, tmp_path) for _ in range(6)]): assert not code, said
    assert sorted(os.listdir(tmp_path/"tfs"/"files")) == ["test.txt", "test.txt.note.json"]
    assert fetch(server)[1] == "cache"
    LEFT["download", "six at once in one cache", "new"] += 1


def test_a_cache_that_is_read_only(server, place, monkeypatch):
    "What is there is used; what isn't can't be kept, and the message says so."
    (place/"cache").mkdir(exist_ok=True)
    monkeypatch.setenv("TFS_CACHE", str(place/"cache"))
    (place/"cache").chmod(0o555)
    code, said = run(lambda: fetch(server), place, before=demoted)
    assert code == 99 and "Unavailable" in said and "ermission denied" in said
    assert "TFS_CACHE" in said.splitlines()[-1], said
    (place/"cache").chmod(0o755)
    fetch(server)
    for p in (place/"cache"/"files", place/"cache"): p.chmod(0o555)
    def check(): assert fetch(server)[1] == "cache"
    assert run(check, place, before=demoted) == (0, "")
    for p in (place/"cache", place/"cache"/"files"): p.chmod(0o755)
    LEFT["download", "read-only cache", "old"] += 1


@pytest.fixture(scope="module", autouse=True)
def report():
    "Print the table where it is asked for."
    yield
    if not os.environ.get("TFS_FAULTS"): return
    for (what, fault, left), n in sorted(LEFT.items()): print(f"{what} | {fault} | {left} | {n}")
