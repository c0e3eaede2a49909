/**
 * Compares section `allocations` with sampled records of the registries: each must be the registration, or another one must take precedence
 * (docs/design/semantics.md#registration).
 */

import { type Address, compareAddresses, formatAddress } from "@netfacts/address";
import type { AllocationEntry, AllocationTable, AsnEntry, Generation } from "@netfacts/snapshot";
import type { DelegationRecord } from "../readers/delegated.ts";
import type { DelegatedSample, TableSamples } from "./table-samples.ts";
import { Asking } from "./wrong-answer.ts";

/** @returns the number of records that were compared @throws WrongAnswerError */
export function checkAllocations({ allocations }: Generation, { delegated: files }: TableSamples): number {
  const asking = new Asking("allocations");
  if (allocations === null) return 0;
  for (const file of files)
    for (const record of file.items)
      if (record.kind === "asn") checkAsn(asking, allocations, files, file, record);
      else checkBlock(asking, allocations, files, file, record);
  return asking.checked;
}

type BlockRecord = Extract<DelegationRecord, { kind: "ipv4" | "ipv6" }>;
type AsnRecord = Extract<DelegationRecord, { kind: "asn" }>;

function checkBlock(
  asking: Asking,
  table: AllocationTable,
  files: readonly DelegatedSample[],
  file: DelegatedSample,
  record: BlockRecord,
): void {
  const demand = asking.of(file.source, `${rangeText(record)} (${recordText(record)})`);
  for (const address of [record.start, record.end]) {
    const entries = table.recordsAt(address).map((at) => table.entry(at));
    demand(
      entries.some((entry) => isBlock(entry, record) && agrees(table, entry, record)),
      `that record among those of ${formatAddress(address)}`,
      () => entries.map((entry) => `${rangeText(entry)} (${entryText(table, entry)})`).join(", ") || "none",
    );
    const [winner] = entries as [AllocationEntry];
    const wins = isBlock(winner, record) || goesBefore(winner, sizeOf(winner), record, sizeOf(record), file, files);
    demand(wins, `that record, or one that takes precedence, to be the registration of ${formatAddress(address)}`, () => rangeText(winner));
  }
}

function checkAsn(
  asking: Asking,
  table: AllocationTable,
  files: readonly DelegatedSample[],
  file: DelegatedSample,
  record: AsnRecord,
): void {
  const demand = asking.of(file.source, `AS${record.start}–AS${record.end} (${recordText(record)})`);
  for (const asn of [record.start, record.end]) {
    const entry = table.asn(asn);
    const found = () => (entry === null ? "none" : entryText(table, entry));
    demand(entry !== null, `a registration of AS${asn}`, found);
    const own = entry as AsnEntry;
    const wins = agrees(table, own, record) || goesBefore(own, null, record, null, file, files);
    demand(wins, `that record, or one that takes precedence, to be the registration of AS${asn}`, found);
  }
}

function isBlock(entry: AllocationEntry, { start, end }: BlockRecord): boolean {
  return compareAddresses(entry.start, start) === 0 && compareAddresses(entry.end, end) === 0;
}

function agrees(table: AllocationTable, entry: AsnEntry, record: DelegationRecord): boolean {
  return entryText(table, entry) === recordText(record);
}

/**
 * Whether the entry takes precedence over the record: delegated before not delegated; then the newer file; the narrower range (null: unknown); the
 * later date; the registry's name. Also true if this is not known, because a registry may have several files.
 */
function goesBefore(
  entry: AsnEntry,
  entrySize: bigint | null,
  record: DelegationRecord,
  recordSize: bigint | null,
  file: DelegatedSample,
  files: readonly DelegatedSample[],
): boolean {
  if (isHeld(entry.status) !== isHeld(record.status)) return isHeld(entry.status);
  const dates = files.filter(({ registries }) => registries.has(entry.registry)).map(({ asOf }) => asOf ?? 0);
  const own = file.asOf ?? 0;
  if (dates.every((date) => date < own)) return false;
  if (dates.some((date) => date !== own)) return true;
  if (entrySize === null || recordSize === null) return true;
  if (entrySize !== recordSize) return entrySize < recordSize;
  const [theirs, ours] = [entry.date ?? "", dateText(record.date) ?? ""];
  if (theirs !== ours) return theirs > ours;
  return entry.registry <= record.registry;
}

function isHeld(status: string): boolean {
  return status === "allocated" || status === "assigned";
}

/** Number of addresses in a range, minus one. */
function sizeOf({ start, end }: { readonly start: Address; readonly end: Address }): bigint {
  return numberOf(end) - numberOf(start);
}

function numberOf({ version, w0, w1, w2, w3 }: Address): bigint {
  return version === 4 ? BigInt(w0) : [w0, w1, w2, w3].reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
}

function rangeText({ start, end }: { readonly start: Address; readonly end: Address }): string {
  return `${formatAddress(start)}–${formatAddress(end)}`;
}

function recordText({ registry, status, country, date, opaqueId }: DelegationRecord): string {
  const id = isHeld(status) ? opaqueId : null;
  return [registry, status, country ?? "no country", dateText(date) ?? "no date", id ?? "no holder"].join(" ");
}

function entryText(table: AllocationTable, { registry, status, country, date, holder }: AsnEntry): string {
  const id = holder === null ? null : table.holder(holder).id;
  return [registry, status, country ?? "no country", date ?? "no date", id ?? "no holder"].join(" ");
}

/** Formats year × 10,000 + month × 100 + day. */
function dateText(date: number | null): string | null {
  return date === null ? null : String(date).replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
}
