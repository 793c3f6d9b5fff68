"""What is done to a built site, whichever engine built it.

Nothing foreign is loaded, formulas are MathML, icons are silent, every page says what it is, and
lessons carry their links.
"""
import html
import posixpath
import re
import shutil
import sys
from textwrap import fill

from project import FACTS, blob, colab, kaggle, site

LOADS = re.compile(r"<script\b[^>]*\bsrc=[\"'](?:https?:)?//[^>]*>\s*</script>"
                   r"|<link\b(?=[^>]*\bhref=[\"'](?:https?:)?//)[^>]*>"
                   r"|<script\b[^>]*>\s*define\('jquery'[^<]*</script>", re.I)
IMPORTS = re.compile(r"@import\s+(?:url\()?\s*"
                     r"(?:\"(?:https?:)?//[^\"]*\"|'(?:https?:)?//[^']*'|(?:https?:)?//[^)]*)[^;]*;")
FORMULA = re.compile(r'<span class="math (inline|display)">\\[(\[](.*?)\\[)\]]</span>', re.S)
SKIP = '<a class="tfs-skip" href="#quarto-document-content">Skip to the text</a>'
MENDED = (('<mo stretchy="false">&#x0007C;</mo>',
           '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;</mo>'),
          ("<mi>log</mi>", '<mo lspace="0.167em" rspace="0.167em">log</mo>'))
SOLUTION = re.compile(r'<details class="code-fold">(\s*)<summary>(Solution \d+)(?:: ([^<]+))?'
                      "</summary>")
ICON = re.compile(r'<i class="(bi[^"]*)"(?: role="(?:img|button)")?(?: aria-label="[^"]*")?>')


def mathml(match):
    "A TeX formula as MathML, with the TeX as its spoken text."
    from latex2mathml.converter import convert
    tex = html.unescape(match[2]).strip()
    kind = "block" if match[1] == "display" else "inline"
    spoken = html.escape(tex, quote=True)
    known = re.sub(r"\\arg(?![a-z])", r"\\mathrm{arg}\\,", tex)
    formula = convert(known, display=kind).replace("<math ", f'<math alttext="{spoken}" ', 1)
    for plain, spaced in MENDED: formula = formula.replace(plain, spaced)
    return f'<span class="math {match[1]}">{formula}</span>'


def solution(match):
    "The fold of a solution, which hides the result as well; what it found is said inside."
    found = f"<p>{match[3][0].upper()}{match[3][1:]}.</p>" if match[3] else ""
    return (f'<details class="code-fold tfs-solution">{match[1]}<summary>{match[2]}</summary>'
            f"{match[1]}{found}")


def relative(place, page):
    "A link from one page of the site to another place in it."
    return posixpath.relpath(place or "index.html", posixpath.dirname(page) or ".")


def own_links(text, page, base):
    "Links to the published site become links within this copy of it, which works offline too."
    def link(match):
        path, tail = re.match(r"([^#?]*)(.*)", match[2]).groups()
        return f'{match[1]}="{relative(path, page)}{tail}"'
    return re.sub(rf'(href|src)="{re.escape(base)}([^"]*)"', link, text)


def picture(page):
    "The place of a page's card; pages of the library share the home page's."
    name = posixpath.basename(page)[:-5] if page.startswith("lessons/") else "index"
    return f"cards/{name}.png"


def described(text):
    "The title and the promise of a page, as plain text."
    title = re.search(r"<title>(.*?)</title>", text, re.S)[1].rsplit(" – ", 1)[0]
    found = re.search(r'<div class="description">(.*?)</div>', text, re.S)
    plain = re.sub(r"<[^>]+>", "", found[1]) if found else ""
    return html.unescape(title).strip(), " ".join(html.unescape(plain).split())


def head(text, page, cfg):
    "What search engines, messengers and browsers read about a page."
    title, promise = described(text)
    meta = {"og:title": title, "og:description": promise or cfg["description"],
            "og:type": "article", "og:url": site(cfg, page),
            "og:image": site(cfg, picture(page)), "og:image:alt": f"{title}: a row of tokens"}
    text = re.sub(r'<meta (?:property="og:|name="description)[^>]*>', "", text)
    tags = [f'<meta property="{k}" content="{html.escape(v)}">' for k, v in meta.items()]
    tags += [f'<meta name="description" content="{html.escape(meta["og:description"])}">',
             '<meta name="twitter:card" content="summary_large_image">',
             '<meta name="color-scheme" content="light dark">',
             f'<link rel="canonical" href="{meta["og:url"]}">',
             f'<link rel="icon" type="image/svg+xml" href="{relative("favicon.svg", page)}">']
    return text.replace("</title>", "</title>" + "".join(tags), 1)


def lesson_bar(page, cfg):
    "What a lesson takes and needs, and its links: run it, take it, read its source."
    place = f"nbs/{page[:-5]}.ipynb"
    name = posixpath.basename(place)
    links = [("Open in Colab", colab(cfg, place), ""), ("Open in Kaggle", kaggle(cfg, place), ""),
             ("Download notebook", name, f' download="tfs-{name}"'),
             ("Source", blob(cfg, place), ""),
             ("Summary to print", relative(f"summaries/{name[:-6]}.html", page), ""),
             ("All lessons", relative("index.html", page) + "#lessons", "")]
    items = "".join(f'<li><a href="{html.escape(h)}"{extra}>{t}</a></li>' for t, h, extra in links)
    time, needs = FACTS[name[:-6]]
    facts = "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>"
                    for k, v in (("Time", time), ("You need", needs)))
    return (f'<nav class="tfs-lesson-bar" aria-label="This lesson"><dl>{facts}</dl>'
            f"<ul>{items}</ul></nav>")


def glossary(text):
    "The terms of the glossary: each of its names, and the place of its entry."
    found = re.findall(r'<dt><span id="([^"]+)">(.*?)</span></dt>', text)
    return {html.unescape(name).lower(): place for place, names in found
            for name in names.split(", ")}


def link_terms(text, page, terms):
    "Words that a lesson defines in bold lead to their entry in the glossary."
    def link(match):
        word = html.unescape(match[1]).lower()
        place = terms.get(word) or terms.get(word.removesuffix("s"))
        if not place: return match[0]
        href = f"{relative('glossary.html', page)}#{place}"
        return f'<strong><a class="tfs-term" href="{href}">{match[1]}</a></strong>'
    return re.sub(r"<strong>([^<]+)</strong>(?!</a>)", link, text)


def finish_page(text, page, cfg, terms=()):
    "One page."
    text = LOADS.sub("", text)
    text = SOLUTION.sub(solution, FORMULA.sub(mathml, text))
    text = ICON.sub(r'<i class="\1" aria-hidden="true">', text)
    text = own_links(text, page, site(cfg))
    if page == "library.html": text = text.replace("/nbs/library.qmd", "/tools/project.py")
    text = re.sub(r"(<body[^>]*>)", rf"\1{SKIP}", text, count=1)
    if 'class="tfs-play"' in text:
        script = f'<script src="{relative("player.js", page)}" defer></script>'
        text = text.replace("</head>", script + "</head>", 1)
    if page.startswith("lessons/"):
        text = re.sub(r'(<header id="title-block-header".*?</header>)',
                      lambda m: m[1] + lesson_bar(page, cfg), text, count=1, flags=re.S)
        text = link_terms(text, page, dict(terms))
    return head(text, page, cfg)


def sitemap(pages, cfg):
    "The list of pages for search engines."
    rows = "".join(f"<url><loc>{site(cfg, page)}</loc></url>\n" for page in pages)
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n')


def llms(facts, cfg):
    "The list of pages for language models: titles, promises, and the notebooks behind lessons."
    rows = []
    for page, (title, promise) in facts.items():
        target = page[:-5] + ".ipynb" if page.startswith("lessons/") else page
        rows.append(f"- [{title}]({site(cfg, target)})" + (f": {promise}" if promise else ""))
    return f"# {cfg['title']}\n\n> {cfg['description']}\n\n## Pages\n\n" + "\n".join(rows) + "\n"


def card(path, title, promise):
    "The picture that a messenger shows beside a link: a title over a row of tokens."
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    fig = Figure(figsize=(12, 6.3), dpi=100, facecolor="#ffffff")
    canvas = FigureCanvasAgg(fig)
    text = dict(transform=fig.transFigure, family="DejaVu Sans", va="top", parse_math=False)
    fig.text(.06, .88, fill(title, 34), size=42, weight="bold", color="#111827", **text)
    fig.text(.06, .56, fill(promise, 56), size=25, color="#4b5563", **text)
    left = .06
    for i, piece in enumerate(("How", "␣language", "␣models", "␣read")):
        ink, paper = (("#0f766e", "#ccfbf1"), ("#be123c", "#ffe4e6"))[i % 2]
        chip = fig.text(left, .2, piece, size=34, color=ink, **text,
                        bbox=dict(boxstyle="round,pad=.35", facecolor=paper, edgecolor=ink))
        left = chip.get_window_extent(canvas.get_renderer()).x1/1200 + .04
    path.parent.mkdir(exist_ok=True)
    canvas.print_png(path, metadata={"Software": None})


def slim(folder):
    "Take out of the styles what is loaded from elsewhere, and the icons that no page uses."
    used = {name for path in folder.rglob("*") if path.suffix in (".html", ".js")
            for name in re.findall(r"\bbi-[\w-]+", path.read_text(encoding="utf-8"))}
    icon = lambda m: m[0] if m[1] in used else ""
    for path in folder.rglob("*.css"):
        style = IMPORTS.sub("", path.read_text(encoding="utf-8"))
        if path.name.startswith("bootstrap-icons"):
            style = re.sub(r"\.(bi-[\w-]+)::before\s*\{[^}]*\}\s*", icon, style)
        path.write_text(style, encoding="utf-8", newline="\n")


def finish(folder, cfg, sources):
    "Finish all pages below a folder and give their number; `sources`: place -> notebook."
    facts, entries = {}, folder/"glossary.html"
    terms = glossary(entries.read_text(encoding="utf-8")) if entries.exists() else {}
    for path in sorted(folder.rglob("*.html")):
        page = path.relative_to(folder).as_posix()
        if page.startswith("site_libs/"): continue
        try: text = finish_page(path.read_text(encoding="utf-8"), page, cfg, terms)
        except Exception as e: sys.exit(f"finish_site: {page}: {type(e).__name__}: {e}")
        path.write_text(text, encoding="utf-8", newline="\n")
        facts[page] = described(text)
    slim(folder)
    for place, path in sources.items():
        if place.parts[0] == "lessons": shutil.copy(path, folder/place)
    (folder/"sitemap.xml").write_text(sitemap(facts, cfg), encoding="utf-8", newline="\n")
    (folder/"llms.txt").write_text(llms(facts, cfg), encoding="utf-8", newline="\n")
    for name in ("favicon.svg", "player.js"): shutil.copy(folder.parent/name, folder)
    (folder/".nojekyll").touch()
    for page, (title, promise) in facts.items():
        if page == "index.html" or page.startswith("lessons/"):
            card(folder/picture(page), title, promise or cfg["description"])
    return len(facts)
