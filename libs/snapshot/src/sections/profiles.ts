/** Section `profiles`: the organisation, website and network type of each AS. */

import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat, SectionFormatError } from "../columns.ts";
import { packStrings } from "../strings.ts";
import { checkTypes, packTypes } from "./network-types.ts";

/** Sources of a network type, by code; the format fixes the order. */
export const profileBases = ["peeringdb:net.info_type", "operator:overrides"] as const;
export type ProfileBasis = (typeof profileBases)[number];

const columns = {
  /** Ascending. */
  asn: "u32",
  /** Empty = not given; so is the website. */
  organisation_start: "u32",
  organisation_bytes: "u8",
  website_start: "u32",
  website_bytes: "u8",
  /** Index of the network type's word; 255 = not given. */
  type: "u8",
  /** Code of the source of the type; 0 if there is no type. */
  basis: "u8",
  /** Confidence of the type, in hundredths. */
  confidence: "u8",
  type_start: "u32",
  type_bytes: "u8",
  /** For each AS a run of further types, as indexes of the same words. */
  also_start: "u32",
  also_type: "u8",
  /** Country of the organisation: two letters each, blanks if it is not known. */
  country: "u8",
} as const;

/** Earlier writers had one type and no country: their objects lack the last columns. */
export const profilesFormat: SectionFormat<typeof columns> = {
  kind: "profiles",
  version: 1,
  columns,
  optional: ["also_start", "also_type", "country"],
};
export type ProfilesColumns = Columns<typeof columns>;

/** The profile of an AS; null: not given. */
export interface Profile {
  readonly organisation: string | null;
  readonly website: string | null;
  /** Country of the organisation as given by its source (two capitals); absent: not known. */
  readonly country?: string;
  /** `confidence` from 0 to 1, kept in hundredths; `also`: further types that apply, absent if there are none. */
  readonly networkType: {
    readonly type: string;
    readonly basis: ProfileBasis;
    readonly confidence: number;
    readonly also?: readonly string[];
  } | null;
}

/** Packs profiles by AS number. Throws `RangeError` for more than 255 different types. */
export function profilesColumns(profiles: ReadonlyMap<number, Profile>): ProfilesColumns {
  const asn = Uint32Array.from(profiles.keys()).sort();
  const ordered = Array.from(asn, (number) => profiles.get(number) as Profile);
  const organisations = packStrings(ordered.map(({ organisation }) => organisation ?? ""));
  const websites = packStrings(ordered.map(({ website }) => website ?? ""));
  const first = ordered.map(({ networkType }) => networkType?.type ?? null);
  const also = ordered.map(({ networkType }) => networkType?.also ?? []);
  const types = packTypes([...first, ...also.flat()]);
  const alsoStart = new Uint32Array(ordered.length + 1);
  for (const [index, run] of also.entries()) alsoStart[index + 1] = (alsoStart[index] as number) + run.length;
  return {
    asn,
    organisation_start: organisations.start,
    organisation_bytes: organisations.bytes,
    website_start: websites.start,
    website_bytes: websites.bytes,
    type: types.codes.slice(0, ordered.length),
    basis: Uint8Array.from(ordered, ({ networkType }) => (networkType === null ? 0 : profileBases.indexOf(networkType.basis))),
    confidence: Uint8Array.from(ordered, ({ networkType }) => Math.round((networkType?.confidence ?? 0) * 100)),
    type_start: types.start,
    type_bytes: types.bytes,
    also_start: alsoStart,
    also_type: types.codes.slice(ordered.length),
    country: new Uint8Array(Buffer.from(ordered.map(({ country = "  " }) => country).join(""), "latin1")),
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
  if (section.also_start.length > 0) {
    checkRuns(kind, "also_start", section.also_start, asn.length, section.also_type.length);
    checkBelow(kind, "also_type", section.also_type, section.type_start.length - 1);
  } else checkLengths(kind, 0, { also_type: section.also_type });
  if (section.country.length > 0) checkLengths(kind, asn.length * 2, { country: section.country });
  const fault = section.country.findIndex((letter) => letter !== 0x20 && (letter < 0x41 || letter > 0x5a));
  if (fault >= 0) throw new SectionFormatError(`section ${kind}: column country[${fault}] is neither a capital letter nor a blank`);
}
