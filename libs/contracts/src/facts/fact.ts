/** Facts about members for which a schema has no keyword: the source of a value, its unit, and an example if the record's example has none. */

import { type SectionName, sectionContracts, sectionNames } from "../sections.ts";

/** Sections as sources; a reserved one has no data yet. */
const sectionSources = Object.fromEntries(
  sectionNames.map((name) => [name, `section \`${name}\`${sectionContracts[name].imported ? "" : ", which this version does not import"}`]),
) as Record<SectionName, string>;

/** What a value can come from, in the words of the documentation. */
export const factSources = {
  request: "the request",
  gateway: "the gateway",
  service: "the service that answers",
  snapshot: "the snapshot in service",
  keys: "the key store",
  counters: "the counters of limits",
  usage: "the usage counts",
  audit: "the audit log",
  overrides: "the overrides of profiles",
  statements: "the sources of the sections `allocations`, `as_names` and `profiles`, and the overrides",
  list: "the list of sources",
  source: "the files of the source",
  schedule: "the schedule of ingest",
  run: "the ingest run",
  store: "the store of snapshots",
  pods: "the reports of pods",
  upload: "the upload",
  observations: "the stored observations",
  iana: "the IANA special-purpose registries",
  iso3166: "ISO 3166",
  dns: "DNS",
  ...sectionSources,
};

export type FactSource = keyof typeof factSources;

/** One source, or several that are combined into a value. */
export type From = FactSource | readonly [FactSource, FactSource, ...FactSource[]];

/** The facts of one value, or of one item of a list. `example` is for values that the example of no record shows. */
export interface Fact {
  readonly from: From;
  readonly unit?: string;
  readonly example?: string | number | boolean | readonly number[];
}

/** Replaces the facts of an object whose members are on another page of docs/api/records. */
export interface PageLink {
  readonly page: string;
}

/**
 * Facts of every member of a record, nested as the record is; those of a list are of one item. A member without facts does not compile,
 * and neither does a number without a unit.
 */
export type FactsOf<R> = { readonly [M in keyof R]-?: FactsOfValue<Exclude<R[M], null | undefined>> };

type FactsOfValue<V> = [V] extends [readonly (infer I)[]]
  ? FactsOfValue<Exclude<I, null>>
  : [V] extends [object]
    ? FactsOfObject<V>
    : FactOf<V>;

/** Members of any name have the facts of one value. */
type FactsOfObject<V> = PageLink | (string extends keyof V ? FactOf<V[keyof V]> : FactsOf<V>);

type FactOf<V> = unknown extends V ? From | Fact : number extends V ? Fact & { readonly unit: string } : From | Fact;
