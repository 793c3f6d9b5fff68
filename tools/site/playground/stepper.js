// The merges of one word, forwards and backwards.
import {element, shownToken} from "./panel.js";
import {number} from "./shown.js";

const MOST = 40;
const get = name => document.getElementById(`tfs-pg-${name}`);

export class Stepper {
  constructor(changed) {
    const names = ["by", "word", "step", "spelling", "said", "merges", "first", "back", "next", "last"];
    Object.assign(this, Object.fromEntries(names.map(name => [name, get(name)])), {panels: [], steps: [], changed});
    const go = at => () => this.go(at(Number(this.step.value)));
    this.first.onclick = go(() => 0);
    this.back.onclick = go(at => at - 1);
    this.next.onclick = go(at => at + 1);
    this.last.onclick = go(() => Infinity);
    this.step.oninput = go(at => at);
    this.by.onchange = this.word.oninput = () => this.read();
  }

  // The tokenizers that can be asked.
  offer(panels) {
    const chosen = this.by.value;
    this.panels = panels;
    this.by.replaceChildren(...panels.map(p => new Option(p.name, p.key)));
    this.by.value = panels.some(p => p.key === chosen) ? chosen : panels[0]?.key ?? "";
  }

  open(key, word, step = 0) {
    if (this.panels.some(p => p.key === key)) this.by.value = key;
    this.word.value = word;
    this.read(step);
  }

  // Cut what stands in the box and begin with its letters.
  read(step = 0) {
    const panel = this.panels.find(p => p.key === this.by.value);
    if (!panel) return;
    const letters = Array.from(this.word.value.replaceAll("␣", " "));
    const found = panel.cutter.cut(letters.slice(0, MOST).join("")).find(token => token.word !== null);
    Object.assign(this, {cutter: panel.cutter, steps: found ? panel.cutter.steps(found.word) : [], isCut: letters.length > MOST});
    this.step.max = Math.max(this.steps.length - 1, 0);
    this.list();
    this.go(step);
  }

  piece(piece, word = piece) {
    const id = this.cutter.model.tokens_to_ids.get(piece) ?? this.cutter.model.unk_token_id;
    return shownToken(this.cutter, {piece, word, id});
  }

  merge({pieces, at, rank}, before) {
    const [a, b, ab] = [before[at], before[at + 1], pieces[at]].map(p => p && `\u2068${this.piece(p).text}\u2069`);
    return rank < 0 ? `the whole word ${ab} is in the vocabulary: no merge is asked` : `${a} + ${b} → ${ab}, merge ${number(rank + 1)}`;
  }

  list() {
    const lines = this.steps.slice(1).map((step, i) => element("li", {}, this.merge(step, this.steps[i].pieces)));
    this.merges.replaceChildren(...lines);
  }

  go(to) {
    const last = Math.max(this.steps.length - 1, 0), at = Math.min(Math.max(to, 0), last), step = this.steps[at];
    this.step.value = at;
    this.first.disabled = this.back.disabled = at === 0;
    this.next.disabled = this.last.disabled = at === last;
    this.step.disabled = last === 0;
    for (const [i, line] of [...this.merges.children].entries()) {
      if (i === at - 1) line.setAttribute("aria-current", "step"); else line.removeAttribute("aria-current");
    }
    this.draw(step, at, last);
    this.changed();
  }

  draw(step, at, last) {
    const next = this.steps[at + 1]?.at ?? -2;
    const chips = (step?.pieces ?? []).map((piece, i) => {
      const {text, isPart, isUnknown} = this.piece(piece), isNext = at < last && (i === next || i === next + 1);
      const marks = ["tfs-chip is-enc", isPart && "is-part", isUnknown && "is-unknown", i === step.at && "is-on", isNext && "is-next"];
      return element("span", {className: marks.filter(Boolean).join(" ")}, text);
    });
    this.spelling.replaceChildren(...chips);
    const pieces = chips.length === 1 ? "1 piece" : `${chips.length} pieces`;
    const how = !step ? "Nothing to merge." : at === 0 ? `${this.cutter.byteLevel ? "The bytes" : "The letters"} of the word: ${pieces}.`
      : `Step ${at} of ${last}: ${this.merge(step, this.steps[at - 1].pieces)}. ${pieces}.`;
    const done = step && at === last ? " No other pair of neighbours is in the list of merges." : "";
    this.said.textContent = how + done + (this.isCut ? ` Only the first ${MOST} letters are shown.` : "");
    this.step.setAttribute("aria-valuetext", this.said.textContent);
  }
}
