/** A slow, obvious reading of lines whose encoding may have gone wrong. */

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const western = new TextDecoder("windows-1252");

function utf8Of(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** The longest UTF-8 letter at each place, else the byte as windows-1252. */
function decoded(bytes: Uint8Array): string {
  if (bytes.every((byte) => byte < 128)) return Buffer.from(bytes).toString("latin1");
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const found = [1, 2, 3, 4].map((length) => ({ length, letter: utf8Of(bytes.subarray(at, at + length)) }));
    const fit = found.find(({ length, letter }) => letter !== null && at + length <= bytes.length && [...letter].length === 1);
    text += fit?.letter ?? western.decode(bytes.subarray(at, at + 1));
    at += fit?.length ?? 1;
  }
  return text;
}

const letters = Array.from({ length: 256 }, (_, value) => western.decode(Uint8Array.of(value)));

/** Whether letters stand for bytes of windows-1252 that are UTF-8, and what that says; null: no. */
function meant(text: string): string | null {
  const bytes: number[] = [];
  for (const letter of text.split("")) {
    const byte = letters.indexOf(letter);
    if (byte === -1) return null;
    bytes.push(byte);
  }
  return bytes.every((byte) => byte < 128) ? null : utf8Of(Uint8Array.from(bytes));
}

/** A text as it was meant: without NULs, and decoded up to three times more. */
export function mendedSlowly(text: string): string {
  let mended = text.split("\0").join("");
  // Most texts are ASCII: nothing to find out.
  for (let round = 0; round < 3 && /[^ -~]/.test(mended); round++) mended = meant(mended) ?? mended;
  return mended;
}

/** Lines without their breaks, decoded; a byte order mark before the first is no part of it. */
export function linesSlowly(bytes: Uint8Array): string[] {
  const raw = Buffer.from(bytes).toString("latin1").split("\n");
  if (raw.at(-1) === "") raw.pop();
  return raw.map((line, index) => {
    const own = line.endsWith("\r") ? line.slice(0, -1) : line;
    return mendedSlowly(decoded(Buffer.from(index === 0 ? own.replace(/^\xef\xbb\xbf/, "") : own, "latin1")));
  });
}
