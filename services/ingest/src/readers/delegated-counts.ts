/** Counts of a delegated statistics file: its own counts compared with its content, and the records that have a holder. */

import type { DelegationRecord } from "./delegated.ts";

type Kind = DelegationRecord["kind"];

/** The share by which a file may differ from the counts in it. */
type CountError = Readonly<Record<Kind | "records", number>>;

/** AFRINIC, APNIC, ARIN and RIPE NCC count exactly in every known file. */
const exact: CountError = { ipv4: 0, ipv6: 0, asn: 0, records: 0 };
/** LACNIC counted 1,401 AS numbers too many in 2025 (9.2 %), and address blocks exactly. */
const lacnicError: CountError = { ipv4: 0, ipv6: 0, asn: 0.15, records: 0.15 };
/** Files that were never examined: the combined one of all registries, and IANA's. */
const unknownError: CountError = { ipv4: 0.15, ipv6: 0.15, asn: 0.15, records: 0.15 };

function countErrorOf(registry: string, max: number | null): CountError {
  if (max !== null) return { ipv4: max, ipv6: max, asn: max, records: max };
  if (registry === "lacnic") return lacnicError;
  return registry === "nro" || registry === "iana" ? unknownError : exact;
}

/** A count that a file claims, and the number that it really has. */
export interface ClaimedCount {
  readonly kind: keyof CountError;
  readonly count: number;
  readonly has: number;
}

/** `claims 16240 ipv6 and has 13240`, for each count. */
export function countsText(counts: readonly ClaimedCount[]): string {
  return counts.map(({ kind, count, has }) => `claims ${count} ${kind} and has ${has}`).join(", ");
}

/** The counts that differ from the content of the file. */
export function differing(counts: readonly ClaimedCount[]): readonly ClaimedCount[] {
  return counts.filter(({ count, has }) => has !== count);
}

/**
 * The counts that differ by more than the known error of the registry.
 *
 * @param max  the share that the operator allows instead; null: none is set.
 */
export function beyondError(counts: readonly ClaimedCount[], registry: string, max: number | null): readonly ClaimedCount[] {
  const error = countErrorOf(registry, max);
  return counts.filter(({ kind, count, has }) => Math.abs(has - count) > count * error[kind]);
}

/** The counts of the summary lines, and of the lines that they count. */
export class ClaimedCounts {
  readonly #claimed = new Map<Kind, number>();
  readonly #found: Record<Kind, number> = { ipv4: 0, ipv6: 0, asn: 0 };

  /** Takes the count of a summary line. A later one of the same kind replaces it. */
  claim(kind: Kind, count: number): void {
    this.#claimed.set(kind, count);
  }

  /** Counts the line of a record, whether or not the rest of it is good. */
  find(kind: Kind): void {
    this.#found[kind]++;
  }

  /**
   * Each count that the file claims, in the order of its lines; the records come last.
   *
   * @param records  the count of the version line, and the lines that were read as records.
   */
  compared(records: { readonly count: number; readonly has: number }): readonly ClaimedCount[] {
    const kinds = [...this.#claimed].map(([kind, count]) => ({ kind, count, has: this.#found[kind] }));
    return [...kinds, { kind: "records", ...records }];
  }
}

/** Counts records that have a holder. Free space does not count: registries split and join it as they like. */
export class HeldCounts {
  readonly #blocks: Record<Kind, number> = { ipv4: 0, ipv6: 0, asn: 0 };
  readonly #byRegistry: Record<string, number> = {};
  #withHolder = 0;

  add({ kind, registry, status, opaqueId }: DelegationRecord): void {
    if (status !== "allocated" && status !== "assigned") return;
    this.#blocks[kind]++;
    if (opaqueId !== null) this.#withHolder++;
    const name = `records of ${registry}`;
    this.#byRegistry[name] = (this.#byRegistry[name] ?? 0) + 1;
  }

  /** The counts, by their names in a report. */
  kinds(): Readonly<Record<string, number>> {
    return {
      "IPv4 blocks": this.#blocks.ipv4,
      "IPv6 blocks": this.#blocks.ipv6,
      "AS number blocks": this.#blocks.asn,
      "records with a holder": this.#withHolder,
      ...this.#byRegistry,
    };
  }
}
