/** ASPA records by customer, in sorted columns of a snapshot that pods read in place. */
// Indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Aspa } from "./aspa.ts";
import { taNone } from "./vrp-columns.ts";

/** Customers ascending, each once; the providers of customer `i` at `start[i]` to `start[i + 1] - 1`, ascending. */
export interface AspaColumns {
  readonly customer: Uint32Array;
  /** One item more than there are customers. */
  readonly start: Uint32Array;
  readonly provider: Uint32Array;
  /** Index of the trust anchor's name; 255 = not given. */
  readonly ta: Uint8Array;
  /** Unix seconds; 0 = not given. */
  readonly expiresAt: Uint32Array;
}

export interface EncodedAspas {
  readonly columns: AspaColumns;
  /** Ascending, without repetition. */
  readonly taNames: string[];
}

/**
 * Sorts ASPAs into columns, one record per customer.
 *
 * Records of one customer with the same providers are one record from two validators: the latest expiry is kept, and any expiry is preferred to none.
 * Records with different providers are several ASPAs: their providers are joined, until the first of the records expires. The trust anchor is kept if
 * all name the same one. The order of the input makes no difference.
 *
 * Throws `RangeError` for a number that is not an AS number, and for the 256th trust anchor.
 */
export function encodeAspaColumns(aspas: Iterable<Aspa>): EncodedAspas {
  const byCustomer = new Map<number, Map<string, Aspa>>();
  for (const aspa of aspas) {
    if ([aspa.customer, ...aspa.providers].some((asn) => asn >>> 0 !== asn))
      throw new RangeError(`ASPA of AS${aspa.customer}: not all are AS numbers`);
    const providers = [...new Set(aspa.providers)].sort((a, b) => a - b);
    const known = byCustomer.get(aspa.customer) ?? new Map<string, Aspa>();
    byCustomer.set(aspa.customer, known);
    const same = known.get(providers.join());
    known.set(providers.join(), same === undefined ? { ...aspa, providers } : toldTwice(same, aspa));
  }
  const merged = [...byCustomer.values()].map((several) => [...several.values()].reduce(joined)).sort((a, b) => a.customer - b.customer);
  const taNames = [...new Set(merged.flatMap(({ ta }) => ta ?? []))].sort();
  if (taNames.length > taNone) throw new RangeError(`more than ${taNone} trust anchors`);
  const start = new Uint32Array(merged.length + 1);
  merged.forEach(({ providers }, index) => {
    start[index + 1] = start[index]! + providers.length;
  });
  return {
    columns: {
      customer: Uint32Array.from(merged, ({ customer }) => customer),
      start,
      provider: Uint32Array.from(merged.flatMap(({ providers }) => providers)),
      ta: Uint8Array.from(merged, ({ ta }) => (ta === null ? taNone : taNames.indexOf(ta))),
      expiresAt: Uint32Array.from(merged, ({ expiresAt }) => expiresAt ?? 0),
    },
    taNames,
  };
}

/** Merges the same record from two sources. */
function toldTwice(a: Aspa, b: Aspa): Aspa {
  const expiresAt = a.expiresAt === null || b.expiresAt === null ? (a.expiresAt ?? b.expiresAt) : Math.max(a.expiresAt, b.expiresAt);
  return { ...a, ta: sameAnchor(a, b), expiresAt };
}

/** Joins two records of one customer. */
function joined(a: Aspa, b: Aspa): Aspa {
  const expiresAt = a.expiresAt === null || b.expiresAt === null ? (a.expiresAt ?? b.expiresAt) : Math.min(a.expiresAt, b.expiresAt);
  const providers = [...new Set([...a.providers, ...b.providers])].sort((x, y) => x - y);
  return { customer: a.customer, providers, ta: sameAnchor(a, b), expiresAt };
}

function sameAnchor(a: Aspa, b: Aspa): string | null {
  return a.ta === b.ta ? a.ta : null;
}

/** An immutable set of ASPA records, one per customer. Safe from any thread that has the columns. */
export class AspaSet {
  readonly columns: AspaColumns;
  readonly taNames: readonly string[];

  private constructor(columns: AspaColumns, taNames: readonly string[]) {
    this.columns = columns;
    this.taNames = taNames;
  }

  /** Merges and sorts as `encodeAspaColumns`. */
  static from(aspas: Iterable<Aspa>): AspaSet {
    const { columns, taNames } = encodeAspaColumns(aspas);
    return new AspaSet(columns, taNames);
  }

  /** Reads columns in place; they must not change any more, and are not checked. */
  static fromColumns(columns: AspaColumns, taNames: readonly string[]): AspaSet {
    return new AspaSet(columns, taNames);
  }

  get size(): number {
    return this.columns.customer.length;
  }

  /** A record by its index; customers ascend. */
  aspaAt(index: number): Aspa {
    const { customer, start, provider, ta, expiresAt } = this.columns;
    return {
      customer: customer[index]!,
      providers: Array.from(provider.subarray(start[index], start[index + 1])),
      ta: ta[index] === taNone ? null : this.taNames[ta[index]!]!,
      expiresAt: expiresAt[index] === 0 ? null : expiresAt[index]!,
    };
  }

  /** The record of a customer; null when it has none. Cost: a binary search and the answer. */
  lookupAspa(customer: number): Aspa | null {
    const at = this.#find(customer);
    return at < 0 ? null : this.aspaAt(at);
  }

  #find(asn: number): number {
    const { customer } = this.columns;
    let low = 0;
    let high = customer.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if (customer[middle]! < asn) low = middle + 1;
      else if (customer[middle]! > asn) high = middle - 1;
      else return middle;
    }
    return -1;
  }
}
