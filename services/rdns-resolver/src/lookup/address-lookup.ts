/** One address in DNS: its names, and where each of them leads. */

import { type Address, embeddedIpv4, formatAddress, type Prefix, parseAddress } from "@netfacts/address";
import type { NameserverPool } from "../dns/pool.ts";
import { confirm } from "../domain/forward.ts";
import type { Finding, PtrName, TimedStatus } from "../domain/resolution.ts";
import { isWithheld } from "../domain/withholding.ts";
import { findRecords } from "./record-search.ts";

export interface AddressLookupOptions {
  readonly pool: Pick<NameserverPool, "ask">;
  /** Names of one answer that are shown. */
  readonly namesMax: number;
  /** Names of one answer that are looked up; 0: none. */
  readonly forwardNamesMax: number;
  /** Queries of one lookup, with retries and over every transport. */
  readonly queriesMax: number;
  readonly openPrefixes: readonly Prefix[];
}

/** `queries`: sent for it. */
export type AddressFinding =
  | { readonly kind: "finding"; readonly finding: Finding; readonly queries: number }
  | { readonly kind: "unavailable" };

/**
 * The names share what is left of the time and of the allowance once they are known. `deadline` is on the clock of `performance.now()`.
 *
 * @param name  of the address: see `reverseName`.
 */
export async function lookupAddress(ip: Address, name: string, deadline: number, options: AddressLookupOptions): Promise<AddressFinding> {
  const { pool, namesMax, forwardNamesMax, queriesMax, openPrefixes } = options;
  const allowance = { left: queriesMax };
  const found = await findRecords(pool, { name, type: "PTR" }, { deadline, allowance });
  if (found === "unavailable") return { kind: "unavailable" };
  const { status, ttl, targets, dnssec } = found;
  const shown = targets.length > namesMax ? targets.slice(0, namesMax) : targets;
  if (shown.length === 0 || forwardNamesMax === 0) {
    const names = shown.map((one): PtrName => ({ name: one.target, ttl: one.ttl, forward: null }));
    const finding = { status, ttl, names, namesTotal: targets.length, dnssec, forward: [] };
    return { kind: "finding", finding, queries: queriesMax - allowance.left };
  }
  const address = formatAddress(ip);
  const type = ip.version === 4 ? "A" : "AAAA";
  // Anybody may write a name of ours into a reverse zone of theirs: what the house calls it inside is not for them.
  const isSecret = (text: string) => {
    const reading = parseAddress(text);
    if (reading === null || isWithheld(reading, openPrefixes)) return true;
    // A translated or tunnelled address shows the one inside.
    const embedded = embeddedIpv4(reading);
    return embedded !== null && isWithheld(embedded, openPrefixes);
  };
  const forward: TimedStatus[] = [];
  const names = await Promise.all(
    shown.map(async ({ target: name, ttl: nameTtl }, index): Promise<PtrName> => {
      if (index >= forwardNamesMax || allowance.left <= 0) return { name, ttl: nameTtl, forward: null };
      const result = await findRecords(pool, { name, type }, { deadline, allowance });
      const records = result === "unavailable" ? { status: "timeout" as const, ttl: null, targets: [] } : result;
      forward.push(records);
      const addresses = records.targets.map(({ target }) => target);
      return { name, ttl: nameTtl, forward: confirm(address, { status: records.status, addresses }, isSecret) };
    }),
  );
  const finding = { status, ttl, names, namesTotal: targets.length, dnssec, forward };
  return { kind: "finding", finding, queries: queriesMax - allowance.left };
}
