// The playground's page: text in, chips and figures out, state in the address.
import {Cutter} from "./engine.js";
import {pack, unpack} from "./link.js";
import {element, Panel} from "./panel.js";
import {number} from "./shown.js";
import {Stepper} from "./stepper.js";

const get = name => document.getElementById(`tfs-pg-${name}`);
const facts = JSON.parse(get("facts").textContent);
const text = get("text"), english = get("english"), example = get("example"), detail = get("detail");
const panels = facts.tokenizers.map(t => Object.assign(new Panel(t.name, t.key, !t.size), {place: t}));
const chosen = () => panels.filter(p => p.box.checked);
const working = () => chosen().filter(p => p.cutter);
const stepper = new Stepper(() => remember());
const LONG = 20_000;
let pinned = null, timer = 0, waiting = 0, isReady = false, isClosing = false;

// Figures, as in lesson 2: words are runs between whitespace, characters are code points.
const words = value => value.split(/[\p{White_Space}\x1c-\x1f]+/u).filter(Boolean).length;
const ratio = (a, b, unit = "") => b ? (a / b).toFixed(2) + unit : "–";
const megabytes = bytes => `${(bytes / 1e6).toFixed(1)} MB`;

const figures = (panel, value) => {
  const tokens = panel.tokens.length, reference = english.value.trim() ? panel.cutter.cut(english.value).length : 0;
  return [number(tokens), ratio(tokens, words(value)), ratio(Array.from(value).length, tokens), ratio(tokens, reference, "×")];
};

const update = () => {
  for (const panel of working()) {
    panel.show(text.value, text.lang);
    figures(panel, text.value).forEach((figure, i) => { panel.row.cells[i + 1].textContent = figure; });
  }
  remember();
};

// A long text waits for a pause in typing.
const soon = () => {
  clearTimeout(waiting);
  if (text.value.length + english.value.length > LONG) waiting = setTimeout(update, 300); else update();
};

// What is said and put into the address waits for a pause in typing.
const remember = () => {
  clearTimeout(timer);
  if (!isReady) return;
  timer = setTimeout(async () => {
    get("status").textContent = working().map(p => `${p.name}: ${p.count.textContent}`).join(", ");
    const fragment = await pack(state());
    if (fragment) history.replaceState(history.state, "", `#${fragment}`);
    get("share").disabled = !fragment;
    get("shared").textContent = fragment ? "" : "This text is too long for a link.";
  }, 400);
};

const state = () => ({text: text.value, ...(english.value && {english: english.value}), with: chosen().map(p => p.key).join(),
  ...(stepper.word.value && {word: stepper.word.value, by: stepper.by.value, step: stepper.step.value})});

const arrange = () => {
  for (const panel of panels) panel.root.hidden = panel.row.hidden = !panel.box.checked;
  stepper.offer(working().length ? working() : panels.filter(p => p.cutter));
};

// Loading: the course's tokenizer with the page, the others when they are asked for.
const fetched = async (panel, {url, size}) => {
  const answer = await fetch(url, {referrerPolicy: "no-referrer", credentials: "omit"});
  if (!answer.ok) throw new Error(`answer ${answer.status}`);
  const reader = answer.body.getReader(), parts = [];
  for (let got = 0;;) {
    const {done, value} = await reader.read();
    if (done) return JSON.parse(await new Blob(parts).text());
    parts.push(value);
    got += value.length;
    if (size) panel.say(element("p", {}, `Loading: ${megabytes(got)} so far`));
  }
};

const load = async panel => {
  const {host} = panel.place;
  if (panel.cutter || panel.isLoading) return;
  panel.isLoading = true;
  panel.say(element("p", {}, "Loading …"));
  try { panel.ready(await fetched(panel, panel.place), Cutter); }
  catch (e) { ask(panel, `It could not be loaded from ${host}: ${e.message}.`, "Try again"); }
  panel.isLoading = false;
  if (!panel.cutter) return;
  arrange();
  update();
  if (!stepper.steps.length) stepper.read();
};

const ask = (panel, why, label) => {
  const button = element("button", {type: "button", className: "tfs-button", onclick: () => load(panel)}, label);
  panel.say(element("p", {}, why), button);
};

const choose = panel => {
  const {host, size} = panel.place;
  arrange();
  if (!panel.box.checked || panel.cutter) return;
  ask(panel, "It was chosen in this link and is not loaded yet.", `Load about ${megabytes(size)} from ${host}`);
};

// What one chip is.
const explain = chip => {
  if (isClosing) return;
  const panel = panels.find(p => p.chips.contains(chip));
  const {token, rows} = panel.describe(chip);
  pinned?.setAttribute("aria-selected", "false");
  chip.setAttribute("aria-selected", "true");
  pinned = chip;
  const told = rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  get("facts-of").replaceChildren(...told);
  get("open").hidden = token.word === null;
  get("open").onclick = () => open(panel, token);
  detail.hidden = false;
};

const hide = () => {
  const isInside = detail.contains(document.activeElement);
  detail.hidden = isClosing = true;
  if (isInside) pinned.focus();
  isClosing = false;
};

const open = (panel, token) => {
  if (token.word === null) return;
  const bytes = panel.cutter.bytes(token.word, false);
  stepper.open(panel.key, new TextDecoder().decode(bytes).replace(/^ /, "␣"));
  get("merging").scrollIntoView({block: "start", behavior: "instant"});
  stepper.step.focus({preventScroll: true});
};

const moves = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity};
const pressed = event => {
  const chip = event.target.closest("[role=option]");
  if (!chip || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter") { event.preventDefault(); get("open").click(); }
  if (!(event.key in moves)) return;
  event.preventDefault();
  const isFlipped = /^Arrow(Left|Right)$/.test(event.key) && getComputedStyle(chip.parentNode).direction === "rtl";
  const all = chip.closest("[role=listbox]").getElementsByClassName("tfs-chip");
  const at = Array.prototype.indexOf.call(all, chip) + moves[event.key] * (isFlipped ? -1 : 1);
  all[Math.min(Math.max(at, 0), all.length - 1)].focus();
};

const listen = () => {
  const place = get("panels"), chipOf = event => event.target.closest?.("[role=option]");
  place.addEventListener("focusin", event => {
    const chip = chipOf(event);
    if (!chip) return;
    panels.find(p => p.chips.contains(chip)).enter(chip);
    explain(chip);
  });
  place.addEventListener("pointerover", event => { if (chipOf(event) && event.pointerType === "mouse") explain(chipOf(event)); });
  place.addEventListener("click", event => chipOf(event)?.focus());
  place.addEventListener("keydown", pressed);
  document.addEventListener("keydown", event => { if (event.key === "Escape" && !detail.hidden) hide(); });
  get("close").onclick = hide;
  text.addEventListener("input", () => { text.lang = ""; example.value = ""; soon(); });
  english.addEventListener("input", soon);
  example.onchange = () => { if (example.value) take(facts.examples[example.value]); };
  get("share").onclick = share;
  addEventListener("hashchange", restore);
};

const share = async () => {
  try { await navigator.clipboard.writeText(location.href); get("shared").textContent = "The link is copied."; }
  catch { get("shared").textContent = "Copy it from the address bar."; }
};

const take = given => {
  text.value = given.text;
  text.lang = given.lang ?? "";
  english.value = given.english ?? "";
  get("parallel").open ||= Boolean(given.english);
  update();
};

// The address says everything, or nothing that can be read.
const restore = async () => {
  let found = null;
  try { found = await unpack(location.hash.slice(1)); }
  catch { get("shared").textContent = "This link is damaged and changes nothing here."; }
  if (found && !("text" in found)) found = null;
  if (!found && isReady) return;
  const usual = {...facts.start, english: "", with: "course", by: "course", step: "0"};
  const {text, english, with: keys, word, by, step} = {...usual, ...found};
  const asked = keys.split(","), isKnown = !keys || panels.some(p => asked.includes(p.key));
  for (const panel of panels) panel.box.checked = isKnown ? asked.includes(panel.key) : !panel.place.size;
  for (const panel of panels) if (!panel.cutter && panel.place.size) choose(panel);
  arrange();
  take({text, english});
  stepper.open(by, word, Number(step) || 0);
};

const ticked = panel => {
  arrange();
  if (panel.box.checked) load(panel);
  update();
};

const build = () => {
  for (const panel of panels) {
    const {key, name, size, host} = panel.place, id = `tfs-pg-with-${key}`;
    panel.box = element("input", {type: "checkbox", id, checked: !size, onchange: () => ticked(panel)});
    const note = element("small", {}, size ? `about ${megabytes(size)} from ${host}` : "comes with the page");
    get("with").append(element("label", {htmlFor: id}, panel.box, " ", name, note));
    panel.row = element("tr", {}, element("th", {scope: "row"}, name), ...Array.from({length: 4}, () => element("td", {}, "–")));
    get("figures").append(panel.row);
    get("panels").append(panel.root);
  }
  for (const [key, given] of Object.entries(facts.examples)) example.append(new Option(given.name, key));
};

build();
listen();
await load(panels[0]);
await restore();
isReady = true;
get("static").remove();
get("app").hidden = false;
document.documentElement.dataset.tfsPlayground = "ready";
