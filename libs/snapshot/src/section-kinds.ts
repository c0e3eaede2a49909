/** All properties of each section: its columns, their checks and indexes, the tables over them, and the rows that a diff compares. */

import type { PrefixColumns, PrefixTrie } from "@netfacts/prefix-trie";
import { AspaSet, VrpSet } from "@netfacts/rpki";
import { type ColumnSpec, type Columns, columnPieces, type SectionFormat } from "./columns.ts";
import type { SectionRow } from "./diff/section-row.ts";
import { allocationRows, aspaRows, nameRows, profileRows, routeRows, vrpRows } from "./diff/section-rows.ts";
import { AllocationTable } from "./lookup/allocation-table.ts";
import { AsNameTable } from "./lookup/as-names.ts";
import { LocationTable } from "./lookup/locations.ts";
import { NetworkTypeTable } from "./lookup/network-types.ts";
import { ProfileTable } from "./lookup/profiles.ts";
import { type RouteOverlay, RouteTable } from "./lookup/route-table.ts";
import type { SectionName } from "./manifest.ts";
import { allocationPrefixes, allocationsFormat, checkAllocations } from "./sections/allocations.ts";
import { asNamesColumns, asNamesFormat, checkAsNames } from "./sections/as-names.ts";
import { aspaSetColumns, aspasFormat, checkAspas } from "./sections/aspas.ts";
import { checkLocations, locationPrefixes, locationsColumns, locationsFormat } from "./sections/locations.ts";
import { checkNetworkTypes, networkTypePrefixes, networkTypesColumns, networkTypesFormat } from "./sections/network-types.ts";
import { checkProfiles, profilesColumns, profilesFormat } from "./sections/profiles.ts";
import { checkRoutes, routePrefixes, routesFormat } from "./sections/routes.ts";
import { checkVrps, vrpPrefixes, vrpSetColumns, vrpsFormat } from "./sections/vrps.ts";
import type { KeyedTexts } from "./words/changed-word-index.ts";
import type { WordIndex } from "./words/word-index.ts";

/** Packs records of any kind into columns. */
type Pack<S extends ColumnSpec> = (...records: never[]) => Columns<S>;

/** One section. `S`: its columns; `T`: its tables, which become members of a generation; `P`: how it is packed. */
export interface SectionKind<S extends ColumnSpec, T extends object, P extends Pack<S> | null> {
  readonly format: SectionFormat<S>;
  /** Used by `packSection`; null: the builder of the section fills the columns itself. */
  readonly pack: P;
  /** Throws `SectionFormatError`: columns that pass can be read without leaving their bounds. */
  check(columns: Columns<S>): void;
  /** The prefixes that are indexed; null: none are. */
  readonly prefixes: ((columns: Columns<S>) => PrefixColumns) | null;
  /** Whether the operator chooses the form of its IPv4 index. Other sections have fewer prefixes, and the compact form. */
  readonly ipv4IndexIsSet?: true;
  /** The texts that search finds, one per row, with the key of the row; `isGrouped`: rows with the same text are found together. */
  readonly texts?: { of(columns: Columns<S>): KeyedTexts; readonly isGrouped: boolean };
  /** Points at loaded columns; `trie` indexes `prefixes`, and must not be read where these are null. `words`: null if `texts` are not indexed. */
  tables(columns: Columns<S>, trie: PrefixTrie, overlay: RouteOverlay | null, words: WordIndex | null): T;
  /** The tables of a snapshot without the section. */
  readonly none: { readonly [N in keyof T]: null };
  /** The rows that a comparison of two snapshots uses, ascending by key. */
  rows(tables: T): Iterable<SectionRow>;
}

/** Infers the type parameters of a kind. */
function kind<S extends ColumnSpec, T extends object, P extends Pack<S> | null>(of: SectionKind<S, T, P>): SectionKind<S, T, P> {
  return of;
}

export const sectionKinds = {
  routes: kind({
    format: routesFormat,
    pack: null,
    check: checkRoutes,
    prefixes: routePrefixes,
    ipv4IndexIsSet: true,
    tables: (columns, trie, overlay) => ({ routes: new RouteTable({ columns, trie }, overlay) }),
    none: { routes: null },
    rows: ({ routes }) => routeRows(routes),
  }),
  vrps: kind({
    format: vrpsFormat,
    pack: null,
    check: checkVrps,
    prefixes: vrpPrefixes,
    tables(section, trie) {
      const { columns, taNames } = vrpSetColumns(section);
      return { vrps: VrpSet.fromColumns(columns, taNames, trie), vrpCountByAs: { asn: section.as_number, count: section.as_vrps } };
    },
    none: { vrps: null, vrpCountByAs: null },
    rows: ({ vrps }) => vrpRows(vrps),
  }),
  aspas: kind({
    format: aspasFormat,
    pack: null,
    check: checkAspas,
    prefixes: null,
    tables(section) {
      const { columns, taNames } = aspaSetColumns(section);
      return { aspas: AspaSet.fromColumns(columns, taNames) };
    },
    none: { aspas: null },
    rows: ({ aspas }) => aspaRows(aspas),
  }),
  allocations: kind({
    format: allocationsFormat,
    pack: null,
    check: checkAllocations,
    prefixes: allocationPrefixes,
    tables: (columns, trie) => ({ allocations: new AllocationTable(columns, trie) }),
    none: { allocations: null },
    rows: ({ allocations }) => allocationRows(allocations),
  }),
  as_names: kind({
    format: asNamesFormat,
    pack: asNamesColumns,
    check: checkAsNames,
    prefixes: null,
    texts: { of: (columns) => ({ keys: columns.asn, texts: new AsNameTable(columns).texts() }), isGrouped: false },
    tables: (columns, _trie, _overlay, words) => ({ names: new AsNameTable(columns, words) }),
    none: { names: null },
    rows: ({ names }) => nameRows(names),
  }),
  profiles: kind({
    format: profilesFormat,
    pack: profilesColumns,
    check: checkProfiles,
    prefixes: null,
    texts: { of: (columns) => ({ keys: columns.asn, texts: new ProfileTable(columns).texts() }), isGrouped: true },
    tables: (columns, _trie, _overlay, words) => ({ profiles: new ProfileTable(columns, words) }),
    none: { profiles: null },
    rows: ({ profiles }) => profileRows(profiles),
  }),
  network_types: kind({
    format: networkTypesFormat,
    pack: networkTypesColumns,
    check: checkNetworkTypes,
    prefixes: networkTypePrefixes,
    tables: (columns, trie) => ({ networkTypes: new NetworkTypeTable(columns, trie) }),
    none: { networkTypes: null },
    rows: ({ networkTypes }) => networkTypes.rows(),
  }),
  locations: kind({
    format: locationsFormat,
    pack: locationsColumns,
    check: checkLocations,
    prefixes: locationPrefixes,
    tables: (columns, trie) => ({ locations: new LocationTable(columns, trie) }),
    none: { locations: null },
    rows: ({ locations }) => locations.rows(),
  }),
} satisfies { readonly [S in SectionName]: unknown };

type Kinds = typeof sectionKinds;

/** The columns of a section. */
export type SectionColumns<S extends SectionName> = Parameters<Kinds[S]["check"]>[0];

/** A section that has a `pack`. */
export type PackedSection = { [S in SectionName]: Kinds[S]["pack"] extends null ? never : S }[SectionName];

/** A record of a section whose `pack` takes a list of records. */
export type SectionRecord<S extends SectionName> = Kinds[S]["pack"] extends (records: readonly (infer R)[]) => unknown ? R : never;

interface Packed<S extends SectionName> {
  readonly columns: SectionColumns<S>;
  /** The object of the section, in the pieces of `columnPieces`. */
  readonly pieces: Uint8Array[];
}

/** Packs a section. `records` are what its `pack` takes. */
export function packSection<S extends PackedSection>(name: S, ...records: Parameters<Exclude<Kinds[S]["pack"], null>>): Packed<S> {
  const { format, pack } = kindOf(name);
  // The cast is safe by the signature: the section has a pack, which takes these records and returns its columns.
  const columns = (pack as (...records: unknown[]) => Columns<ColumnSpec>)(...records);
  return { columns: columns as SectionColumns<S>, pieces: columnPieces(format, columns) };
}

type TablesOf<S extends SectionName> = ReturnType<Kinds[S]["tables"]>;
type AllTables = { [S in SectionName]: (tables: TablesOf<S>) => void }[SectionName] extends (tables: infer T) => void ? T : never;

/** The tables of a snapshot by name; null: it has no such section. */
export type SectionTables = { readonly [N in keyof AllTables]: AllTables[N] | null };

/** The kind of any section: only names and formats are known. */
export type AnySectionKind = SectionKind<ColumnSpec, object, Pack<ColumnSpec> | null>;

/** The kind of a section whose name is known only at run time. */
export function kindOf(name: SectionName): AnySectionKind {
  return sectionKinds[name] as unknown as AnySectionKind;
}
