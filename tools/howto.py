"""Run the commands of the how-to pages; write what they print, or compare it with the page.

    python tools/howto.py                            run all pages and write the outputs
    python tools/howto.py nbs/howto/split.qmd        one of them
    python tools/howto.py --check                    compare, and change nothing

The blocks of a page run in order, in an empty folder. Each line of an `sh` block is a command,
`export NAME=value` holds for the rest of the page, and `pip install` is not run. A `python` block
is a program. A `text` block right after one is what it prints on a terminal of 80 columns.
What a page fetches from the Hub or publishes there goes to a small Hub on this machine.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from project import ROOT, howto_pages

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", re.M | re.S)
HUB = "https://huggingface.co"


@contextmanager
def local_hub():
    "A Hub on this machine with the files and the token of the pages, and the variables for it."
    sys.path[:0] = [str(ROOT), str(ROOT/"tests")]
    from hub_server import Hub

    from tfs.pretrained import LLM_TOKENIZERS
    hub, places = Hub(), (f"/{n}/resolve/main/tokenizer.json" for n in LLM_TOKENIZERS.values())
    hub.token, hub.files = "hf_your_token", dict.fromkeys(places, b"{}")
    try:
        with tempfile.TemporaryDirectory() as home:
            yield hub, {"HF_ENDPOINT": hub.url, "HF_HOME": home, "HF_HUB_DISABLE_XET": "1"}
    finally: hub.close()


def terminal(command, folder, env):
    "What a command prints on a terminal that shows no colours, and its exit code."
    if not hasattr(os, "openpty"):
        done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True)
        return (done.stdout + done.stderr * bool(done.returncode)).decode(), done.returncode
    ours, theirs = os.openpty()
    with subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=subprocess.PIPE) as process:
        os.close(theirs)
        parts = list(iter(lambda: read(ours), b""))
        errors = process.stderr.read()
    os.close(ours)
    printed = b"".join(parts).replace(b"\r\n", b"\n")
    return (printed + errors * bool(process.returncode)).decode(), process.returncode


def read(handle):
    "The next bytes of a terminal; none when the other side has closed it."
    try: return os.read(handle, 1 << 16)
    except OSError: return b""


def settled(text):
    "Text without what a page doesn't keep: spaces at line ends, empty lines around it."
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).strip("\n")


def run_block(kind, code, folder, env):
    "What the commands of a block print."
    if kind == "python": lines = [[sys.executable, "-c", code]]
    else: lines = list(map(shlex.split, code.replace("\\\n", " ").splitlines()))
    printed = []
    for words in filter(None, lines):
        if words[:2] == ["pip", "install"]: continue
        if words[0] == "export": env.update([words[1].split("=", 1)]); continue
        if words[0] == "tfs": words[:1] = [sys.executable, "-m", "tfs"]
        text, status = terminal(words, folder, env)
        if status: raise RuntimeError(f"{' '.join(words[-6:])}: exit code {status}\n{text}")
        printed.append(text)
    return settled("".join(printed))


def run_page(text, **variables):
    "The page with the outputs of this run."
    own = {"TERM": "dumb", "COLUMNS": "80", "PYTHONUTF8": "1", "TFS_DATA": "sample",
           "TFS_MIRROR": "", "TFS_PROVIDER": "packages", "PYTHONPATH": str(ROOT)}
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    env |= own | variables
    with tempfile.TemporaryDirectory() as folder:
        def fresh(match):
            got = run_block(match[1], match[2], folder, env)
            if hub := variables.get("HF_ENDPOINT"): got = got.replace(hub, HUB)
            shown = f"\n```text\n{got}\n```\n" if match[3] is not None else ""
            return f"```{match[1]}\n{match[2]}```\n{shown}"
        return BLOCK.sub(fresh, text)


def differences(old, new, name):
    "How a page would change, as lines."
    return list(difflib.unified_diff(old.splitlines(), new.splitlines(), name, "this run",
                                     lineterm="", n=1))


def main():
    "The command line."
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", type=Path, default=howto_pages())
    parser.add_argument("--check", action="store_true", help="compare and change nothing")
    args, wrong = parser.parse_args(), []
    for path in args.names:
        old = path.read_text(encoding="utf-8")
        with local_hub() as (_, variables): new = run_page(old, **variables)
        if args.check: wrong += differences(old, new, path.name)
        else: path.write_text(new, encoding="utf-8", newline="\n")
    if wrong: sys.exit("\n".join(wrong))


if __name__ == "__main__": main()
