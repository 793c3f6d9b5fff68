// What the page asks of a tokenizer: ids with the piece and the word behind each, normalised text, merges.
// The engine is @huggingface/tokenizers; where it differs from the Rust library, it is mended here.
import {Tokenizer} from "./tokenizers.min.js";

const GPT2_WORDS = new RegExp(["'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\p{White_Space}\\p{L}\\p{N}]+",
  "\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+"].join("|"), "gu");
const EDGES = {left: /^\p{White_Space}+/u, right: /\p{White_Space}+$/u};

// The Rust library's tables are those of Unicode 11: it leaves alone what has a compatibility form since then.
const NEWER = new RegExp("([\\u32FF\\uA7F1-\\uA7F4\\uAB69\\u{10781}-\\u{10785}\\u{10787}-\\u{107B0}\\u{107B2}-\\u{107BA}"
  + "\\u{1CCD6}-\\u{1CCF9}\\u{1E030}-\\u{1E06D}\\u{1F16C}\\u{1FBF0}-\\u{1FBF9}])", "u");
// JavaScript's \s and trim() take U+FEFF for a space and U+0085 for none; Rust has it the other way round.
const normalizers = {
  NFKC: () => text => text.split(NEWER).map((part, i) => i % 2 ? part : part.normalize("NFKC")).join(""),
  Strip: part => text => {
    if (part.config.strip_left) text = text.replace(EDGES.left, "");
    return part.config.strip_right ? text.replace(EDGES.right, "") : text;
  },
  Prepend: part => text => text && part.config.prepend + text,
};

const mend = part => {
  for (const inner of part?.normalizers ?? part?.tokenizers ?? []) mend(inner);
  const better = normalizers[part?.config?.type];
  if (better) part.normalize = better(part);
  if (part?.config?.type === "ByteLevel") part.pattern = GPT2_WORDS;
};

// The letters that byte-level tokenizers write bytes with.
const BYTES = new Map();
for (let byte = 0, spare = 256; byte < 256; byte++) {
  const printed = byte > 32 && byte < 127 || byte > 160 && byte !== 173;
  BYTES.set(String.fromCodePoint(printed ? byte : spare++), byte);
}

export class Cutter {
  // `file`: the object in a tokenizer.json
  constructor(file) {
    const engine = new Tokenizer(file, {}), model = engine.model;
    mend(engine.normalizer);
    mend(engine.pre_tokenizer);
    Object.assign(this, {engine, model, size: model.vocab.length});
    this.byteLevel = JSON.stringify(file.pre_tokenizer).includes('"ByteLevel"');
    this.specials = engine.added_tokens_map;
    engine.model = words => words.flatMap(word => this.tokens(word));
  }

  // Whether the whole word is one token without asking the merges.
  isWhole(word) { return this.model.ignore_merges && this.model.tokens_to_ids.has(word); }

  tokens(word) {
    const pieces = this.isWhole(word) ? [word] : this.model.bpe(word);
    return pieces.map(piece => ({piece, word, id: this.model.tokens_to_ids.get(piece) ?? this.model.unk_token_id}));
  }

  // Tokens of a text: {id, piece, word}; a special token has no word.
  cut(text) {
    const special = piece => ({piece, word: null, id: this.specials.get(piece).id});
    return this.engine.encode_text(text).map(t => typeof t === "string" ? special(t) : t);
  }

  // The text as the merges see it; special tokens are left as they are.
  normalized(text) {
    const {normalizer, splitter_unnormalized} = this.engine;
    if (!normalizer) return text;
    return splitter_unnormalized.split(text).map(s => this.specials.has(s) ? s : normalizer(s)).join("");
  }

  // The bytes of a piece, whichever letters it is written with.
  bytes(piece, isSpecial) {
    if (this.byteLevel && !isSpecial) return Uint8Array.from(piece, letter => BYTES.get(letter));
    return new TextEncoder().encode(isSpecial ? piece : piece.replaceAll("▁", " "));
  }

  // The spellings of a word from its letters to its tokens; each step joins one pair, the lowest rank first.
  steps(word) {
    let pieces = Array.from(word);
    const steps = [{pieces, at: -1, rank: -1}];
    if (this.isWhole(word)) return [...steps, {pieces: [word], at: 0, rank: -1}];
    for (;;) {
      let rank = Infinity, at = -1;
      for (let i = 0; i + 1 < pieces.length; i++) {
        const found = this.model.bpe_ranks.get(JSON.stringify([pieces[i], pieces[i + 1]])) ?? Infinity;
        if (found < rank) [rank, at] = [found, i];
      }
      if (at < 0) return steps;
      pieces = [...pieces.slice(0, at), pieces[at] + pieces[at + 1], ...pieces.slice(at + 2)];
      steps.push({pieces, at, rank});
    }
  }
}
