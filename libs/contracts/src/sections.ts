/** The sections of a snapshot, as the API describes each. Schemas, warning codes and lists of names are derived from here. */

import Type, { type Static, type TOptional, type TSchema } from "typebox";
import { Count, member, record, Timestamp } from "./schema.ts";

/** How fresh one section is, for `meta` and for `/status`. */
export const freshness = {
  version: member(Type.String(), "Version of the section; it changes whenever the content of the section changes."),
  as_of: member(Timestamp, "Time of the data: the time of the oldest source of the section."),
  age_seconds: member(Count, "Age of the data in seconds: from `as_of` to this response."),
  stale: member(
    Type.Boolean(),
    "Whether the data are out of date: older than twice the update interval plus one hour or than the source's limit, dated over an hour in the future, or with more than 1 % of VRPs or ASPAs expired.",
  ),
};

/** How fresh one section is. */
export const SectionData = record(freshness);
export type SectionData = Static<typeof SectionData>;

/** How fresh the routes are, and from how many peers. */
export const RoutesData = record({
  ...freshness,
  peers_total: member(
    record({
      ipv4: member(Count, "Number of full-feed peers for IPv4."),
      ipv6: member(Count, "Number of full-feed peers for IPv6."),
    }),
    "Number of peers that send a full table, by IP version. Visibility is a share of these.",
  ),
  collectors: member(Type.Array(Type.String()), "Route collectors whose tables are included."),
});
export type RoutesData = Static<typeof RoutesData>;

interface SectionContract {
  /** What the section contains, for documentation. */
  readonly meaning: string;
  /** Its member in `meta.data`. */
  readonly data: TSchema;
  /** Its position in `meta.data`, ascending. */
  readonly metaPlace: number;
  /** Whether this version imports it. The names of the others are reserved: clients must expect them. */
  readonly imported: boolean;
  /** The detail of the warning `<section>_unavailable`; null if answers do not need the section. */
  readonly missing: string | null;
}

/** The order is that of `/status`, of manifests and of warning codes. */
export const sectionContracts = {
  routes: {
    meaning: "Announced prefixes with their origins and visibility, from the tables of route collectors.",
    data: RoutesData,
    metaPlace: 2,
    imported: true,
    missing: "no routes are loaded, so announcements are unknown",
  },
  vrps: {
    meaning: "Validated ROA payloads (RFC 6811).",
    data: SectionData,
    metaPlace: 3,
    imported: true,
    missing: "no VRPs are loaded, so RPKI states are unknown",
  },
  aspas: {
    meaning: "Validated ASPAs: the providers that each AS authorises.",
    data: SectionData,
    metaPlace: 4,
    imported: true,
    missing: null,
  },
  allocations: {
    meaning: "Address blocks and AS numbers that the registries have allocated or assigned, from their delegated statistics.",
    data: SectionData,
    metaPlace: 1,
    imported: true,
    missing: "no registry files are loaded, so allocations are unknown",
  },
  as_names: {
    meaning: "Names of AS numbers.",
    data: SectionData,
    metaPlace: 5,
    imported: true,
    missing: null,
  },
  profiles: {
    meaning: "Organisations and websites of AS numbers.",
    data: SectionData,
    metaPlace: 6,
    imported: true,
    missing: null,
  },
  network_types: {
    meaning: "Network types, from profiles and from the operator's own list.",
    data: SectionData,
    metaPlace: 7,
    imported: true,
    missing: null,
  },
  locations: {
    meaning: "Locations of prefixes, from the operator's own observations and from geofeeds (RFC 8805).",
    data: SectionData,
    metaPlace: 8,
    imported: true,
    missing: null,
  },
} as const satisfies Readonly<Record<string, SectionContract>>;

type Contracts = typeof sectionContracts;

/** Every section that the contract names. */
export type SectionName = keyof Contracts;
export const sectionNames = Object.keys(sectionContracts) as SectionName[];

/** A section that this version imports. */
export type ImportedSection = { [S in SectionName]: Contracts[S]["imported"] extends true ? S : never }[SectionName];
export const importedSections = sectionNames.filter((name): name is ImportedSection => sectionContracts[name].imported);

function byMetaPlace(a: SectionName, b: SectionName): number {
  return sectionContracts[a].metaPlace - sectionContracts[b].metaPlace;
}

/** The sections that are imported, in the order of `meta.data`. */
export const metaSections: readonly ImportedSection[] = [...importedSections].sort(byMetaPlace);

/** The members of `meta.data`. */
export function dataMembers(): { [S in SectionName]: TOptional<Contracts[S]["data"]> } {
  return Object.fromEntries(
    [...sectionNames].sort(byMetaPlace).map((name) => {
      const { data, meaning } = sectionContracts[name];
      return [name, Type.Optional(member<TSchema>(data, meaning))];
    }),
  ) as { [S in SectionName]: TOptional<Contracts[S]["data"]> };
}

/** A member for each section, of one schema. */
export function sectionMembers<T extends TSchema>(schema: T): { [S in SectionName]: TOptional<T> } {
  return Object.fromEntries(sectionNames.map((name) => [name, Type.Optional(member(schema, sectionContracts[name].meaning))])) as {
    [S in SectionName]: TOptional<T>;
  };
}
