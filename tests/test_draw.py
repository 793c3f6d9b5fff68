"""Lesson 3's drawings in a real browser, with longer and odder data than the lesson has."""
import xml.etree.ElementTree as ET

import pytest
import test_viz

from tfs import draw, viz
from tfs.batch import Cell

WIDE, ODD = "ЩУКАЖЮШЩЫМ", ["<pad>", "$x$", "\u200d", "\ud800"]
TITLE = "A title that is one sentence and long enough to be broken into two lines"


def views():
    "Every drawing of `tfs.draw`."
    lengths = [9_104, 8_081, 6_061, 48]
    orders = {name: [((WIDE, "##" + WIDE), "123,456 times"), (("<b>", "$"), "")]
              for name in ("BPE", TITLE)}
    arcs = {WIDE[i:j]: 1.5 * (j - i) for i in range(10) for j in range(i + 1, 11)}
    small = {p: 3.0 for p in ["a", "b", "c", "ab", "bc", "abc"]}
    cells = [Cell(t, 10 ** i, attention=i % 2, special=i // 2)
             for i, t in enumerate([*ODD, WIDE, WIDE])]
    return {"shrink": draw.draw_shrinking(lengths, [1_023, 2_020, 6_013], [WIDE, "<b>", "ng"],
                                          TITLE),
            "firsts": draw.draw_first_merges(orders, TITLE),
            "lattice": draw.draw_lattice(WIDE, arcs, [WIDE[:4], WIDE[4:]], [*WIDE[:3], WIDE[3:]],
                                         TITLE),
            "small": draw.draw_lattice("abc", small, ["abc"], ["a", "bc"]),
            "batch": draw.draw_batch([WIDE * 9, "<b>"], [cells, cells[:2]], TITLE)}


@pytest.mark.skipif(not test_viz.CHROMIUM, reason="needs Chromium on the PATH")
@pytest.mark.parametrize("width", [360, 1280])
def test_texts_keep_apart(tmp_path, width, monkeypatch):
    monkeypatch.setattr(test_viz, "views", views)
    seen = test_viz.browse(tmp_path, width)
    assert seen["found"] == [] and seen["wide"] <= width and seen["smallest"] >= 8


def test_outputs_are_clean_and_whole(tmp_path):
    for name, view in views().items():
        html = view._repr_html_()
        assert "<script" not in html and "<b>" not in html and view.alt and repr(view), name
        repr(view).encode(), html.encode()
        root = ET.fromstring(view.save(tmp_path / f"{name}.svg").read_text(encoding="utf-8"))
        assert root.get("aria-label"), name
        view.save(tmp_path / f"{name}.png")


def test_levels_keep_arcs_apart():
    at = draw._levels([(a, b) for a in range(5) for b in range(a + 1, 6)])
    for (a, b), level in at.items():
        assert not [1 for (c, d), other in at.items() if other == level and (a, b) < (c, d)
                    and c < b]


def test_styles_are_those_of_the_course():
    assert set(viz.PALETTE["light"]) >= {c for look in draw._LOOKS.values() for c in look[:3]}


def test_a_label_keeps_clear_of_the_legs_of_other_arcs():
    assert draw._seat(0, 100, 20, []) == 50
    assert draw._seat(0, 100, 20, [50]) == 32
    assert draw._seat(0, 100, 20, [40, 60]) in (22, 78)
    assert draw._seat(0, 100, 90, [50]) == 50   # no room: in the middle, above the legs
    lengths = dict.fromkeys(["s", "i", "n", "g", "e", "r", "ing", "sing", "singe", "er"], 2.0)
    shapes = draw.draw_lattice("singer", lengths, ["sing", "er"]).panels[0].shapes
    leg = next(s for s in shapes if isinstance(s, draw.Path) and s.points[0][0] < 30
               and s.points[-1][0] > 300).points[-2:]
    label = next(s for s in shapes if isinstance(s, draw.Text) and s.text == "er 2.0")
    assert label.x - 24 > max(x for x, _ in leg)


def test_boxes_cover_the_lines_behind_them_in_png_too():
    fig = draw.draw_lattice("ab", {"a": 1.0, "b": 1.0, "ab": 1.5}, ["ab"]).panels[0].mpl()
    drawn = sorted(fig.axes[0].lines + fig.axes[0].patches, key=lambda a: a.get_zorder())
    assert drawn[0] is fig.axes[0].lines[0] and drawn[-1] in fig.axes[0].patches
