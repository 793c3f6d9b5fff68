"""Put the playground into a built site: its page, its engine from npm, the course's tokenizer.

The engine is one file of one npm package, pinned by its hash and kept in work/npm: the npm client
fetches it, or plain HTTP where npm can't. Where neither can, the page says so and shows a fixed
example. With TFS_MIRROR the five real tokenizers are copied beside the page.
"""
import base64
import hashlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from contextlib import redirect_stdout
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from project import ROOT

sys.path.insert(0, str(ROOT))
PARTS, KEPT = ROOT/"tools"/"site"/"playground", ROOT/"work"/"npm"
PLACE = '<div id="tfs-playground"></div>'
ENGINE, VERSION = "@huggingface/tokenizers", "0.2.0"
SHA512 = "LidMHe1FpcSYH4vcSjXooda34pC0M8m1gmDOv7SQi6Iv+ib1zX7J3sHBCC9/3FPCkn2k1b55FneVqMRxrr99pg=="
MEMBERS = {"package/dist/tokenizers.min.mjs": "tokenizers.min.js", "package/LICENSE": "LICENSE.txt"}
SIZES = {"gpt2": 1.4e6, "gpt4": 4.2e6, "llama3": 9.1e6, "deepseek-v3": 7.8e6, "gpt4o": 9.7e6}
STORY = {"eng_Latn": ("English", "en"), "rus_Cyrl": ("Russian", "ru"),
         "san_Deva": ("Sanskrit", "sa"), "tam_Taml": ("Tamil", "ta"), "tel_Telu": ("Telugu", "te")}
START = {"word": "unbelievably", "text": "How many strawberries are in the old well?\n"
         "Unbelievably many! А сколько клубники в старом колодце?"}
TEXTS = {"Spelling": "strawberry Strawberry STRAWBERRY straw berry strawberries",
         "Numbers": "3.14159 1234567 1,234,567 2026-11-30 0xFF",
         "Code": "def double(x):\n    return 2 * x  # <b>twice</b> & done\n",
         "Emoji and invisible characters": "👩‍👩‍👧 🏳️‍🌈 zero\u200bwidth non\u00a0breaking e\u0301 é"}


class Missing(Exception):
    "The engine can't be had; the message says why."


def registry(env=os.environ, home=None):
    "The npm registry: from the environment, from the user's `.npmrc`, or the public one."
    named = [v for k, v in env.items() if k.lower() == "npm_config_registry" and v]
    file = Path(home or Path.home())/".npmrc"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    for key in ("@huggingface:registry", "registry"):
        named += [m[1] for line in lines if (m := re.match(rf"\s*{key}\s*=\s*(\S+)", line))]
    return (named or ["https://registry.npmjs.org"])[0].rstrip("/")


def packed(folder, name):
    "Fetch the package into a folder with the npm client."
    if not shutil.which("npm"): raise Missing("there is no npm")
    command = [shutil.which("npm"), "pack", f"{ENGINE}@{VERSION}", "--fetch-retries=0"]
    try: done = subprocess.run(command, cwd=folder, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as e: raise Missing(f"npm: {e}") from None
    if done.returncode or not (folder/name).is_file(): raise Missing("npm could not fetch it")


def fetched(folder, name):
    "Fetch the package into a folder by plain HTTP."
    address = f"{registry()}/{ENGINE}/-/{ENGINE.split('/')[1]}-{VERSION}.tgz"
    try:
        with urlopen(address, timeout=20) as answer: (folder/name).write_bytes(answer.read())
    except (OSError, ValueError) as e: raise Missing(f"the npm registry: {e}") from None


def is_pinned(path):
    "Whether a file is the package that this project was tested with."
    if not path.is_file(): return False
    return base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode() == SHA512


def engine(kept=KEPT):
    "The package's files that the page needs: name on the site -> content."
    name = f"{ENGINE.strip('@').replace('/', '-')}-{VERSION}.tgz"
    kept.mkdir(parents=True, exist_ok=True)
    if not is_pinned(kept/name):
        try: packed(kept, name)
        except Missing: fetched(kept, name)
    if not is_pinned(kept/name): raise Missing(f"{name} is another file than the pinned one")
    with tarfile.open(kept/name) as tar:
        return {to: tar.extractfile(member).read() for member, to in MEMBERS.items()}


def course_tokenizer():
    "Lesson 1's tokenizer from the bundled sentences, as the text of a `tokenizer.json`."
    from tfs import data
    from tfs.bpe import BPE, SPECIAL_TOKENS
    with redirect_stdout(io.StringIO()):
        raw, test = data.load_train("sample"), data.load_test("sample")
    pairs = data.drop_leaks(data.clean(raw)[0], test)[0]
    train = data.split_by_groups(pairs)[0]
    made = BPE.train([*train["en"], *train["ru"]], vocab_size=16_000, tie="id", min_frequency=2,
                     special_tokens=SPECIAL_TOKENS)
    file = json.loads(made.to_hf().to_str())
    file["model"]["merges"] = [" ".join(pair) for pair in file["model"]["merges"]]
    return json.dumps(file, ensure_ascii=False, separators=(",", ":"))


def real_ones(folder):
    "Where the page finds each of the five: beside it when the mirror has it, else on the Hub."
    from tfs.env import mirror
    from tfs.pretrained import ALIASES, LLM_TOKENIZERS
    from tfs.provide import HUB
    names = {repo: name for name, repo in LLM_TOKENIZERS.items()}
    for key, repo in ALIASES.items():
        own = mirror()/"models"/repo/"tokenizer.json" if mirror() else None
        place = dict(url=f"{HUB}/{repo}/resolve/main/tokenizer.json", host=urlsplit(HUB).netloc)
        if own and own.is_file():
            shutil.copyfile(own, folder/f"{key}.json")
            place = dict(url=f"playground/{key}.json", host="this site")
        size = own.stat().st_size if own and own.is_file() else SIZES[key]
        yield dict(key=key, name=names[repo], size=size, **place)


def examples():
    "Texts to begin with: the story's start in five languages, and a few that show a thing."
    rows = (ROOT/"tfs"/"sample"/"story.tsv").read_text(encoding="utf-8").splitlines()
    columns = dict(zip(rows[0].split("\t"), zip(*(row.split("\t") for row in rows[1:]))))
    story = {code: "\n".join(columns[code][:5]) for code in STORY}
    told = {code: dict(name=f"A story in {name}", text=story[code], lang=lang,
                       english=story["eng_Latn"]) for code, (name, lang) in STORY.items()}
    return told | {name.split()[0].lower(): dict(name=name, text=t) for name, t in TEXTS.items()}


def still(file):
    "The fixed example, for a page without scripts."
    from tokenizers import Tokenizer

    from tfs.viz import token_chips
    tokenizer, lines = Tokenizer.from_str(file), START["text"].splitlines()
    cuts = [tokenizer.encode(line) for line in lines]
    chips = token_chips([[t.replace("▁", " ") for t in cut.tokens] for cut in cuts],
                        ids=[cut.ids for cut in cuts], role="enc")
    return chips._repr_html_()


def page(app, file, notice):
    "What stands in the place of the playground: a notice, the fixed example, the app."
    said = notice or ("The playground starts when its scripts are loaded. Until then, and without "
                      "JavaScript, here is a fixed example: two lines cut by the course's "
                      "tokenizer, with ids.")
    noscript = "<noscript><p><b>Typing a text of your own needs JavaScript.</b></p></noscript>"
    return (f'<div id="tfs-pg-static">{"" if notice else noscript}'
            f'<p id="tfs-pg-wait">{html.escape(said)}</p>{still(file)}</div>{app}')


def install(site):
    "Fill the playground's page of a built site."
    target, folder = site/"playground.html", site/"playground"
    folder.mkdir(exist_ok=True)
    file, app, notice = course_tokenizer(), "", ""
    try: parts = engine()
    except Missing as e:
        print(f"The playground is left out: {e}")
        parts, notice = {}, ("The playground is not in this build, because its engine could not be "
                             "fetched. Here is a fixed example.")
    for name, content in parts.items(): (folder/name).write_bytes(content)
    if parts: app = fill(folder, file)
    text = target.read_text(encoding="utf-8")
    if PLACE not in text: sys.exit(f"playground: {target.name} has no place for it")
    target.write_text(text.replace(PLACE, page(app, file, notice)), encoding="utf-8", newline="\n")


def fill(folder, file):
    "Copy the page's own files and give its HTML."
    (folder/"course.json").write_text(file, encoding="utf-8", newline="\n")
    for path in PARTS.iterdir():
        if path.suffix in (".js", ".css"): shutil.copy(path, folder)
    own = dict(key="course", name="This course", url="playground/course.json", host="this site")
    facts = dict(tokenizers=[own, *real_ones(folder)], examples=examples(), start=START)
    safe = json.dumps(facts, ensure_ascii=False).replace("<", "\\u003c")
    app = (PARTS/"page.html").read_text(encoding="utf-8")
    return app.replace("{version}", VERSION).replace("{facts}", safe)
