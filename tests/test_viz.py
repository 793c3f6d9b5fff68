"""What the notebooks can't test of the views: real fonts in a real browser, and other processes."""
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfs import svg, viz

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
LONG = "Исследовательница сказала, что вымоталась, и попросила всех наконец оставить её в покое."
WIDE = "ЩУКАЖЮШЩЫМ" * 9


def views():
    "Every kind of view, with longer and odder data than a lesson has."
    read = list(range(1, 60_001, 3_000))
    growth = {"English": (read, [9 * n ** .60 for n in read]),
              "Russian": (read, [9 * n ** .61 for n in read])}
    fits = {"English": (9, .6), "Russian": (9, .61)}
    sizes = [2000, 4000, 8000, 16_000, 32_000]
    close = {"English": [8.0, 7.9, 7.8, 7.7, 7.6], "Russian": [9.0, 8.6, 8.1, 7.8, 7.6]}
    params = [256 * size for size in sizes]
    models = ["GPT-2 (50k)", "GPT-4 (100k)", "Llama 3 (128k)", "DeepSeek-V3 (129k)", "GPT-4o"]
    costs = pd.DataFrame({"English": [7] * 5, "Russian": [46, 19, 14, 14, 11]}, index=models)
    pairs = [(f"Sentence number {i % 12}: {LONG[:i * 7]}", f"{i % 11} {LONG[i:]}")
             for i in range(14)]
    chain = {i: max(i - 1, 0) for i in range(12)}
    word = list("▁недопонимание")
    merged = ["▁", *"недопо", "ни", "м", "а", "ни", "е"]
    rows = [("start", [word, list(WIDE)]), ("н + и", [merged, list(WIDE)])]
    odd = ["<pad>", "$x$", "\u200d", "👩\u200d💻"]
    some = [(0, "<pad>"), (150_001, WIDE), (199_999, LONG)]
    times = {"simple trainer": 5321.0, "incremental": 41.2, "fast": .0062}
    parts = [("normalizer", LONG), ("model", WIDE), ("decoder", "x")]
    cells = pd.DataFrame({"text": [LONG, WIDE, "<unk>"], "n": [1, 2, 3]})
    title = "A title that is one sentence and long enough to be broken into lines"
    return {
        "chips": viz.token_chips([LONG.split(" "), [WIDE], odd], ids=[range(12), [1], range(4)],
                                 labels=["a", LONG, "<b>"], role="dec"),
        "counts": viz.plot_token_counts(costs, title),
        "growth": viz.plot_growth(growth, fits, title),
        "log": viz.plot_growth(growth, fits, title, log=True),
        "lines": viz.plot_lines(sizes, close, title, "vocabulary", "tokens", True, 16_000),
        "sweep": viz.plot_sweep(sizes, close, params, title, 16_000),
        "ladder": viz.plot_ladder(times, title),
        "stages": viz.draw_stages([("normalise", LONG, WIDE), ("model", "short", LONG)], title),
        "codepoints": viz.draw_codepoints(["й", "и\u0306", "ﷺ", odd[3], "\ud800"], title),
        "components": viz.draw_components(pairs, title, valid={0, 5}),
        "forest": viz.draw_forest([chain, dict.fromkeys(chain, 0)], [title, title]),
        "merges": viz.draw_merge_table(rows, title),
        "change": viz.draw_pair_change(word, merged, ("н", "и"), title),
        "wide": viz.draw_pair_change(list("ЩЩЩаЩЩ"), ["ЩЩ", *"ЩаЩЩ"], ("Щ", "Щ")),
        "steps": viz.draw_steps([word, merged], title),
        "pipeline": viz.draw_pipeline(parts, title=title),
        "embedding": viz.draw_embedding(200_000, 12_288, some, title),
        "table": viz.table(cells, title),
    }


SCRIPT = """
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
const middle = (a, b) => (a.left + a.right) / 2 > b.left && (a.left + a.right) / 2 < b.right
  && (a.top + a.bottom) / 2 > b.top && (a.top + a.bottom) / 2 < b.bottom;
const overlap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
  && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
const found = [];
const place = element => element.getBoundingClientRect();
document.querySelectorAll('[data-view] svg').forEach(svg => {
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, place(t)]);
  const boxes = [...svg.querySelectorAll('rect')].map(place);
  const frame = place(svg), name = svg.closest('[data-view]').dataset.view;
  texts.forEach(([a, p], i) => {
    if (!inside(p, frame) || p.top < frame.top - 2 || p.bottom > frame.bottom + 2)
      found.push([name, 'out of frame', a]);
    const around = boxes.filter(b => middle(p, b)).sort((x, y) => x.width - y.width)[0];
    if (around && !inside(p, around)) found.push([name, 'out of its box', a]);
    texts.slice(i + 1).forEach(([b, q]) => { if (overlap(p, q)) found.push([name, a, b]); });
  });
});
const sizes = [...document.querySelectorAll('svg text')]
  .map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a);
const wide = document.documentElement.scrollWidth;
parent.postMessage(JSON.stringify({found, wide, smallest: Math.min(...sizes)}), '*');
"""


FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
         "--disable-quic", "--disable-background-networking", "--disable-component-update",
         "--virtual-time-budget=4000", "--allow-file-access-from-files", "--dump-dom"]


def browse(folder, width):
    "Lay every view out at a page width; what overlaps, the page's scroll width, the smallest text."
    body = "".join(f'<div data-view="{name}">{view._repr_html_()}</div>'
                   for name, view in views().items())
    (folder / "inner.html").write_text(
        f'<!doctype html><meta charset="utf-8"><style>{viz.css()} body{{margin:0 16px}}</style>'
        f"{body}<script>{SCRIPT}</script>", encoding="utf-8")
    (folder / "outer.html").write_text(
        '<!doctype html><pre id="out"></pre>'
        '<script>onmessage = event => out.textContent = event.data</script>'
        f'<iframe src="inner.html" style="width:{width}px;height:900px;border:0"></iframe>',
        encoding="utf-8")
    dom = subprocess.run([CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}",
                          (folder / "outer.html").as_uri()],
                         capture_output=True, encoding="utf-8", timeout=120).stdout
    text = re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)[1]
    return json.loads(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium on the PATH")
@pytest.mark.parametrize("width", [360, 1280])
def test_texts_keep_apart(tmp_path, width):
    seen = browse(tmp_path, width)
    assert seen["found"] == []
    assert seen["wide"] <= width
    assert seen["smallest"] >= 8


def test_views_are_the_same_in_another_process(tmp_path):
    code = (f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
            "from hashlib import sha256\nfrom test_viz import views\n"
            "html = ''.join(view._repr_html_() for view in views().values())\n"
            "print(sha256(html.encode()).hexdigest())")
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in "12"}
    assert len(runs) == 1


def test_outputs_are_clean_and_whole(tmp_path):
    for name, view in views().items():
        html = view._repr_html_()
        assert "<script" not in html and "<style" not in html and "\n" not in html, name
        assert "&amp;amp;" not in html and view.alt and repr(view), name
        repr(view).encode(), html.encode()
        if name == "table": continue
        root = ET.fromstring(view.save(tmp_path / f"{name}.svg").read_text(encoding="utf-8"))
        assert root.get("aria-label") and "var(" not in ET.tostring(root, "unicode"), name
    assert not list(tmp_path.glob("*.tmp"))


def test_ids_differ_between_charts():
    ids = [i for view in views().values()
           for i in set(re.findall(r' id="([^"]+)"', view._repr_html_()))]
    assert len(ids) == len(set(ids))


@given(st.lists(st.text(st.characters()), max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_chips_are_total(pieces, mark_spaces):
    chips = viz.token_chips([pieces], ids=[range(len(pieces))], labels=["".join(pieces)],
                            mark_spaces=mark_spaces)
    chips._repr_html_().encode(), repr(chips).encode()
    ET.fromstring(chips.svg())
    ET.fromstring(viz.table({"a": pieces, "b": range(len(pieces))})._repr_html_())


@given(st.text(st.characters(), min_size=1))
@settings(max_examples=200, deadline=None)
def test_visible_names_everything(text):
    shown = svg.visible(text, mark_spaces=True)
    assert shown.isprintable() or any(ord(c) > 0x1F000 or c == "\u200d" for c in text)
    assert svg.visible(text) == svg.visible(svg.visible(text))


def test_wrapped_lines_fit_and_lose_nothing():
    lines = svg.wrap(LONG + " " + WIDE, 100)
    assert all(svg.text_width(line) <= 100 for line in lines)
    assert "".join(lines).replace(" ", "") == (LONG + WIDE).replace(" ", "")


def test_png_draws_without_warnings(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("sweep", "change", "forest"): views()[name].save(tmp_path / f"{name}.png")
