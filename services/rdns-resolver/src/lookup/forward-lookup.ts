/** Where the names of an address lead in DNS. */

import { type Address, embeddedIpv4, formatAddress, type Prefix, parseAddress } from "@netfacts/address";
import type { NameserverPool } from "../dns/pool.ts";
import { confirm } from "../domain/forward.ts";
import type { Finding, PtrName, TimedStatus } from "../domain/resolution.ts";
import { isWithheld } from "../domain/withholding.ts";
import { type Bounds, findRecords, type RecordsFound } from "./record-search.ts";

export interface ForwardLookupOptions {
  readonly pool: Pick<NameserverPool, "ask">;
  /** Names of one answer that are shown. */
  readonly namesMax: number;
  /** Names of one answer that are looked up; 0: none. */
  readonly forwardNamesMax: number;
  readonly openPrefixes: readonly Prefix[];
}

/**
 * What was found of an address, with where its names lead: at once where none of them is looked up. They share what is left of the time
 * and of the allowance.
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
  // Anybody may write a name of ours into a reverse zone of theirs: what the house calls it inside is not for them.
  const isSecret = (text: string) => {
    const reading = parseAddress(text);
    if (reading === null || isWithheld(reading, openPrefixes)) return true;
    // A translated or tunnelled address shows the one inside.
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
