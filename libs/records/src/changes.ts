/** What changed for one prefix or one AS between two snapshots: what `netfacts snapshot diff` has of it, and what follows from that for the RPKI. */

import { comparePrefixes, formatAddress, formatPrefix, type Prefix } from "@netfacts/address";
import type { RpkiState } from "@netfacts/contracts";
import type { AllocationEntry, AsnEntry, Generation, RouteOrigin, RouteTable } from "@netfacts/snapshot";
import { type Steps, stepItems } from "./steps.ts";
import { validationState } from "./validation-parts.ts";

export type ChangeSubject = { readonly prefix: Prefix } | { readonly asn: number };

/** An AS number, the members of an AS_SET, or null where no path names the origin. */
export type ChangedOrigin = number | readonly number[] | null;

/** What a registry says; `block` of addresses only. */
export interface ChangedRegistration {
  readonly registry: string;
  readonly status: string;
  readonly registration_country: string | null;
  readonly allocated_on: string | null;
  readonly block?: { readonly start: string; readonly end: string };
}

export type Change =
  | { readonly change: "origin_appeared" | "origin_vanished"; readonly prefix: string; readonly origin: ChangedOrigin }
  | {
      readonly change: "rpki_state_changed";
      readonly prefix: string;
      readonly origin: ChangedOrigin;
      readonly from: RpkiState;
      readonly to: RpkiState;
    }
  | { readonly change: "registration_changed"; readonly from: ChangedRegistration | null; readonly to: ChangedRegistration | null }
  | { readonly change: "name_changed"; readonly from: string | null; readonly to: string | null };

/**
 * In a fixed order: registration, name, then routes by prefix and origin. What either snapshot does not have as a section is not known, and no change.
 *
 * Cost: some searches for a prefix; for an AS a step for each prefix that it originates in either, taken in turns.
 */
export function* changesOf(subject: ChangeSubject, from: Generation, to: Generation): Steps<Change[]> {
  const changes: Change[] = [];
  const [before, after] = [registrationOf(subject, from), registrationOf(subject, to)];
  if (from.allocations !== null && to.allocations !== null && JSON.stringify(before) !== JSON.stringify(after))
    changes.push({ change: "registration_changed", from: before, to: after });
  if ("asn" in subject && from.names !== null && to.names !== null) {
    const [old, now] = [from.names.lookupName(subject.asn), to.names.lookupName(subject.asn)];
    if (old !== now) changes.push({ change: "name_changed", from: old, to: now });
  }
  if (from.routes === null || to.routes === null) return changes;
  const olds = routesOf(subject, from.routes);
  const news = routesOf(subject, to.routes);
  let [old, now] = [0, 0];
  for (let steps = 1; old < olds.length || now < news.length; steps++) {
    if (steps % stepItems === 0) yield;
    const [was, is] = [olds[old], news[now]];
    const order = was === undefined ? 1 : is === undefined ? -1 : compareRoutes(was, is);
    if (was !== undefined && order <= 0) old++;
    if (is !== undefined && order >= 0) now++;
    const { prefix, origin } = (order <= 0 ? was : is) as Route;
    const text = formatPrefix(prefix);
    if (order !== 0) changes.push({ change: order < 0 ? "origin_vanished" : "origin_appeared", prefix: text, origin });
    else {
      const asn = typeof origin === "number" ? origin : null;
      const [stateBefore, stateAfter] = [validationState(from, prefix, asn).state, validationState(to, prefix, asn).state];
      if (stateBefore !== null && stateAfter !== null && stateBefore !== stateAfter)
        changes.push({ change: "rpki_state_changed", prefix: text, origin, from: stateBefore, to: stateAfter });
    }
  }
  return changes;
}

interface Route {
  readonly prefix: Prefix;
  readonly origin: ChangedOrigin;
  readonly key: string;
}

/** Ascending by prefix, then by origin. */
function routesOf(subject: ChangeSubject, table: RouteTable): Route[] {
  if ("asn" in subject) {
    const { asn } = subject;
    return Array.from(table.originatedBy(asn).entry, (entry) => ({
      prefix: table.prefixes.prefixAt(entry),
      origin: asn,
      key: String(asn),
    }));
  }
  const { prefix } = subject;
  const entry = table.prefixes.exact(prefix);
  const origins = entry < 0 ? [] : table.origins(entry).map(originOf);
  return origins.map((origin) => ({ prefix, origin, key: JSON.stringify(origin) })).sort((a, b) => compareRoutes(a, b));
}

function originOf({ asn, asSet }: RouteOrigin): ChangedOrigin {
  return asSet ?? asn;
}

function compareRoutes(a: Route, b: Route): number {
  return comparePrefixes(a.prefix, b.prefix) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** Of the record that holds the whole prefix, or the AS number; null where there is none. */
function registrationOf(subject: ChangeSubject, { allocations }: Generation): ChangedRegistration | null {
  if (allocations === null) return null;
  if ("asn" in subject) {
    const entry = allocations.asn(subject.asn);
    return entry === null ? null : registered(entry);
  }
  const { relation, records } = allocations.relation(subject.prefix);
  const [winner] = records.slice(0, 1);
  if ((relation !== "equal" && relation !== "within") || winner === undefined) return null;
  const entry = allocations.entry(winner);
  return { ...registered(entry), block: { start: formatAddress(entry.start), end: formatAddress(entry.end) } };
}

function registered({ registry, status, country, date }: AllocationEntry | AsnEntry): ChangedRegistration {
  return { registry, status, registration_country: country, allocated_on: date };
}
