"""The playground: its engine agrees with Python's, its page works, is safe, quick and reachable."""
import json
import os
import random
import re
import threading
import unicodedata
import zlib
from base64 import b64decode, urlsafe_b64encode
from functools import partial
from hashlib import sha256
from http.server import ThreadingHTTPServer
from statistics import median
from urllib.parse import quote

import playground
import pytest
from conftest import CFG, ROOT, Quiet

from tfs.bpe import BPE

WEIGHT = """return performance.getEntries().filter(e => "encodedBodySize" in e)
    .reduce((sum, e) => sum + e.encodedBodySize, 0)"""
LETTERS = {
    "Latin": "the well village water child strawberry isn't I'll naïve Größe façade they've",
    "Cyrillic": "колодец вода деревня подъезд ёлка її щастя молоко человек",
    "Greek": "νερό πηγάδι χωριό παιδί ψυχή άνθρωπος θάλασσα",
    "Devanagari": "कूपः जलं ग्रामे शीतलं मधुरं पुराणः विद्या",
    "Tamil": "கிணறு தண்ணீர் கிராமம் குழந்தை பழைய இனிமை",
    "Telugu": "బావి నీరు గ్రామం చల్లని పాత తియ్యని",
    "Bengali": "কুয়া জল গ্রাম শিশু ঠান্ডা পুরনো",
    "Arabic": "بئر ماء قرية طفل بارِد قديم ٢٠٢٦",
    "Hebrew": "באר מים כפר ילד קר שָׁלוֹם",
    "Thai": "บ่อน้ำ หมู่บ้าน เด็กน้อย น้ำเย็น เก่าแก่",
    "Han": "村里有一口老井 水很凉 孩子 甜 古老的水井",
    "Kana": "むらに ふるい いどが あります ミズ コドモ 井戸の水",
    "Hangul": "마을에 오래된 우물이 있습니다 물은 차고 달다 아이",
    "Georgian": "სოფელში ძველი ჭაა წყალი ცივი",
    "Armenian": "գյուղում հին ջրհոր կա ջուրը սառն"}
BETWEEN = [" ", " ", " ", " ", "  ", ", ", ". ", "! ", "? ", "-", " - ", " – ", ": ", " «", "» ",
           "’", "…", "。", "、", "/", "(", ") ", "; ", "\n", "\r\n\r\n", "\t", "\x85", "\u00a0",
           "\u200d", "\u3000", "\ufeff"]
EXTRA = ["7", "42", "1234567", "3.14", "x_y", "👩‍👩‍👧", "🏳️‍🌈", "e\u0301", "ﬁ", "½", "№", "<unk>",
         "<|endoftext|>", "$x$", "\x00", "def f(x):", "    return", "'S", "Ⅷ"]


def sentences(n=1000):
    "The course's story in five scripts, then words of fifteen scripts, shuffled and punctuated."
    lines = (ROOT/"tfs"/"sample"/"story.tsv").read_text(encoding="utf-8").splitlines()[1:]
    made, rng = [cell for line in lines for cell in line.split("\t")], random.Random(40)
    while len(made) < n:
        words = rng.choice(list(LETTERS.values())).split() + rng.sample(EXTRA, 2)
        parts = (rng.choice(words) + rng.choice(BETWEEN) for _ in range(rng.randint(3, 14)))
        made.append("".join(parts))
    return made


def served(folder, handler):
    "The address of a folder on this machine."
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}{CFG['doc_baseurl']}/"
        httpd.shutdown()


@pytest.fixture(scope="session")
def server(folder):
    "The address of the site on this machine, with the mirror beside it."
    mirror = os.environ.get("TFS_MIRROR", "")

    class Both(Quiet):
        def translate_path(self, path):
            found = re.search(r"/mirror/([\w./-]+)$", path)
            if mirror and found: return os.path.join(mirror, found[1])
            return super().translate_path(path)

    yield from served(folder, Both)


@pytest.fixture(scope="session")
def site(folder, server):
    "The address of the playground's site; skipped when the build had no engine."
    if not (folder/"playground"/"tokenizers.min.js").exists():
        pytest.skip("this build has no playground: the npm registry could not be reached")
    return server


READY = "document.documentElement.dataset.tfsPlayground === 'ready'"
TYPED = """const box = document.getElementById("tfs-pg-" + arguments[0]);
    box.value = JSON.parse(arguments[1]);
    box.dispatchEvent(new Event("input", {bubbles: true}))"""


@pytest.fixture
def play(site, browser):
    "A function that opens the playground and waits for it."
    def open_page(fragment="", width=1280, dark=False):
        browser.open("about:blank")
        browser.open(f"{site}playground.html{fragment}", width, dark)
        assert browser.until(READY, 10)
        return browser
    return open_page


def typed(browser, text, box="text"):
    "Put a text into a box; any text, half a surrogate pair too."
    browser.js(TYPED, box, json.dumps(text))


def click(browser, name, times=1):
    "Press a button of the page."
    for _ in range(times): browser.js(f"document.getElementById('tfs-pg-{name}').click()")


def pick(browser, example):
    "Choose an example."
    browser.js("const e = document.getElementById('tfs-pg-example');"
               f"e.value = '{example}'; e.onchange()")


def texts(browser, place):
    "The texts of all elements of a kind."
    return browser.js(f"return [...document.querySelectorAll('{place}')].map(c => c.innerText)")


def chips(browser):
    "The chips that the course's tokenizer makes."
    return browser.js("return [...document.querySelectorAll('.is-course [role=option]')]"
                      ".map(c => c.textContent)")


def row(browser):
    "The figures of the course's tokenizer: the first row."
    return re.split(r"\s*\t\s*", texts(browser, "#tfs-pg-figures tr")[0])[1:]


@pytest.fixture(scope="session")
def course(folder):
    "The course's tokenizer in Python, from the file that the page loads."
    from tokenizers import Tokenizer
    return Tokenizer.from_file(str(folder/"playground"/"course.json"))


CUT = """const [base, place, texts, done] = arguments;
    (async () => {
        const {Cutter} = await import(base + "playground/engine.js");
        const cutter = new Cutter(await (await fetch(base + place)).json());
        const cut = text => {
            const tokens = cutter.cut(text), last = word => cutter.steps(word).at(-1).pieces;
            const words = new Set(tokens.map(t => t.word).filter(w => w !== null));
            const odd = w => last(w).join() !== cutter.tokens(w).map(t => t.piece).join();
            return [tokens.map(t => t.id), cutter.normalized(text), [...words].filter(odd)];
        };
        return texts.map(cut);
    })().then(done, error => done(String(error)))"""


def agree(browser, site, place, tokenizer):
    "Ids, normalised texts and the last step of each word's merges, in the browser and in Python."
    rows = sentences()
    browser.driver.set_script_timeout(120)
    found = browser.driver.execute_async_script(CUT, site, place, rows)
    assert isinstance(found, list), found
    clean = tokenizer.normalizer.normalize_str if tokenizer.normalizer is not None else str
    for text, (ids, seen, odd) in zip(rows, found):
        assert ids == tokenizer.encode(text, add_special_tokens=False).ids, text
        assert "<" in text or seen == clean(text), text
        assert not odd, text


def test_ids_are_those_of_python(play, site, course):
    agree(play(), site, "playground/course.json", course)


NFKC = """const [base, text, done] = arguments;
    (async () => {
        const {Cutter} = await import(base + "playground/engine.js");
        const file = await (await fetch(base + "playground/course.json")).json();
        const cutter = new Cutter({...file, normalizer: {type: "NFKC"}});
        const seen = new TextEncoder().encode(cutter.normalized(text));
        return [...new Uint8Array(await crypto.subtle.digest("SHA-256", seen))];
    })().then(done, error => done(String(error)))"""


def test_every_character_is_normalised_as_by_python(play, site):
    "Every one that this Python knows: later ones can get a normal form in a newer browser."
    from tokenizers import normalizers
    known = (c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Cs"))
    text = "\n".join(known)
    found = play().driver.execute_async_script(NFKC, site, text)
    assert found == list(sha256(normalizers.NFKC().normalize_str(text).encode()).digest())


@pytest.mark.mirror
@pytest.mark.skipif(not os.environ.get("TFS_MIRROR"), reason="TFS_MIRROR names no mirror")
@pytest.mark.parametrize("name", ["gpt2", "gpt4", "gpt4o", "llama3", "deepseek-v3"])
def test_ids_of_the_real_ones_are_those_of_python(play, site, name):
    from tfs.pretrained import load_tokenizer, repo_of
    agree(play(), site, f"mirror/models/{repo_of(name)}/tokenizer.json", load_tokenizer(name))


def test_the_sentences_are_many_and_of_many_scripts():
    rows = sentences()
    assert len(rows) == 1000 and len(LETTERS) >= 10
    for words in map(str.split, LETTERS.values()):
        assert sum(any(w in row for w in words) for row in rows) >= 30


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_in_a_browser(play, site, width, dark):
    browser = play(width=width, dark=dark)
    mode = "dark" if dark else "light"
    assert browser.until(f"document.documentElement.dataset.bsTheme === '{mode}'")
    asked = [url for url in browser.asked() if not url.startswith(("data:", "about:"))]
    assert asked and all(url.startswith(site) for url in asked)
    assert not [url for url in asked if re.search(r"playground/(gpt|llama|deep)", url)]
    click(browser, "next", 3)
    browser.js("document.querySelectorAll('#tfs-pg-panels [role=option]')[2].focus()")
    assert not browser.complaints()
    assert browser.js("return document.documentElement.scrollWidth") <= width
    assert browser.js(WEIGHT) <= 1_500_000
    browser.screenshot(ROOT/"work"/"screens"/f"playground-{width}-{mode}.png", width)


def test_a_text_is_cut_while_it_is_typed(play, course):
    browser = play()
    for text in ("The well is old.", "The well is older.", "Старый колодец, 12 слов", "", "一"):
        typed(browser, text)
        cut = course.encode(text)
        shown = [text[slice(*place)] if token == "<unk>" else token.replace("▁", "␣")
                 for token, place in zip(cut.tokens, cut.offsets)]
        assert chips(browser) == shown
        tokens, per_word, per_token, _ = row(browser)
        assert int(tokens) == len(cut)
        words = len(text.split())
        assert per_word == (f"{len(cut)/words:.2f}" if words else "–")
        assert per_token == (f"{len(text)/len(cut):.2f}" if cut.ids else "–")


def test_what_is_normalised_is_shown(play):
    browser = play()
    typed(browser, "«е\u0308лка» –  ﬁ")
    assert 'Normalised first: "ёлка" — fi' in texts(browser, ".is-course")[0]
    typed(browser, "plain text")
    assert "Normalised" not in texts(browser, ".is-course")[0]


MARKUP = ('<img src=x onerror="window.hit=1"></textarea></script><script>window.hit=2</script>'
          "<b>&amp;$x$")


def test_any_text_is_safe(play):
    browser = play("#text=" + quote(MARKUP) + "&word=" + quote("<img/src=x>"))
    assert browser.js("return document.getElementById('tfs-pg-text').value") == MARKUP
    made = "document.querySelectorAll('.tfs-pg :is(img, b, script)').length"
    assert not browser.js(f"return window.hit || {made}")
    assert "".join(chips(browser)).startswith("␣<img␣src=x")
    hard = ("\ud800 lone", "\x00\x1b\u202e", "a" * 5000, "ش" * 3000, "👩‍👩‍👧" * 500)
    for text in hard:
        typed(browser, text)
        typed(browser, text, "word")
    assert not browser.complaints()


def test_a_chip_says_what_it_is(play, course):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    browser = play()
    typed(browser, "old well 井")
    ids = course.encode("old well 井").ids
    shown = browser.driver.find_elements(By.CSS_SELECTOR, ".is-course [role=option]")
    browser.js("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", shown[1])
    ActionChains(browser.driver).move_to_element(shown[1]).perform()
    said = texts(browser, "#tfs-pg-facts-of")[0].replace("\n", " ")
    assert f"Token ␣well Id {ids[1]} Bytes 20 77 65 6C 6C Code points U+0020 U+0077" in said
    shown[-1].click()
    said = texts(browser, "#tfs-pg-facts-of")[0].replace("\n", " ")
    assert "Bytes E4 BA 95 Code points U+4E95" in said and "not in the vocabulary" in said


def test_everything_is_reached_by_keyboard(play):
    from selenium.webdriver.common.keys import Keys
    browser = play()
    typed(browser, "")
    browser.js("document.getElementById('tfs-pg-text').focus()")
    press = lambda *keys: [browser.driver.switch_to.active_element.send_keys(k) for k in keys]
    at = lambda: browser.js("const at = document.activeElement; return at.id || at.textContent")
    press("strawberry strawberries")
    count, first = len(chips(browser)), None
    for _ in range(20):
        press(Keys.TAB)
        if browser.js("return document.activeElement.getAttribute('role')") == "option": break
    first = at()
    press(Keys.ARROW_RIGHT)
    assert count > 2 and at() != first
    press(Keys.HOME)
    assert at() == first == "␣straw"
    press(Keys.END, Keys.ENTER)
    assert at() == "tfs-pg-step"
    assert browser.js("return document.getElementById('tfs-pg-word').value") == "␣strawberries"
    said = texts(browser, "#tfs-pg-said")
    press(Keys.ARROW_RIGHT)
    assert "Step 1 of" in texts(browser, "#tfs-pg-said")[0] != said[0]
    typed(browser, "<unk> well")
    browser.js("document.querySelector('.is-course [role=option]').focus()")
    press(Keys.ENTER)
    assert at() == "<unk>" and not browser.complaints()
    closed = "document.getElementById('tfs-pg-detail').hidden"
    press(Keys.ESCAPE)
    assert browser.js(f"return {closed}")
    browser.js("document.activeElement.blur();"
               "document.querySelector('.is-course [role=option]').focus()")
    assert not browser.js(f"return {closed}")
    browser.js("document.getElementById('tfs-pg-close').focus()")
    press(Keys.ENTER)
    assert browser.js(f"return {closed}") and at() == "<unk>"


def spellings(word, ranks):
    "All spellings of a word: the earliest merge first, the leftmost of equals."
    rows = [list(word)]
    while True:
        pairs = enumerate(zip(rows[-1], rows[-1][1:]))
        found = [(ranks[pair], i) for i, pair in pairs if pair in ranks]
        if not found: return rows
        i, last = min(found)[1], rows[-1]
        rows.append([*last[:i], last[i] + last[i + 1], *last[i + 2:]])


def test_merges_go_forwards_and_backwards(play, course, folder):
    file = json.loads((folder/"playground"/"course.json").read_text(encoding="utf-8"))
    ranks = {tuple(pair.split(" ")): i for i, pair in enumerate(file["model"]["merges"])}
    browser = play()
    typed(browser, "strawberries", "word")
    wanted = spellings("▁strawberries", ranks)
    assert wanted[-1] == course.encode("strawberries").tokens
    shown = lambda: [c.replace("␣", "▁") for c in texts(browser, "#tfs-pg-spelling .tfs-chip")]
    for i, spelling in enumerate(wanted):
        assert shown() == spelling
        if i: assert f"Step {i} of {len(wanted) - 1}: " in texts(browser, "#tfs-pg-said")[0]
        click(browser, "next")
    assert "No other pair" in texts(browser, "#tfs-pg-said")[0]
    for spelling in wanted[-2::-1]:
        click(browser, "back")
        assert shown() == spelling
    click(browser, "last")
    assert shown() == wanted[-1]
    click(browser, "first")
    assert shown() == wanted[0]


def shared(browser):
    "The address after the state has been put into it."
    old = browser.js("return location.href")
    browser.until(f"location.href !== {json.dumps(old)}", 3)
    return browser.js("return location.hash")


STATE = """const get = id => document.getElementById("tfs-pg-" + id);
    const boxes = [...document.querySelectorAll("#tfs-pg-with input")];
    const values = ["text", "english", "word", "by", "step"].map(id => get(id).value);
    return JSON.stringify([...values, boxes.filter(b => b.checked).map(b => b.id)])"""


@pytest.mark.parametrize("text", [
    "a & b = c # d\n«ё» 👩‍👩‍👧", "The well. Колодец. " * 100, "\ud800 a"],
    ids=["signs", "long", "half a pair"])
def test_the_address_restores_the_state(play, text):
    browser = play()
    typed(browser, text)
    typed(browser, "In English", "english")
    typed(browser, "unbelievable", "word")
    click(browser, "next", 3)
    fragment, state = shared(browser), browser.js(STATE)
    assert len(fragment) < 500 and json.loads(state)[4] == "3"
    again = play(fragment)
    assert again.js(STATE) == state and not again.complaints()


BOMB = "#z=" + urlsafe_b64encode(zlib.compress(b" " * 50_000_000, 9)[2:-4]).decode().rstrip("=")


@pytest.mark.parametrize("fragment", [
    "#z=", "#z=%%%", "#z=AAAA", "#z=q1YqSS0uUbICAA", "#text=%E0%A4%A", "#=", "#text", "#%",
    "#with=nobody&text=a", "#text=a&by=nobody&step=-7&word=", "#text=a&step=1e99",
    "#what-the-numbers-mean", BOMB], ids=lambda f: f[:24])
def test_a_broken_address_does_no_harm(play, fragment):
    browser = play(fragment)
    assert not browser.complaints()
    typed(browser, "old well")
    assert row(browser)[0] == "2"


def test_it_works_after_the_network_is_cut(play):
    browser = play()
    cut = dict(offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    browser.cdp("Network.enable", {})
    browser.cdp("Network.emulateNetworkConditions", cut)
    try:
        browser.driver.get_log("performance")
        typed(browser, "It is still cut.")
        assert texts(browser, ".is-course h3") == ["This course 5 tokens"]
        pick(browser, "rus_Cyrl")
        typed(browser, "колодцами", "word")
        click(browser, "last")
        assert "Step" in texts(browser, "#tfs-pg-said")[0] and shared(browser)
        assert not browser.asked() and not browser.complaints()
    finally: browser.cdp("Network.emulateNetworkConditions", cut | {"offline": False})


def test_the_cost_is_relative_to_the_same_text_in_english(play, course):
    browser = play()
    story = playground.examples()
    pick(browser, "rus_Cyrl")
    ours, english = (len(course.encode(story["rus_Cyrl"][k])) for k in ("text", "english"))
    assert row(browser)[3] == f"{ours/english:.2f}×"
    typed(browser, "")
    typed(browser, "", "english")
    assert row(browser)[3] == "–"


HUB = """const real = window.fetch; window.asked = []; window.broken = false;
    window.fetch = (url, ...rest) => {
        if (!String(url).startsWith("https://")) return real(url, ...rest);
        window.asked.push(String(url));
        if (window.broken) return Promise.reject(new TypeError("no network"));
        return real("playground/course.json", ...rest);
    };"""


def test_the_big_ones_are_loaded_when_they_are_asked_for(play, folder):
    if (folder/"playground"/"gpt2.json").exists(): pytest.skip("this site was built with a mirror")
    browser = play()
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", {"source": HUB})["identifier"]
    second = "document.querySelectorAll('.tfs-pg-panel')[1]"
    press = lambda broken: browser.js(f"window.broken = {broken};"
                                      f"{second}.querySelector('button').click()")
    try:
        browser = play("#text=well&with=course,gpt2")
        assert browser.js("return window.asked") == []
        assert "Load about 1.4 MB from huggingface.co" in texts(browser, ".tfs-pg-panel")[1]
        press("true")
        assert browser.until(f"{second}.innerText.includes('Try again')")
        press("false")
        assert browser.until(f"/1 token/.test({second}.innerText)")
        wanted = "https://huggingface.co/openai-community/gpt2/resolve/main/tokenizer.json"
        assert browser.js("return window.asked") == [wanted] * 2
    finally: browser.cdp("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})


MIRROR = """const real = window.fetch, file = "mirror/models/openai-community/gpt2/tokenizer.json";
    const own = url => String(url).startsWith("https://") ? file : url;
    window.fetch = (url, ...rest) => real(own(url), ...rest);"""
EACH = """const chips = document.querySelectorAll(".tfs-pg-panel:not(.is-course) [role=option]");
    return [...chips].map(chip => {
        chip.focus();
        return document.getElementById("tfs-pg-facts-of").innerText.replace(/\\s+/g, " ");
    })"""


@pytest.mark.mirror
@pytest.mark.skipif(not os.environ.get("TFS_MIRROR"), reason="TFS_MIRROR names no mirror")
def test_bytes_of_a_character_are_told(play):
    from tfs.pretrained import load_tokenizer
    browser = play()
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", {"source": MIRROR})["identifier"]
    try: browser = play("#text=" + quote("old కూప 👩") + "&with=gpt2")
    finally: browser.cdp("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
    browser.js("document.querySelector('.tfs-pg-message:not(:empty) button').click()")
    assert browser.until("document.querySelectorAll('#tfs-pg-panels [role=option]').length", 20)
    told, cut = browser.js(EACH), load_tokenizer("gpt2").encode("old కూప 👩")
    assert [int(re.search(r"Id (\d+)", one)[1]) for one in told] == cut.ids
    assert "Part of క U+0C15" in " ".join(told) and "Part of 👩 U+1F469" in " ".join(told)
    click(browser, "open")
    click(browser, "last")
    assert "No other pair" in texts(browser, "#tfs-pg-said")[0]


def test_without_scripts_it_says_what_is_missing(site, browser):
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.driver.get(f"{site}playground.html?plain")
        shot = b64decode(browser.cdp("Page.captureScreenshot", {})["data"])
    finally: browser.cdp("Emulation.setScriptExecutionDisabled", {"value": False})
    (ROOT/"work"/"screens").mkdir(parents=True, exist_ok=True)
    (ROOT/"work"/"screens"/"playground-without-scripts.png").write_bytes(shot)
    said = browser.js("return document.querySelector('#tfs-pg-static noscript p').textContent")
    assert "needs JavaScript" in said and not browser.complaints()
    assert "strawberries" in texts(browser, "#tfs-pg-static .tfs-chips")[0]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_barrier(play, npm, dark):
    script = (npm("axe-core", "^4.10")/"axe.min.js").read_text(encoding="utf-8")
    browser = play(dark=dark)
    typed(browser, "Unknown 井 <unk> and known")
    browser.js("document.querySelectorAll('#tfs-pg-panels [role=option]')[1].focus()")
    click(browser, "next")
    browser.js(script)
    run = "axe.run().then(r => arguments[0](r.violations), e => arguments[0](String(e)))"
    found = browser.driver.execute_async_script(run)
    serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    assert not [(rule["id"], n["html"][:200], n["failureSummary"])
                for rule in serious for n in rule["nodes"]]


TYPE = """const [text, from, done] = arguments, times = [];
    const box = document.getElementById("tfs-pg-text");
    const step = at => {
        if (at > text.length) return done(times);
        const start = performance.now();
        box.value = text.slice(0, at);
        box.dispatchEvent(new Event("input", {bubbles: true}));
        document.body.getBoundingClientRect();
        const work = performance.now() - start, channel = new MessageChannel();
        const painted = () => { times.push([work, performance.now() - start]); step(at + 1); };
        channel.port1.onmessage = painted;
        requestAnimationFrame(() => channel.port2.postMessage(0));
    };
    step(from)"""


@pytest.mark.parametrize("count", [1, 6])
def test_typing_is_quick(play, folder, count):
    "Each letter from the 1,900th to the 2,000th: cut, chips, figures and layout; then painted."
    browser = play()
    if count > 1:
        if not (folder/"playground"/"gpt2.json").exists(): pytest.skip("built without a mirror")
        browser.js("document.querySelectorAll('#tfs-pg-with input:not(:checked)')"
                   ".forEach(box => box.click())")
        cut = "[...document.querySelectorAll('.tfs-pg-count')].every(c => c.textContent)"
        assert browser.until(cut, 60)
    text = " ".join(sentences(80))[:2000]
    times = browser.driver.execute_async_script(TYPE, text, 1900)
    work, painted = map(median, zip(*times))
    print(f"\na letter near the 2,000th, {count} tokenizers: {work:.1f} ms of work, "
          f"painted after {painted:.1f} ms")
    assert len(text) == 2000 and work < 50 * count and painted < 100 * count


def test_the_registry_is_the_users(tmp_path):
    assert playground.registry({}, tmp_path) == "https://registry.npmjs.org"
    (tmp_path/".npmrc").write_text("registry = http://one.example/\nfund=false\n", encoding="utf-8")
    assert playground.registry({}, tmp_path) == "http://one.example"
    assert playground.registry({"NPM_CONFIG_REGISTRY": "http://two.example/npm/"}, tmp_path) == "http://two.example/npm"


def test_the_engine_comes_by_plain_http_where_there_is_no_npm(tmp_path, monkeypatch, site):
    kept = next(playground.KEPT.glob("huggingface-tokenizers-*.tgz"), None)
    if not kept: pytest.skip("the package is not kept on this machine")
    place = tmp_path/"@huggingface"/"tokenizers"/"-"
    place.mkdir(parents=True)
    name = kept.name.removeprefix("huggingface-")
    (place/name).write_bytes(kept.read_bytes())
    monkeypatch.setattr(playground.shutil, "which", lambda name: None)
    refused = lambda why: pytest.raises(playground.Missing, match=why)
    for address in served(tmp_path, Quiet):
        monkeypatch.setenv("npm_config_registry", address)
        assert "tokenizers.min.js" in playground.engine(tmp_path/"kept")
        (place/name).write_bytes(kept.read_bytes() + b"x")
        with refused("another file than the pinned one"): playground.engine(tmp_path/"other")
    with refused("the npm registry: "): playground.engine(tmp_path/"third")


def test_a_build_without_the_engine_says_so(tmp_path, monkeypatch, capsys):
    def missing(): raise playground.Missing("the npm registry: no answer")
    monkeypatch.setattr(playground, "engine", missing)
    small = BPE.train(["old well"], n_merges=5).to_hf().to_str()
    monkeypatch.setattr(playground, "course_tokenizer", lambda: small)
    (tmp_path/"playground.html").write_text(f"<main>{playground.PLACE}</main>", encoding="utf-8")
    playground.install(tmp_path)
    text = (tmp_path/"playground.html").read_text(encoding="utf-8")
    assert "not in this build" in text and "tfs-chips" in text and "<script" not in text
    assert "left out: the npm registry: no answer" in capsys.readouterr().out


def test_the_courses_tokenizer_is_the_same_in_each_build(folder, site):
    kept = (folder/"playground"/"course.json").read_text(encoding="utf-8")
    assert kept == playground.course_tokenizer()
