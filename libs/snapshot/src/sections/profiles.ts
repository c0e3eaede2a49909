/** Section `profiles`: who an AS says it is. */

import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat } from "../columns.ts";
import { packStrings } from "../strings.ts";
import { checkTypes, packTypes } from "./network-types.ts";

/** Where a network type comes from, by code; the order is the form's. */
export const profileBases = ["peeringdb:net.info_type", "operator:overrides"] as const;
export type ProfileBasis = (typeof profileBases)[number];

const columns = {
  /** Ascending. */
  asn: "u32",
  /** Empty = not told, as for the website. */
  organisation_start: "u32",
  organisation_bytes: "u8",
  website_start: "u32",
  website_bytes: "u8",
  /** Index of the network type's word; 255 = not told. */
  type: "u8",
  /** Code of where the type comes from, 0 where there is none. */
  basis: "u8",
  /** Of the type, in hundredths. */
  confidence: "u8",
  type_start: "u32",
  type_bytes: "u8",
} as const;

export const profilesFormat: SectionFormat<typeof columns> = { kind: "profiles", version: 1, columns };
export type ProfilesColumns = Columns<typeof columns>;

/** What is known of an AS; null: not told. */
export interface Profile {
  readonly organisation: string | null;
  readonly website: string | null;
  /** `confidence` from 0 to 1, kept in hundredths. */
  readonly networkType: { readonly type: string; readonly basis: ProfileBasis; readonly confidence: number } | null;
}

/** Packs profiles by AS number. Throws `RangeError` for more than 255 different types. */
export function profilesColumns(profiles: ReadonlyMap<number, Profile>): ProfilesColumns {
  const asn = Uint32Array.from(profiles.keys()).sort();
  const ordered = Array.from(asn, (number) => profiles.get(number) as Profile);
  const organisations = packStrings(ordered.map(({ organisation }) => organisation ?? ""));
  const websites = packStrings(ordered.map(({ website }) => website ?? ""));
  const types = packTypes(ordered.map(({ networkType }) => networkType?.type ?? null));
  return {
    asn,
    organisation_start: organisations.start,
    organisation_bytes: organisations.bytes,
    website_start: websites.start,
    website_bytes: websites.bytes,
    type: types.codes,
    basis: Uint8Array.from(ordered, ({ networkType }) => (networkType === null ? 0 : profileBases.indexOf(networkType.basis))),
    confidence: Uint8Array.from(ordered, ({ networkType }) => Math.round((networkType?.confidence ?? 0) * 100)),
    type_start: types.start,
    type_bytes: types.bytes,
  };
}

export function checkProfiles(section: ProfilesColumns): void {
  const { kind } = profilesFormat;
  const { asn, type, basis, confidence } = section;
  checkAscending(kind, "asn", asn);
  checkRuns(kind, "organisation_start", section.organisation_start, asn.length, section.organisation_bytes.length);
  checkRuns(kind, "website_start", section.website_start, asn.length, section.website_bytes.length);
  checkLengths(kind, asn.length, { type, basis, confidence });
  checkTypes(kind, section, { type }, { confidence });
  checkBelow(kind, "basis", basis, profileBases.length);
}
