// Plays the figures that tfs.player makes: BPE merge by merge, and the best path through a lattice node by node.
// The steps of the lesson's own words were computed by the notebook and stand in the page; what a reader types is
// computed here, by the same rules. Where this script doesn't run, the figure stays as it is.
(function () {
  "use strict";

  // The algorithms, equal to merge_steps and lattice_steps of tfs.player

  const points = text => Array.from(text, c => c.codePointAt(0));

  function compare(a, b) {  // as Python compares strings: code point by code point
    const x = points(a), y = points(b), n = Math.min(x.length, y.length);
    for (let i = 0; i < n; i++) if (x[i] !== y[i]) return x[i] - y[i];
    return x.length - y.length;
  }

  function pairCounts(words, counts) {
    const found = new Map();
    words.forEach((word, w) => {
      for (let i = 0; i + 1 < word.length; i++) {
        const key = JSON.stringify([word[i], word[i + 1]]);
        const row = found.get(key) || [word[i], word[i + 1], 0];
        row[2] += counts[w];
        found.set(key, row);
      }
    });
    return [...found.values()];
  }

  function ordered(pairs, tie) {  // in the order in which the rule takes them
    const sign = tie === "least" ? 1 : -1;
    return pairs.sort((p, q) => q[2] - p[2] || sign * (compare(p[0], q[0]) || compare(p[1], q[1])));
  }

  function mergeWord(word, pair) {
    const merged = [];
    for (let i = 0; i < word.length; i++) {
      const both = word[i] === pair[0] && word[i + 1] === pair[1];
      merged.push(both ? pair[0] + pair[1] : word[i]);
      if (both) i++;
    }
    return merged;
  }

  function mergeSteps(words, counts, nMerges, tie = "greatest", top = 8) {
    const steps = [];
    for (;;) {
      const pairs = ordered(pairCounts(words, counts), tie);
      const next = steps.length < nMerges && pairs.length ? pairs[0].slice(0, 2) : null;
      steps.push({words, pairs: pairs.slice(0, top), next});
      if (!next) return steps;
      words = words.map(word => mergeWord(word, next));
    }
  }

  function latticeSteps(word, lengths, unknown = 100) {
    const letters = Array.from(word), best = [0], steps = [];
    for (let end = 1; end <= letters.length; end++) {
      const arcs = [];
      for (let start = 0; start < end; start++) {
        const piece = letters.slice(start, end).join(""), known = Object.hasOwn(lengths, piece);
        const length = known ? lengths[piece] : unknown;
        if (known || start === end - 1) arcs.push([start, piece, length, best[start] + length]);
      }
      const taken = arcs.reduce((a, b) => b[3] < a[3] ? b : a);
      best.push(taken[3]);
      steps.push({arcs, best: taken[3], start: taken[0]});
    }
    return steps;
  }

  function bestPath(word, steps) {
    const letters = Array.from(word), pieces = [];
    for (let end = letters.length; end; end = steps[end - 1].start)
      pieces.unshift(letters.slice(steps[end - 1].start, end).join(""));
    return pieces;
  }

  // Small helpers for the page

  const SVG = "http://www.w3.org/2000/svg";

  function fill(node, attrs, children) {
    for (const [name, value] of Object.entries(attrs)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value != null) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }
  const h = (tag, attrs = {}, ...children) => fill(document.createElement(tag), attrs, children);
  const s = (tag, attrs = {}, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);
  const button = (label, onclick, extra = {}) =>
    h("button", {type: "button", class: "tfs-button", onclick, ...extra}, label);
  const langOf = text => /[а-яё]/i.test(text) ? "ru" : /[a-z]/i.test(text) ? "en" : null;
  const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

  function tableOf(caption, heads, rows) {
    const cell = (tag, value, i, attrs = {}) =>
      h(tag, {class: heads[i].number && "is-number", ...attrs}, value);
    return h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...heads.map((head, i) => cell("th", head.name, i, {scope: "col"})))),
      h("tbody", {}, ...rows.map(({cells, mark}) =>
        h("tr", {class: mark && "is-next"}, ...cells.map((value, i) => cell("td", value, i))))));
  }

  // The controls that both players share: start, back, play, step, and a slider to jump

  function controls(box, name, draw) {
    let at = 0, last = 0, timer = null;
    const slider = h("input", {type: "range", min: 0, value: 0, "aria-label": name,
      oninput: () => { stop(); show(+slider.value); }});
    const count = h("output", {class: "tfs-note"});
    const start = button("⏮ Start", () => { stop(); show(0); });
    const back = button("◀ Back", () => { stop(); show(at - 1); });
    const step = button("Step ▶", () => { stop(); show(at + 1); }, {class: "tfs-button is-main"});
    const play = button("Play", () => {
      if (timer) return stop();
      if (at === last) show(0);
      play.textContent = "Pause";
      timer = setInterval(() => { show(at + 1); if (at === last) stop(); }, 1300);
    });
    function stop() {
      clearInterval(timer);
      timer = null;
      play.textContent = "Play";
    }
    function show(to) {
      at = Math.max(0, Math.min(last, to));
      const held = document.activeElement;
      draw(at);
      slider.value = at;
      slider.setAttribute("aria-valuetext", `${at} of ${last}`);
      count.textContent = `${at} of ${last}`;
      start.disabled = back.disabled = at === 0;
      step.disabled = at === last;
      if (held && held.disabled) (held === step ? back : step).focus();
    }
    box.addEventListener("keydown", e => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
      if (!step || e.altKey || e.ctrlKey || e.metaKey || e.target.matches("input")) return;
      e.preventDefault();
      stop();
      show(at + step);
    });
    return {
      bar: h("div", {class: "tfs-tools"}, start, back, play, step, slider, count),
      reset(n) { stop(); last = n; slider.max = n; show(0); },
    };
  }

  // Puts a player in the place of its figure; the figure can be had back, and is what a printer gets

  let number = 0;
  function stage(host, title, ...children) {
    const figure = host.querySelector(".tfs-figure"), id = `tfs-play-${++number}`;
    const whole = button("Show all steps in one figure", () => {
      const open = host.classList.toggle("is-whole");
      whole.setAttribute("aria-expanded", open);
      whole.textContent = open ? "Hide the figure" : "Show all steps in one figure";
    }, {"aria-expanded": "false"});
    const box = h("div", {class: "tfs-app", role: "group", "aria-labelledby": id},
      h("p", {id, class: "tfs-app-title"}, title), ...children, h("div", {class: "tfs-tools"}, whole));
    host.insertBefore(box, figure);
    host.classList.add("is-live");
    return box;
  }

  // BPE

  function merges(host, data) {
    const own = () => data.steps[0].words.map((word, i) => [word.join(""), data.counts[i]]);
    let corpus = own(), steps = data.steps;
    const status = h("p", {role: "status", class: "tfs-status"});
    const list = h("ul", {class: "tfs-words"}), side = h("div", {class: "tfs-side"});
    const help = h("p", {role: "alert", class: "tfs-note"});
    const player = h("div");
    const tools = controls(player, "Merge", draw);

    function chip(word, i, at) {
      const next = steps[at].next, made = at > 0 && steps[at - 1].next.join("");
      const joins = j => next && word[j] === next[0] && word[j + 1] === next[1];
      const names = ["tfs-chip", "is-dec", word[i] === made && "is-on", (joins(i) || joins(i - 1)) && "is-next"];
      return h("li", {class: names.filter(Boolean).join(" ")}, word[i]);
    }
    function row(word, w, at) {
      const [text, times] = corpus[w];
      const name = text.replace(/^▁/, "");
      return h("li", {},
        h("span", {class: "tfs-times"}, `${times} ×`),
        h("ul", {class: "tfs-chips-row", lang: langOf(text)}, ...word.map((_, i) => chip(word, i, at))),
        corpus.length > 1 && h("button", {type: "button", class: "tfs-remove", "aria-label": `Remove ${name}`,
          onclick: () => { corpus.splice(w, 1); train(); }}, "×") || "");
    }
    function said(at) {
      const size = steps[at].words.reduce((sum, word, w) => sum + word.length * corpus[w][1], 0);
      const done = at ? `Merge ${at}: ${steps[at - 1].next.join(" + ")} became ${steps[at - 1].next.join("")}. ` : "";
      const next = steps[at].next;
      const then = next ? `Next: ${next.join(" + ")}, which stand together ${plural(steps[at].pairs[0][2], "time")}.`
        : steps[at].pairs.length ? "The run ends here." : "No pair is left.";
      return `${done}The corpus has ${plural(size, "symbol")}. ${then}`;
    }
    function draw(at) {
      status.textContent = said(at);
      list.replaceChildren(...steps[at].words.map((word, w) => row(word, w, at)));
      const heads = [{name: "pair"}, {name: "times", number: true}, {name: ""}];
      const rows = steps[at].pairs.map(([a, b, n], i) => {
        const mark = i === 0 && steps[at].next;
        return {mark, cells: [`${a} + ${b}`, n.toLocaleString("en"), mark ? "◀ next" : ""]};
      });
      side.replaceChildren(tableOf("The most frequent pairs now", heads, rows));
    }
    function train() {
      steps = mergeSteps(corpus.map(([text]) => Array.from(text)), corpus.map(([, n]) => n), 12, data.tie);
      tools.reset(steps.length - 1);
    }
    function add(event) {
      event.preventDefault();
      const found = word.value.normalize("NFKC").split(/\s+/).filter(Boolean).map(w => `▁${w}`);
      const long = found.find(w => points(w).length > 40);
      if (long || corpus.length + found.length > 8) {
        help.textContent = long ? "A word has 39 letters at most here." : "Eight words at most: remove one first.";
        return;
      }
      help.textContent = "";
      for (const text of found) {
        const known = corpus.find(([other]) => other === text), n = Math.max(1, Math.min(999, +times.value || 1));
        if (known) known[1] = Math.min(999, known[1] + n); else corpus.push([text, n]);
      }
      word.value = "";
      if (found.length) train();
    }
    const word = h("input", {type: "text", size: 14, autocapitalize: "none", autocomplete: "off", spellcheck: "false"});
    const times = h("input", {type: "number", min: 1, max: 999, value: 4});
    const form = h("form", {class: "tfs-tools", onsubmit: add},
      h("label", {class: "tfs-field"}, "A word of yours", word), h("label", {class: "tfs-field"}, "times", times),
      h("button", {type: "submit", class: "tfs-button"}, "Add and train again"),
      button("The lesson's words", () => {
        corpus = own(); steps = data.steps; help.textContent = ""; tools.reset(steps.length - 1);
      }));
    player.append(tools.bar, status, h("div", {class: "tfs-split"}, list, side), form, help);
    stage(host, "Watch it merge", player);
    tools.reset(steps.length - 1);
  }

  // A lattice

  function levelsOf(arcs) {  // so that no two arcs on one level overlap; as in tfs.draw
    const levels = [];
    const order = [...arcs].sort((p, q) => (p.end - p.start) - (q.end - q.start) || p.start - q.start);
    for (const arc of order) {
      let level = levels.findIndex(row => row.every(o => arc.end <= o.start || o.end <= arc.start));
      if (level < 0) level = levels.push([]) - 1;
      levels[level].push(arc);
      arc.level = level;
    }
    return levels.length;
  }

  function lattice(host, data) {
    let word = data.word, steps = data.steps, arcs = [], depth = 0;
    const drawing = h("div", {class: "tfs-drawing"}), side = h("div");
    const status = h("p", {role: "status", class: "tfs-status"});
    const player = h("div"), help = h("p", {role: "alert", class: "tfs-note"});
    const tools = controls(player, "Node", draw);
    const fixed = x => x.toFixed(1);

    function seat(arc, x, a, b, wide) {  // as central as can be without covering a leg of a higher arc; as in tfs.draw
      const above = arcs.filter(other => other.level > arc.level), inside = node => arc.start < node && node < arc.end;
      const legs = above.flatMap(({start, end}) => [[start, 10], [end, -10]])
        .filter(([node]) => inside(node)).map(([node, aside]) => x(node) + aside);
      const edges = [a - 6, ...legs.sort((p, q) => p - q), b + 6], middle = (a + b) / 2;
      const rooms = edges.slice(1).map((edge, i) => [edges[i] + 8 + wide / 2, edge - 8 - wide / 2]);
      const seats = rooms.filter(([low, high]) => low <= high).map(([low, high]) => Math.min(Math.max(middle, low), high));
      return seats.length ? seats.reduce((p, q) => Math.abs(q - middle) < Math.abs(p - middle) ? q : p) : middle;
    }
    function arcShape(arc, x, floor, look, letter) {
      const a = x(arc.start) + 7, b = x(arc.end) - 7, y = floor - 28 - 34 * arc.level;
      const text = `${arc.piece} ${fixed(arc.length)}`;
      const wide = Math.min(b - a + 6, letter * Array.from(text).length + 8), middle = seat(arc, x, a, b, wide);
      return s("g", {class: `tfs-arc ${look}`},
        s("path", {d: `M${a} ${floor}L${a + 6} ${y}L${b - 6} ${y}L${b} ${floor}`}),
        s("rect", {x: middle - wide / 2, y: y - 10, width: wide, height: 20, rx: 4}),
        s("text", {x: middle, y: y + 4}, text));
    }
    function picture(at) {
      const letters = Array.from(word), n = letters.length;
      const gap = Math.min(104, Math.max(44, (drawing.clientWidth - 34) / n)), tight = gap < 64;
      const x = i => 16 + gap * i, floor = 20 + 34 * depth, over = at > n;
      const path = new Set();
      if (over) for (let end = n; end; end = steps[end - 1].start) path.add(`${steps[end - 1].start} ${end}`);
      const look = arc => {
        if (over) return path.has(`${arc.start} ${arc.end}`) ? "is-best" : "";
        if (arc.end > at) return "is-ahead";
        if (arc.start === steps[arc.end - 1].start) return "is-best";
        return arc.end === at ? "is-losing" : "";
      };
      const node = i => s("g", {class: `tfs-node${i === at ? " is-here" : ""}`},
        s("circle", {cx: x(i), cy: floor, r: i === at ? 8 : 6}),
        i <= at ? s("text", {x: x(i), y: floor + 44}, i ? fixed(steps[i - 1].best) : "0") : "");
      const sorted = [...arcs].sort((p, q) => q.level - p.level);
      return s("svg", {viewBox: `0 0 ${gap * n + 32} ${floor + 54}`, width: gap * n + 32,
        class: tight && "is-tight", "aria-hidden": "true"},
        ...sorted.map(arc => arcShape(arc, x, floor, look(arc), tight ? 6.6 : 8.4)),
        ...letters.map((c, i) => s("text", {x: x(i + .5), y: floor + 22, class: "tfs-letter"}, c)),
        ...Array.from({length: n + 1}, (_, i) => node(i)));
    }
    function said(at) {
      const n = steps.length, path = bestPath(word, steps);
      if (at === 0) return `At the first node the way has no length yet. Still to come: ${plural(n, "node")}.`;
      if (at > n) return `Read back from the last node: ${path.join(" + ")}, length ${fixed(steps[n - 1].best)}.`;
      const {arcs: rows, start, best} = steps[at - 1], letters = Array.from(word);
      const way = bestPath(letters.slice(0, at).join(""), steps);
      const how = rows.length === 1 ? "One arc ends" : `${plural(rows.length, "arc")} end`;
      return `Node ${at}, after ${letters.slice(0, at).join("")}. ${how} here. ` +
        `The best comes from node ${start}: ${way.join(" + ")}, length ${fixed(best)}.`;
    }
    function draw(at) {
      const n = steps.length;
      status.textContent = said(at);
      drawing.replaceChildren(picture(at));
      const wide = drawing.scrollWidth > drawing.clientWidth;
      if (wide) drawing.tabIndex = 0; else drawing.removeAttribute("tabindex");
      if (at === 0 || at > n) return side.replaceChildren();
      const heads = [{name: "from"}, {name: "arc"}, {name: "way + arc", number: true}, {name: "together", number: true},
        {name: ""}];
      const before = start => start ? steps[start - 1].best : 0;
      const rows = steps[at - 1].arcs.map(([start, piece, length, total]) => {
        const mark = start === steps[at - 1].start;
        return {mark, cells: [`node ${start}`, piece, `${fixed(before(start))} + ${fixed(length)}`, fixed(total),
          mark ? "◀ shortest" : ""]};
      });
      side.replaceChildren(tableOf(`The arcs that end in node ${at}`, heads, rows));
    }
    function load(text, found) {
      word = text;
      steps = found;
      arcs = steps.flatMap((step, i) => step.arcs.map(([start, piece, length]) => ({start, end: i + 1, piece, length})));
      depth = levelsOf(arcs);
      tools.reset(steps.length + 1);
    }
    function cut(event) {
      event.preventDefault();
      const text = input.value.normalize("NFKC").replace(/\s+/g, "").toLowerCase(), size = points(text).length;
      help.textContent = size > 14 ? "A word has 14 letters at most here." : "";
      if (size && size <= 14) load(text, latticeSteps(text, data.lengths));
    }
    const input = h("input", {type: "text", size: 14, autocapitalize: "none", autocomplete: "off", spellcheck: "false"});
    const form = h("form", {class: "tfs-tools", onsubmit: cut},
      h("label", {class: "tfs-field"}, "Another word", input),
      h("button", {type: "submit", class: "tfs-button"}, "Find its path"),
      button("The lesson's word", () => { help.textContent = ""; load(data.word, data.steps); }));
    player.append(tools.bar, status, drawing, side, form,
      h("p", {class: "tfs-note"}, "A letter that no piece covers gets an arc of length 100."), help);
    stage(host, "Watch it find the path", player);
    load(word, steps);
  }

  const kinds = {merges, lattice};
  window.tfsPlayer = {mergeSteps, latticeSteps, bestPath};
  for (const host of document.querySelectorAll(".tfs-play")) {
    const data = host.querySelector("script[type='application/json']");
    if (data && kinds[host.dataset.kind]) kinds[host.dataset.kind](host, JSON.parse(data.textContent));
  }
})();
