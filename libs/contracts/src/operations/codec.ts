/** Canonical queries: how the fields of a question are encoded and decoded. */

import { type Address, formatAddress, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { listLimitMax } from "./list-limits.ts";

/**
 * Encodes and decodes one kind of question. `decode` returns null for an invalid text. `decodeQuestion` also refuses text that is
 * valid but not canonical.
 */
export interface Codec<Q> {
  encode(question: Q): string;
  decode(fields: readonly string[]): Q | null;
}

/** No field contains it: neither addresses, nor numbers, nor the words of flags. */
export const separator = "|";

/** Means null, and that a flag is absent. */
export const none = "-";

export const addressCodec: Codec<{ readonly ip: Address }> = {
  encode: ({ ip }) => formatAddress(ip),
  decode: ([text, ...rest]) => {
    const ip = readAddress(text);
    return ip === null || rest.length > 0 ? null : { ip };
  },
};

export function readAddress(text: string | undefined): Address | null {
  return text === undefined ? null : parseAddress(text);
}

export function readPrefix(text: string | undefined): Prefix | null {
  if (text === undefined) return null;
  const reading = parsePrefix(text);
  return reading.ok ? reading.prefix : null;
}

export function readAsn(text: string | undefined): number | null {
  return readInteger(text, 0, 4_294_967_295);
}

export function readLimit(text: string | undefined): number | null {
  return readInteger(text, 1, listLimitMax);
}

export function readFlag(text: string | undefined, name: string): boolean | null {
  if (text === name) return true;
  return text === none ? false : null;
}

/** Undefined if invalid; null for both. */
export function readFamily(text: string | undefined): 4 | 6 | null | undefined {
  if (text === "4") return 4;
  if (text === "6") return 6;
  return text === none ? null : undefined;
}

function readInteger(text: string | undefined, min: number, max: number): number | null {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}
