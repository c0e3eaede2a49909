/** The slow, obvious prefix structure: one Map per family and prefix length, asked for every length. Shares no code with Netfacts. */

// In Jest a global is looked up by a slow path: what stands in a loop over a million routes is bound or spelled without one.
const toNumber = Number;
const toBigInt = BigInt;
const shiftOf = Array.from({ length: 129 }, (_, length) => BigInt(128 - length));

export type Bits = { readonly family: 4; readonly value: number; readonly length: number } | BitsIpv6;
interface BitsIpv6 {
  readonly family: 6;
  readonly value: bigint;
  readonly length: number;
}

/** Reads an address (its full length) or a prefix that the tests trust to be well-formed. */
export function bitsOf(text: string): Bits {
  const slash = text.indexOf("/");
  const address = slash < 0 ? text : text.slice(0, slash);
  const ipv6 = address.includes(":");
  const length = slash < 0 ? (ipv6 ? 128 : 32) : toNumber(text.slice(slash + 1));
  if (!ipv6) return { family: 4, value: address.split(".").reduce((value, byte) => value * 256 + toNumber(byte), 0), length };
  const [left = "", right] = address.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const head = groups(left);
  const tail = groups(right ?? "");
  const zeros = right === undefined ? [] : Array<string>(8 - head.length - tail.length).fill("0");
  const value = [...head, ...zeros, ...tail].reduce((sum, group) => sum * 65_536n + toBigInt(`0x${group}`), 0n);
  return { family: 6, value, length };
}

/** The first `length` bits, as a number. */
export function leading(bits: Bits, length: number): number | bigint {
  if (bits.family === 4) return length === 0 ? 0 : bits.value >>> (32 - length);
  return bits.value >> (shiftOf[length] as bigint);
}

export class ByLength<Value> {
  readonly #tables = { 4: lengthsTo<Value>(32), 6: lengthsTo<Value>(128) };

  get(prefix: Bits): Value | undefined {
    return this.#tables[prefix.family][prefix.length]?.get(leading(prefix, prefix.length));
  }

  set(prefix: Bits, value: Value): void {
    this.#tables[prefix.family][prefix.length]?.set(leading(prefix, prefix.length), value);
  }

  /** What stands at the prefix and at every shorter one that covers it, the longest first. */
  covering(prefix: Bits): Value[] {
    const found: Value[] = [];
    const tables = this.#tables[prefix.family];
    for (let length = prefix.length; length >= 0; length--) {
      const table = tables[length];
      if (table === undefined || table.size === 0) continue;
      const value = table.get(leading(prefix, length));
      if (value !== undefined) found.push(value);
    }
    return found;
  }
}

function lengthsTo<Value>(longest: number): Map<number | bigint, Value>[] {
  return Array.from({ length: longest + 1 }, () => new Map());
}
