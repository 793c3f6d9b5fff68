"""The players of the lessons: the script's steps equal Python's, and a reader can use them."""
import json
import random
from math import log

import pytest

from tfs.player import best_path, lattice_steps, merge_steps

CORPORA = {   # word: count
    "lesson 1": {"▁понимание": 5, "▁недопонимание": 3, "▁понимать": 4},
    "lesson 3": {"sing": 6, "singer": 3, "sings": 4, "ring": 5, "rings": 2, "song": 3},
    "a symbol that meets itself": {"аааа": 3, "ааа": 2, "аба": 1, "а": 9},
    "code points above 65,535": {"\U0001f642\uffef\U0001f642": 2, "\uffef\U0001f642x": 2, "xy": 2},
    "marks, quotes and joiners": {"ни\u0306ни\u0306": 2, '"<\\">': 2, "a\u200db\u0000": 2},
    "nothing to merge": {"a": 1, "b": 2}}


def drawn(seed):
    "A corpus of few letters, in which pairs tie and overlap."
    rng = random.Random(seed)
    words = {"".join(rng.choices("abаб\U0001f600", k=rng.randint(1, 9))) for _ in range(6)}
    return {word: rng.randint(1, 4) for word in sorted(words)}


ALL = CORPORA | {f"random {seed}": drawn(seed) for seed in range(20)}


@pytest.fixture
def page(server, browser):
    "Lesson pages that have a player, opened by name."
    def opened(name, **options):
        browser.open(f"{server}{name}", **options)
        assert browser.until("!!window.tfsPlayer && !!document.querySelector('.tfs-play.is-live')")
        return browser
    return opened


def test_the_script_trains_as_python_does(page):
    js = page("api/player.html").js
    for name, corpus in ALL.items():
        for tie in ("greatest", "least"):
            ours = merge_steps({tuple(word): n for word, n in corpus.items()}, 12, tie)
            call = "return JSON.stringify(tfsPlayer.mergeSteps(...arguments))"
            letters = [list(word) for word in corpus]
            theirs = js(call, letters, list(corpus.values()), 12, tie)
            assert json.loads(theirs) == ours, (name, tie)


def test_the_script_finds_the_path_that_python_finds(page):
    js = page("api/player.html").js
    pieces = ["s", "i", "n", "g", "e", "r", "ing", "sing", "singe", "er", "ring", "\U0001f642s"]
    lengths = {piece: -log(1/(i + 3)) for i, piece in enumerate(pieces)}
    lengths |= {"eq": 3.0, "e": 1.5, "q": 1.5}   # a tie
    for word in ["singer", "singers", "gingersnr", "é\U0001f642si", "eqeq", "__proto__", "x"]:
        steps = lattice_steps(word, lengths)
        call = ("const s = tfsPlayer.latticeSteps(arguments[0], arguments[1]);"
                "return JSON.stringify([s, tfsPlayer.bestPath(arguments[0], s)])")
        assert json.loads(js(call, word, lengths)) == [steps, best_path(word, steps)], word


HELPERS = """
window.box = document.querySelectorAll('.tfs-play')[arguments[0]];
window.buttons = () => [...box.querySelectorAll('button')];
window.press = name => buttons().find(b => b.textContent === name).click();
window.said = () => box.querySelector('[role=status]').textContent;
window.shown = () => [...box.querySelectorAll('.tfs-words > li > ul')]
    .map(row => [...row.children].map(chip => chip.textContent).join(' '));
window.write = (place, text) => {
    const field = box.querySelector(`input[type=${place}]`);
    field.value = text;
    field.dispatchEvent(new Event('input', {bubbles: true}));
};"""


def test_a_reader_watches_the_merges(page):
    opened = page("api/player.html")
    js = opened.js
    js(HELPERS, 0)
    assert "Next: н + и, which stand together 20 times" in js("return said()")
    assert js("press('Step ▶'); return shown()[0]") == "▁ п о ни м а ни е"
    js("write('range', 6)")
    assert js("return shown()") == ["▁понима ни е", "▁ н е д о понима ни е", "▁понима т ь"]
    idle = js("return buttons().filter(b => b.disabled).map(b => b.textContent)")
    assert idle == ["Step ▶"]
    js("press('◀ Back'); press('⏮ Start')")
    assert js("return box.querySelector('output').textContent") == "0 of 6"
    js("press('Play')")
    assert opened.until("box.querySelector('output').textContent === '1 of 6'")
    js("press('Pause')")


def test_a_reader_trains_on_a_word_of_their_own(page):
    js = page("api/player.html").js
    js(HELPERS, 0)
    js("write('text', 'понимаю'); write('number', 9); press('Add and train again')")
    js("write('range', 99)")
    words = {"▁понимание": 5, "▁недопонимание": 3, "▁понимать": 4, "▁понимаю": 9}
    steps = merge_steps({tuple(word): n for word, n in words.items()}, 12)
    assert js("return shown()") == [" ".join(word) for word in steps[-1]["words"]]
    assert js("press('The lesson\\'s words'); return shown().length") == 3
    js("write('text', '<b>x</b>'); press('Add and train again')")
    assert js("return shown()[3]") == " ".join("▁<b>x</b>")
    js("write('text', 'a '.repeat(9)); press('Add and train again')")
    assert "remove one first" in js("return box.querySelector('[role=alert]').textContent")


def test_a_reader_watches_the_best_path(page):
    js = page("api/player.html").js
    js(HELPERS, 1)
    js("write('range', 4)")
    assert "The best comes from node 0: sing, length 2.1" in js("return said()")
    js("write('range', 7)")
    assert "sing + er, length 4.4" in js("return said()")
    js("write('text', 'RINGS!'); press('Find its path'); write('range', 99)")
    assert "ring + s + !, length 106.9" in js("return said()")


def test_keys_step_and_what_is_focused_stays(page):
    from selenium.webdriver.common.keys import Keys
    opened = page("api/player.html")
    js = opened.js
    js(HELPERS, 0)
    js("buttons().find(b => b.textContent === 'Step ▶').focus()")
    for _ in range(7): opened.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert js("return box.querySelector('output').textContent") == "6 of 6"
    assert js("return document.activeElement.textContent") == "◀ Back"
    opened.driver.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert js("return box.querySelector('output').textContent") == "5 of 6"


def test_the_figure_stands_there_without_the_script(server, browser, page):
    figures = "[...document.querySelectorAll('.tfs-play > .tfs-figure')]"
    seen = f"{figures}.map(f => f.getBoundingClientRect().height > 100)"
    opened = page("api/player.html")
    assert opened.js(f"return {seen}") == [False, False]
    opened.cdp("Emulation.setEmulatedMedia", {"media": "print"})
    assert opened.js(f"return {seen}") == [True, True]
    opened.cdp("Emulation.setEmulatedMedia", {"media": ""})
    browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(f"{server}api/player.html")
        top = browser.cdp("DOM.getDocument", {})["root"]["nodeId"]
        asked = {"nodeId": top, "selector": ".tfs-play > .tfs-figure"}
        found = browser.cdp("DOM.querySelectorAll", asked)
        heights = [browser.cdp("DOM.getBoxModel", {"nodeId": n})["model"]["height"]
                   for n in found["nodeIds"]]
    finally: browser.cdp("Emulation.setScriptExecutionDisabled", {"value": False})
    assert len(heights) == 2 and min(heights) > 100
