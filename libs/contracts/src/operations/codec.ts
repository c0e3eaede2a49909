/** Canonical queries: how the fields of a question are written and read. */

import { type Address, formatAddress, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { listLimitMax } from "./list-limits.ts";

/**
 * Writes and reads one kind of question. `decode` answers null on anything that it cannot read; `decodeQuestion` refuses what is read
 * but not canonical.
 */
export interface Codec<Q> {
  encode(question: Q): string;
  decode(fields: readonly string[]): Q | null;
}

/** No field may hold it: not addresses, not numbers, not the words of flags. */
export const separator = "|";

/** Stands for null and for "no flag". */
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

/** Undefined = not readable; null = both. */
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
