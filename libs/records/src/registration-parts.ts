/** Parts of records that come from registries: allocation, holder, special purpose. */

import { formatAddress, formatPrefix, rangeToPrefixes, type SpecialPurposeBlock, specialPurposeAsn } from "@netfacts/address";
import type { Allocation, AllocationConflict, AsnSpecialPurpose, Block, Holder, SpecialPurpose } from "@netfacts/contracts";
import type { AllocationEntry, AllocationTable, Generation } from "@netfacts/snapshot";

/** Most AS numbers that are listed for one holder; registries that publish for whole countries share one id over thousands. */
export const holderAsnsMax = 100;

const holderBasis = "delegated-extended:opaque-id";

/** A registered block: bounds as published, and as CIDRs. */
export function blockRecord({ start, end }: Pick<AllocationEntry, "start" | "end">): Block {
  return { start: formatAddress(start), end: formatAddress(end), cidrs: rangeToPrefixes(start, end).map(formatPrefix) };
}

/** A holder by its index in the table; null for null. */
export function holderRecord(generation: Generation, index: number | null): Holder | null {
  const { allocations, names } = generation;
  if (allocations === null || index === null) return null;
  const holder = allocations.holder(index);
  const [first] = holder.asns;
  const name = first === undefined ? null : (names?.lookupName(first) ?? null);
  return {
    id: holder.id,
    asns: Array.from(holder.asns.subarray(0, holderAsnsMax)),
    asn_count: holder.asns.length,
    name,
    basis: name === null ? holderBasis : `${holderBasis}+as-names`,
  };
}

function registered(entry: AllocationEntry): AllocationConflict {
  return {
    registry: entry.registry,
    status: entry.status,
    registration_country: entry.country,
    block: blockRecord(entry),
    allocated_on: entry.date,
  };
}

/**
 * The allocation of the winning record, with the others as conflicts; null when there is no record.
 *
 * @param records  record numbers of the generation's allocation table, the winner first.
 */
export function allocationRecord(generation: Generation, records: readonly number[]): Allocation | null {
  const [winner, ...losers] = records;
  if (winner === undefined || generation.allocations === null) return null;
  const table: AllocationTable = generation.allocations;
  const entry = table.entry(winner);
  return {
    ...registered(entry),
    conflicts: conflictsOf(
      registered(entry),
      losers.map((record) => registered(table.entry(record))),
    ),
    holder: holderRecord(generation, entry.holder),
  };
}

/** Records that differ from the winner, each once: a file may have a record twice, and registries list transferred blocks in the same way. */
function conflictsOf(winner: AllocationConflict, losers: readonly AllocationConflict[]): AllocationConflict[] {
  if (losers.length === 0) return [];
  const seen = new Set([JSON.stringify(winner)]);
  return losers.filter((loser) => {
    const text = JSON.stringify(loser);
    return !seen.has(text) && seen.add(text);
  });
}

/** The record of a special-purpose block; null for null. */
export function specialPurposeRecord(block: SpecialPurposeBlock | null): SpecialPurpose | null {
  if (block === null) return null;
  return { name: block.name, rfc: block.rfc, block: formatPrefix(block.prefix), globally_reachable: block.globallyReachable };
}

/** An entry of the special-purpose AS number registry; null: there is none. */
export function asnSpecialPurposeRecord(asn: number | null): AsnSpecialPurpose | null {
  const found = asn === null ? null : specialPurposeAsn(asn);
  return found === null ? null : { name: found.name, rfc: found.rfc };
}

/** Whether the AS number and the address record share an opaque id; null if either has none, or they are in two files or of two registries. */
export function sameHolder(generation: Generation, asn: number | null, allocation: AllocationEntry | null): boolean | null {
  if (asn === null || allocation === null || allocation.holder === null || generation.allocations === null) return null;
  const asnEntry = generation.allocations.asn(asn);
  if (asnEntry === null || asnEntry.holder === null || asnEntry.registry !== allocation.registry) return null;
  return generation.allocations.isSameHolder(asnEntry.holder, allocation.holder);
}
