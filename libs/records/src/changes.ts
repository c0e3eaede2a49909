/** The changes of one prefix or one AS between two snapshots: those of `netfacts snapshot diff`, and their effects on RPKI states. */

import { comparePrefixes, formatAddress, formatPrefix, type Prefix } from "@netfacts/address";
import type { RpkiState } from "@netfacts/contracts";
import type { AllocationEntry, AsnEntry, Generation, RouteOrigin, RouteTable, SectionName } from "@netfacts/snapshot";
import { mapSteps, type Steps, stepItems } from "./steps.ts";
import { validationState } from "./validation-parts.ts";

export type ChangeSubject = { readonly prefix: Prefix } | { readonly asn: number };

/** An AS number, the members of an AS_SET, or null if no path names the origin. */
export type ChangedOrigin = number | readonly number[] | null;

/** The record of a registry; `block` for addresses only. */
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

/** The facts about a subject in one snapshot: all that a comparison needs, so that two snapshots need not be in memory together. */
export interface SubjectFacts {
  /** undefined: not known in this snapshot. */
  readonly registration: ChangedRegistration | null | undefined;
  readonly name: string | null | undefined;
  /** Ascending by prefix, then by origin; null: not known. */
  readonly routes: readonly Route[] | null;
}

interface Route {
  readonly prefix: Prefix;
  readonly origin: ChangedOrigin;
  readonly key: string;
  readonly state: RpkiState | null;
}

/** Sections that the facts come from: if two snapshots share these objects, nothing changed. */
export const changeSections = ["routes", "vrps", "allocations", "as_names"] as const satisfies readonly SectionName[];

/**
 * The changes in a fixed order: registration, name, then routes by prefix and origin. If either snapshot lacks a section, its facts are not known,
 * which is not a change.
 *
 * Cost: some searches for a prefix; for an AS a step for each prefix that it originates in either snapshot, with pauses.
 */
export function* changesOf(subject: ChangeSubject, from: Generation, to: Generation): Steps<Change[]> {
  return yield* changesBetween(yield* subjectFacts(subject, from), yield* subjectFacts(subject, to));
}

export function* subjectFacts(subject: ChangeSubject, generation: Generation): Steps<SubjectFacts> {
  const { allocations, names, routes } = generation;
  return {
    registration: allocations === null ? undefined : registrationOf(subject, allocations),
    name: names === null || !("asn" in subject) ? undefined : names.lookupName(subject.asn),
    routes: routes === null ? null : yield* routesOf(subject, routes, generation),
  };
}

/** As `changesOf`, for facts that were read before. */
export function* changesBetween(from: SubjectFacts, to: SubjectFacts): Steps<Change[]> {
  const changes: Change[] = [];
  const [before, after] = [from.registration, to.registration];
  if (before !== undefined && after !== undefined && JSON.stringify(before) !== JSON.stringify(after))
    changes.push({ change: "registration_changed", from: before, to: after });
  if (from.name !== undefined && to.name !== undefined && from.name !== to.name)
    changes.push({ change: "name_changed", from: from.name, to: to.name });
  const [olds, news] = [from.routes, to.routes];
  if (olds === null || news === null) return changes;
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
      const [stateBefore, stateAfter] = [(was as Route).state, (is as Route).state];
      if (stateBefore !== null && stateAfter !== null && stateBefore !== stateAfter)
        changes.push({ change: "rpki_state_changed", prefix: text, origin, from: stateBefore, to: stateAfter });
    }
  }
  return changes;
}

/** Ascending by prefix, then by origin. */
function* routesOf(subject: ChangeSubject, table: RouteTable, generation: Generation): Steps<Route[]> {
  const route = (prefix: Prefix, origin: ChangedOrigin): Route => {
    const { state } = validationState(generation, prefix, typeof origin === "number" ? origin : null);
    return { prefix, origin, key: JSON.stringify(origin), state };
  };
  if ("asn" in subject) {
    const { asn } = subject;
    return yield* mapSteps(table.originatedBy(asn).entry, (entry) => route(table.prefixes.prefixAt(entry), asn));
  }
  const { prefix } = subject;
  const entry = table.prefixes.exact(prefix);
  const origins = entry < 0 ? [] : table.origins(entry).map(originOf);
  return origins.map((origin) => route(prefix, origin)).sort((a, b) => compareRoutes(a, b));
}

function originOf({ asn, asSet }: RouteOrigin): ChangedOrigin {
  return asSet ?? asn;
}

function compareRoutes(a: Route, b: Route): number {
  return comparePrefixes(a.prefix, b.prefix) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** The registration of the record that wins for the whole prefix, or of the AS number; null: there is none. */
function registrationOf(subject: ChangeSubject, allocations: NonNullable<Generation["allocations"]>): ChangedRegistration | null {
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
