/** Forward lookups of the names of an address. */

import { type Address, embeddedIpv4, formatAddress, type Prefix, parseAddress } from "@netfacts/address";
import type { NameserverPool } from "../dns/pool.ts";
import { confirm } from "../domain/forward.ts";
import type { Finding, PtrName, TimedStatus } from "../domain/resolution.ts";
import { isWithheld } from "../domain/withholding.ts";
import { type Bounds, findRecords, type RecordsFound } from "./record-search.ts";

export interface ForwardLookupOptions {
  readonly pool: Pick<NameserverPool, "ask">;
  /** Most names of one answer that are shown. */
  readonly namesMax: number;
  /** Most names of one answer that are looked up; 0: none. */
  readonly forwardNamesMax: number;
  readonly openPrefixes: readonly Prefix[];
}

/**
 * The finding for an address, with the forward confirmation of its names; no promise if none of them is looked up. The forward lookups share
 * the rest of the time and of the allowance.
 */
export function withForward(
  ip: Address,
  { status, ttl, targets, dnssec }: RecordsFound,
  bounds: Bounds,
  { pool, namesMax, forwardNamesMax, openPrefixes }: ForwardLookupOptions,
): Finding | Promise<Finding> {
  const shown = targets.length > namesMax ? targets.slice(0, namesMax) : targets;
  const finding = (names: readonly PtrName[], forward: readonly TimedStatus[]): Finding => ({
    status,
    ttl,
    names,
    namesTotal: targets.length,
    dnssec,
    forward,
  });
  if (shown.length === 0 || forwardNamesMax === 0) {
    const names = shown.map((one): PtrName => ({ name: one.target, ttl: one.ttl, forward: null }));
    return finding(names, []);
  }
  const address = formatAddress(ip);
  const type = ip.version === 4 ? "A" : "AAAA";
  // Anybody may put our names into their own reverse zone. They must not learn the internal addresses of these names.
  const isSecret = (text: string) => {
    const reading = parseAddress(text);
    if (reading === null || isWithheld(reading, openPrefixes)) return true;
    // A translated or tunnelled address reveals the embedded one.
    const embedded = embeddedIpv4(reading);
    return embedded !== null && isWithheld(embedded, openPrefixes);
  };
  const forward: TimedStatus[] = [];
  const confirmed = shown.map(async ({ target: name, ttl: nameTtl }, index): Promise<PtrName> => {
    if (index >= forwardNamesMax || bounds.allowance.left <= 0) return { name, ttl: nameTtl, forward: null };
    const result = await findRecords(pool, { name, type }, bounds);
    const records = result === "unavailable" ? { status: "timeout" as const, ttl: null, targets: [] } : result;
    forward.push(records);
    const addresses = records.targets.map(({ target }) => target);
    return { name, ttl: nameTtl, forward: confirm(address, { status: records.status, addresses }, isSecret) };
  });
  return Promise.all(confirmed).then((names) => finding(names, forward));
}
