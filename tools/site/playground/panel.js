// One tokenizer's answer: a heading with the count, its chips, and the text that it saw.
import {bytesShown, characters, codePoint, number, shownBytes, visible} from "./shown.js";

const MOST = 3000, BLOCK = 150;
export const element = (tag, props = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) name in made ? made[name] = value : made.setAttribute(name, value);
  made.append(...children);
  return made;
};

export const shownToken = (cutter, token) => {
  const isSpecial = token.word === null, bytes = cutter.bytes(token.piece, isSpecial);
  const isUnknown = !isSpecial && token.id === cutter.model.unk_token_id;
  return {...shownBytes(bytes), bytes, isSpecial, isUnknown};
};

// The shown form of each token of a vocabulary is worked out once.
const shownOnce = (cutter, token) => {
  const key = (token.word === null ? "s" : "t") + token.piece;
  let shown = cutter.shown.get(key);
  if (!shown) cutter.shown.set(key, shown = shownToken(cutter, token));
  return shown;
};

export class Panel {
  constructor(name, key, isCourse) {
    const id = `tfs-pg-${key}`;
    this.count = element("span", {className: "tfs-pg-count"});
    this.chips = element("div", {className: "tfs-pg-chips", role: "listbox", "aria-labelledby": id, dir: "auto"});
    this.more = element("p", {className: "tfs-note", hidden: true});
    this.seen = element("p", {className: "tfs-note", dir: "auto"});
    this.message = element("div", {className: "tfs-pg-message"});
    const title = element("h3", {id}, name, " ", this.count);
    this.root = element("section", {className: `tfs-app tfs-pg-panel${isCourse ? " is-course" : ""}`, "aria-labelledby": id},
      title, this.message, this.chips, this.more, this.seen);
    Object.assign(this, {name, key, isCourse, cutter: null, tokens: [], drawn: []});
  }

  ready(file, Cutter) {
    this.cutter = Object.assign(new Cutter(file), {shown: new Map()});
    this.say();
  }

  say(...parts) { this.message.replaceChildren(...parts); }

  // Show the tokens of a text; blocks of chips without a change stay.
  show(text, lang) {
    const old = this.drawn, same = (a, b) => a.id === b.id && a.piece === b.piece;
    this.tokens = this.cutter.cut(text);
    const drawn = this.drawn = this.tokens.slice(0, MOST), shorter = Math.min(drawn.length, old.length);
    let head = 0, tail = 0;
    while (head < shorter && same(drawn[head], old[head])) head++;
    while (tail < shorter - head && same(drawn.at(-1 - tail), old.at(-1 - tail))) tail++;
    if (head < Math.max(drawn.length, old.length)) this.redraw(head, old.length - tail, drawn.length - old.length);
    this.finish(text, lang);
  }

  // Draw the blocks anew that hold the old chips from one place to another.
  redraw(from, to, added) {
    const blocks = [...this.chips.children];
    let first = 0, start = 0;
    while (first < blocks.length - 1 && start + blocks[first].childElementCount <= from) start += blocks[first++].childElementCount;
    let last = first, end = start;
    while (last < blocks.length && (end < to || last === first)) end += blocks[last++].childElementCount;
    for (const block of blocks.slice(first, last)) block.remove();
    const made = new DocumentFragment();
    for (let at = start; at < end + added;) made.append(this.block(at, end + added, size => { at += size; }));
    this.chips.insertBefore(made, blocks[last] ?? null);
  }

  // Chips up to the end of a line, or as many as a block holds: only blocks in sight cost layout.
  block(from, to, took) {
    const block = element("div", {role: "presentation", className: "tfs-pg-block"});
    let at = from, isLine = false;
    while (at < to && at - from < BLOCK && !isLine) {
      const chip = this.chip(this.drawn[at++]);
      isLine = chip.textContent.endsWith("⏎");
      block.append(chip);
    }
    block.style.containIntrinsicSize = `auto ${2.1 * Math.ceil((at - from) / 8)}em`;
    took(at - from);
    return block;
  }

  chip(token) {
    const {text, isPart, isSpecial, isUnknown} = shownOnce(this.cutter, token);
    const marks = ["tfs-chip", this.isCourse && "is-enc", isPart && "is-part", isSpecial && "is-special", isUnknown && "is-unknown"];
    const chip = element("span", {className: marks.filter(Boolean).join(" "), role: "option", tabIndex: -1, textContent: text});
    chip.setAttribute("aria-selected", "false");
    return chip;
  }

  finish(text, lang) {
    const hidden = this.tokens.length - this.drawn.length, seen = this.cutter.normalized(text).trim();
    const unknown = this.tokens.filter(t => t.word !== null && t.id === this.cutter.model.unk_token_id).length;
    this.count.textContent = `${number(this.tokens.length)} ${this.tokens.length === 1 ? "token" : "tokens"}`
      + (unknown ? `, ${number(unknown)} unknown` : "");
    this.more.hidden = !hidden;
    this.more.textContent = hidden ? `and ${number(hidden)} more that are counted and not drawn` : "";
    const start = seen.length > MOST ? `${seen.slice(0, MOST)} …` : seen;
    this.seen.textContent = seen === text.trim() ? "" : `Normalised first: ${start}`;
    this.chips.hidden = !this.tokens.length;
    this.chips.lang = lang;
    this.chips.classList.toggle("is-long", this.drawn.length > 3 * BLOCK);
    if (!this.entry?.isConnected) this.enter(this.all()[0]);
  }

  all() { return this.chips.getElementsByClassName("tfs-chip"); }

  // The chip that the Tab key leads to.
  enter(chip) {
    if (this.entry) this.entry.tabIndex = -1;
    if (chip) chip.tabIndex = 0;
    this.entry = chip;
  }

  // The characters that the bytes of a token belong to: a character is up to four tokens.
  around(at) {
    const near = this.drawn.slice(Math.max(at - 3, 0), at + 4), mine = this.drawn[at];
    const spans = near.map(token => shownOnce(this.cutter, token).bytes), index = near.indexOf(mine);
    const from = spans.slice(0, index).reduce((sum, s) => sum + s.length, 0), to = from + spans[index].length;
    let end = 0;
    return characters(Uint8Array.from(spans.flatMap(s => [...s]))).filter(part => {
      const start = end;
      end += typeof part === "string" ? new TextEncoder().encode(part).length : part.length;
      return typeof part === "string" && start < to && end > from && (start < from || end > to);
    });
  }

  describe(chip) {
    const at = Array.prototype.indexOf.call(this.all(), chip), token = this.drawn[at], shown = shownOnce(this.cutter, token);
    const rows = [["Token", shown.text], ["Id", String(token.id)],
      ["Bytes", `${bytesShown(shown.bytes.slice(0, 24))}${shown.bytes.length > 24 ? " …" : ""}`]];
    if (shown.codes.length) rows.push(["Code points", shown.codes.slice(0, 12).join(" ") + (shown.codes.length > 12 ? " …" : "")]);
    if (shown.isPart) rows.push(["Part of", this.around(at).map(c => `${visible(c)} ${codePoint(c)}`).join(" and ") || "no character"]);
    if (shown.isUnknown) rows.push(["Note", "not in the vocabulary, read as <unk>"]);
    if (shown.isSpecial) rows.push(["Note", "a special token, written out in the text"]);
    return {token, rows};
  }
}
