// The state in the address: readable while it is short, compressed when it is long.
const LONG = 400, LIMIT = 100_000, FITS = 16_000;
const base64 = bytes => btoa(Array.from(bytes, b => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const unbase64 = text => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
const isWhole = text => !/\p{Surrogate}/u.test(text);

const through = async (bytes, stream, limit = Infinity) => {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
  for (let size = 0;;) {
    const {done, value} = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    if ((size += value.length) > limit) { reader.cancel(); throw new Error("too long"); }
    parts.push(value);
  }
};

// A fragment for a state of strings; null when it would be too long for a link.
export const pack = async state => {
  const plain = new URLSearchParams(state).toString();
  if (plain.length <= LONG && isWhole(Object.values(state).join(""))) return plain;
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = "z=" + base64(await through(bytes, new CompressionStream("deflate-raw")));
  return packed.length <= FITS ? packed : null;
};

// The state of a fragment; null when it holds none, an error when it is damaged.
export const unpack = async fragment => {
  if (!fragment.includes("=")) return null;
  const fields = new URLSearchParams(fragment);
  if (!fields.has("z")) return clean(Object.fromEntries(fields));
  const bytes = await through(unbase64(fields.get("z")), new DecompressionStream("deflate-raw"), 8 * LIMIT);
  return clean(JSON.parse(new TextDecoder("utf-8", {fatal: true}).decode(bytes)));
};

const clean = state => {
  const strings = Object.entries(state ?? {}).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(strings.map(([key, value]) => [key, value.slice(0, LIMIT)]));
};
