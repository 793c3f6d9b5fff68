// How pieces are shown: nothing invisible, bytes that are no whole character as numbers.
const NAMES = {0xA0: "NBSP", 0xAD: "SHY", 0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM",
  0x202F: "NNBSP", 0x2060: "WJ", 0xFEFF: "BOM"};
const MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍"};
const EMOJI = /(\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}\u{E0020}-\u{E007F}]*(?:\u200D\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}]*)*)/u;

export const hex = (number, digits = 2) => number.toString(16).toUpperCase().padStart(digits, "0");
export const codePoint = c => "U+" + hex(c.codePointAt(0), 4);
export const number = new Intl.NumberFormat("en").format;

const character = c => MARKS[c] ?? (/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(c) ? c : `⟨${NAMES[c.codePointAt(0)] ?? codePoint(c)}⟩`);

export const visible = text => {
  const shown = text.split(EMOJI).map((part, i) => i % 2 ? part : Array.from(part, character).join("")).join("");
  return (/^\p{M}/u.test(shown) ? "◌" : "") + shown || "∅";
};

// Whole characters of some bytes and, between them, arrays of bytes that are none.
export const characters = bytes => {
  const parts = [], decoder = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
  const take = (from, to) => { try { return decoder.decode(bytes.subarray(from, to)); } catch { return null; } };
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at], length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    const whole = at + length <= bytes.length ? take(at, at + length) : null;
    if (whole !== null) parts.push(whole);
    else if (Array.isArray(parts.at(-1))) parts.at(-1).push(byte);
    else parts.push([byte]);
    at += whole === null ? 1 : length;
  }
  return parts;
};

export const bytesShown = bytes => Array.from(bytes, byte => hex(byte)).join(" ");

// A piece as text, and whether it holds a part of a character.
export const shownBytes = bytes => {
  const parts = characters(bytes), isPart = parts.some(Array.isArray);
  const runs = parts.reduce((all, p) => typeof p === "string" && typeof all.at(-1) === "string"
    ? [...all.slice(0, -1), all.at(-1) + p] : [...all, p], []);
  return {text: runs.map(p => typeof p === "string" ? visible(p) : `⟨${bytesShown(p)}⟩`).join("") || "∅", isPart,
    codes: parts.filter(p => typeof p === "string").map(codePoint)};
};
