"""Write README.md from nbs/index.ipynb; `--check` compares and changes nothing.

What a reader of GitHub can't follow is mended: a link to a notebook goes to its page on the site, a
link into the repository becomes a relative one.
"""
import json
import re
import sys

from project import NBS, ROOT, blob, settings, site

HIDE = re.compile(r"^#\|\s*(?:hide\b|output:\s*false|include:\s*false)", re.M)


def output(out):
    "What GitHub can show of an output: Markdown, or text in a fence."
    data = out.get("data", {})
    if "text/markdown" in data: return "".join(data["text/markdown"])
    text = "".join(out.get("text") or data.get("text/plain", ""))
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join(["```text", *lines, "```"]) if lines else ""


def cell_text(cell):
    "A cell as Markdown; code only where the cell shows it."
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown": return re.sub(r"^:::.*\n?", "", source, flags=re.M).strip()
    if HIDE.search(source): return ""
    code = re.sub(r"^#\|.*\n?", "", source, flags=re.M).strip()
    silent = re.search(r"^#\|\s*echo:\s*false", source, re.M)
    shown = "" if silent else f"```python\n{code}\n```"
    return "\n\n".join(filter(None, [shown, *map(output, cell["outputs"])]))


def links(text, cfg):
    "The links of the home page, for a reader of the repository."
    page = r"\]\((?!https?:|#)([^)#]+)\.(?:ipynb|qmd)"
    text = re.sub(page, lambda m: f"]({site(cfg, m[1])}.html", text)
    return text.replace(f"]({blob(cfg, '')}", "](")


def readme():
    "The text of README.md."
    cfg = settings()
    nb = json.loads((NBS/"index.ipynb").read_text(encoding="utf-8"))
    parts = [text for cell in nb["cells"] if (text := links(cell_text(cell), cfg))]
    read = (f"**[Read the course]({site(cfg)})** · [Changes](CHANGELOG.md) · "
            "[Contribute](CONTRIBUTING.md)")
    note = "<!-- Written by `make nbs` from nbs/index.ipynb; change that. -->"
    return "\n\n".join([note, parts[0], read, *parts[1:]]) + "\n"


def main():
    "The command line."
    path, text = ROOT/"README.md", readme()
    if "--check" not in sys.argv: path.write_text(text, encoding="utf-8", newline="\n")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        sys.exit("README.md is not what nbs/index.ipynb gives: run `make nbs`")


if __name__ == "__main__": main()
