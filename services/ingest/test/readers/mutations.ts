/** Random damage to the tokens, lines and bytes of a text: for what knows tokens and no records. */

import { pick, type Random } from "../../../../test/support/random.ts";

/** One change to the text, or two or three: by its tokens (what `split` finds), by its lines, or by its bytes. */
export function mutated(random: Random, text: string, split: RegExp, nasty: readonly string[]): Uint8Array {
  let bytes: Uint8Array = Buffer.from(text);
  for (let change = random(2) * random(3); change >= 0; change--) {
    const kind = random(10);
    if (kind < 6) bytes = Buffer.from(tokenChanged(random, Buffer.from(bytes).toString("latin1"), split, nasty), "latin1");
    else if (kind < 8) bytes = Buffer.from(lineChanged(random, Buffer.from(bytes).toString("latin1")), "latin1");
    else bytes = bytesChanged(random, bytes);
  }
  return bytes.subarray(0, 4_096);
}

function tokenChanged(random: Random, text: string, split: RegExp, nasty: readonly string[]): string {
  const tokens = [...text.matchAll(split)];
  if (tokens.length === 0) return text;
  const token = pick(random, tokens);
  const other = random(8) === 0 ? "" : pick(random, [pick(random, nasty), pick(random, tokens)[0]]);
  return text.slice(0, token.index) + other + text.slice(token.index + token[0].length);
}

function lineChanged(random: Random, text: string): string {
  const lines = text.split("\n");
  const at = random(lines.length);
  const line = lines[at] as string;
  switch (random(4)) {
    case 0:
      lines.splice(at, 1);
      break;
    case 1:
      lines.splice(at, 0, line);
      break;
    case 2:
      lines.splice(random(lines.length), 0, ...lines.splice(at, 1));
      break;
    default:
      lines[at] = line.slice(0, random(line.length + 1));
  }
  return lines.join("\n");
}

function bytesChanged(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random(bytes.length + 1);
  switch (random(4)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Uint8Array.of(random(256)), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + random(8)))]);
    default: {
      const copy = Uint8Array.from(bytes);
      if (at < copy.length) copy[at] = random(256);
      return copy;
    }
  }
}
