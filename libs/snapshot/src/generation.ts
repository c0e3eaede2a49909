/** A generation: one snapshot in memory, base sections and overlay, ready to be asked. */

import { PrefixTrie, type PrefixTrieParts } from "@netfacts/prefix-trie";
import { AspaSet, VrpSet } from "@netfacts/rpki";
import { type ColumnSpec, type Columns, decodeColumns, type SectionFormat } from "./columns.ts";
import type { Ipv4IndexForm } from "./ipv4-index.ts";
import { AllocationTable } from "./lookup/allocation-table.ts";
import { AsNameTable } from "./lookup/as-names.ts";
import { NetworkTypeTable } from "./lookup/network-types.ts";
import { ProfileTable } from "./lookup/profiles.ts";
import { type RouteOverlay, RouteTable } from "./lookup/route-table.ts";
import { type Manifest, type SectionName, sectionNames } from "./manifest.ts";
import { allocationPrefixes, allocationsFormat, checkAllocations } from "./sections/allocations.ts";
import { asNamesFormat, checkAsNames } from "./sections/as-names.ts";
import { aspaSetColumns, aspasFormat, checkAspas } from "./sections/aspas.ts";
import { checkNetworkTypes, networkTypePrefixes, networkTypesFormat } from "./sections/network-types.ts";
import { checkProfiles, profilesFormat } from "./sections/profiles.ts";
import { checkRoutes, routePrefixes, routesFormat } from "./sections/routes.ts";
import { checkVrps, vrpPrefixes, vrpSetColumns, vrpsFormat } from "./sections/vrps.ts";

/** A section as it travels between threads: the object's bytes and the parts of its trie, all in shared memory. */
export interface LoadedSection {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  readonly trie: PrefixTrieParts | null;
}

export type LoadedSections = { readonly [S in SectionName]?: LoadedSection };

/** What a loader hands over. */
export interface LoadedSnapshot {
  readonly manifest: Manifest;
  readonly sections: LoadedSections;
}

/** How a section is loaded. */
export interface SectionLoading {
  /** Default: "auto". Only of routes: the other sections have fewer prefixes, and the compact form. */
  readonly ipv4Index?: Ipv4IndexForm;
}

/**
 * Checks a section object and builds its trie: everything that costs more than pointing.
 *
 * Throws `SectionFormatError` or `PrefixOrderError`; a section that comes back can be read without leaving its bounds.
 */
export function loadSection(
  name: SectionName,
  bytes: Uint8Array<SharedArrayBuffer>,
  { ipv4Index = "auto" }: SectionLoading = {},
): LoadedSection {
  switch (name) {
    case "routes": {
      const columns = decodeColumns(routesFormat, bytes);
      checkRoutes(columns);
      return { bytes, trie: PrefixTrie.build(routePrefixes(columns), ipv4Index === "auto" ? {} : { ipv4: ipv4Index }).parts };
    }
    case "vrps": {
      const columns = decodeColumns(vrpsFormat, bytes);
      checkVrps(columns);
      return { bytes, trie: PrefixTrie.build(vrpPrefixes(columns), { ipv4: "compact" }).parts };
    }
    case "allocations": {
      const columns = decodeColumns(allocationsFormat, bytes);
      checkAllocations(columns);
      return { bytes, trie: PrefixTrie.build(allocationPrefixes(columns), { ipv4: "compact" }).parts };
    }
    case "aspas":
      checkAspas(decodeColumns(aspasFormat, bytes));
      return { bytes, trie: null };
    case "as_names":
      checkAsNames(decodeColumns(asNamesFormat, bytes));
      return { bytes, trie: null };
    case "profiles":
      checkProfiles(decodeColumns(profilesFormat, bytes));
      return { bytes, trie: null };
    case "network_types": {
      const columns = decodeColumns(networkTypesFormat, bytes);
      checkNetworkTypes(columns);
      return { bytes, trie: PrefixTrie.build(networkTypePrefixes(columns), { ipv4: "compact" }).parts };
    }
  }
}

type Tables = Pick<Generation, "routes" | "vrps" | "vrpCountByAs" | "aspas" | "allocations" | "names" | "profiles" | "networkTypes">;

/**
 * One snapshot, immutable: a lookup takes the reference once and reads everything from it. A table is null where the
 * snapshot has no such section: not known, which is not the same as not there.
 */
export class Generation {
  readonly manifest: Manifest;
  readonly routes: RouteTable | null;
  readonly vrps: VrpSet | null;
  readonly vrpCountByAs: { readonly asn: Uint32Array; readonly count: Uint32Array } | null;
  readonly aspas: AspaSet | null;
  readonly allocations: AllocationTable | null;
  readonly names: AsNameTable | null;
  readonly profiles: ProfileTable | null;
  readonly networkTypes: NetworkTypeTable | null;

  private constructor(manifest: Manifest, tables: Tables) {
    this.manifest = manifest;
    this.routes = tables.routes;
    this.vrps = tables.vrps;
    this.vrpCountByAs = tables.vrpCountByAs;
    this.aspas = tables.aspas;
    this.allocations = tables.allocations;
    this.names = tables.names;
    this.profiles = tables.profiles;
    this.networkTypes = tables.networkTypes;
  }

  /** Points at loaded sections; costs microseconds. `overlay` carries changes to routes since the snapshot. */
  static of({ manifest, sections }: LoadedSnapshot, overlay: RouteOverlay | null = null): Generation {
    const { routes, vrps, aspas, allocations, as_names, profiles, network_types } = sections;
    const vrpColumns = vrps && decodeTrusted(vrpsFormat, vrps);
    const vrpSet = vrpColumns && vrpSetColumns(vrpColumns);
    const aspaSet = aspas && aspaSetColumns(decodeTrusted(aspasFormat, aspas));
    return new Generation(manifest, {
      routes: routes ? new RouteTable({ columns: decodeTrusted(routesFormat, routes), trie: trieOf(routes) }, overlay) : null,
      vrps: vrps && vrpSet ? VrpSet.fromColumns(vrpSet.columns, vrpSet.taNames, trieOf(vrps)) : null,
      vrpCountByAs: vrpColumns ? { asn: vrpColumns.as_number, count: vrpColumns.as_vrps } : null,
      aspas: aspaSet ? AspaSet.fromColumns(aspaSet.columns, aspaSet.taNames) : null,
      allocations: allocations ? new AllocationTable(decodeTrusted(allocationsFormat, allocations), trieOf(allocations)) : null,
      names: as_names ? new AsNameTable(decodeTrusted(asNamesFormat, as_names)) : null,
      profiles: profiles ? new ProfileTable(decodeTrusted(profilesFormat, profiles)) : null,
      networkTypes: network_types ? new NetworkTypeTable(decodeTrusted(networkTypesFormat, network_types), trieOf(network_types)) : null,
    });
  }

  get id(): string {
    return this.manifest.id;
  }

  /**
   * The same tables, told as stale where `newer` has another object, or everywhere when it is not known: for a snapshot that
   * goes on serving because a newer one was refused.
   */
  overtakenBy(newer: Manifest | null): Generation {
    const sections: Manifest["sections"] = { ...this.manifest.sections };
    for (const name of sectionsOf(this.manifest)) {
      const entry = sections[name];
      if (entry === undefined || newer?.sections[name]?.object === entry.object) continue;
      sections[name] = { ...entry, stale_after_seconds: staleAtOnce };
    }
    return new Generation({ ...this.manifest, sections }, this);
  }

  /** Full-feed peers of a family; 0 where no peer has a full feed or no routes are imported. */
  peersTotal(version: 4 | 6): number {
    const total = this.manifest.sections.routes?.peers_total;
    return (version === 4 ? total?.ipv4 : total?.ipv6) ?? 0;
  }

  /** Full-feed peers that a match of this family needs (docs/design/semantics.md#which-routes-count): 0 = any peer will do. */
  matchPeersMin(version: 4 | 6): number {
    return this.peersTotal(version) >= manyPeers ? (this.manifest.sections.routes?.match_peers_min ?? matchPeersMinDefault) : 0;
  }
}

/** No age is below it. */
const staleAtOnce = -1;

/** From this many full-feed peers on, being seen by few says something. */
export const manyPeers = 10;
/** Full-feed peers a match needs where there are many. */
export const matchPeersMinDefault = 2;

/** Reading again what the loader has checked: only points, the checksum is not computed twice. */
function decodeTrusted<S extends ColumnSpec>(format: SectionFormat<S>, section: LoadedSection): Columns<S> {
  return decodeColumns(format, section.bytes, { checked: true });
}

function trieOf(section: LoadedSection): PrefixTrie {
  return PrefixTrie.fromParts(section.trie as PrefixTrieParts);
}

/** Sections that a manifest names, in a fixed order. */
export function sectionsOf(manifest: Manifest): SectionName[] {
  return sectionNames.filter((name) => manifest.sections[name] !== undefined);
}
