/** The records of AS profiles from sources and operators. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber } from "../facts/units.ts";
import { Asn, member, NullableText, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

const name = Type.String({ minLength: 1, maxLength: 256 });
const networkTypes = Type.Array(Type.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" }), { minItems: 1, maxItems: 8, uniqueItems: true });

const fields = {
  name: Type.Optional(member(nullable(name), "Name of the AS; null says that it has none, and absent that the sources decide.")),
  organisation: Type.Optional(
    member(nullable(name), "Organisation that runs the AS; null says that it is unknown, and absent that the sources decide."),
  ),
  website: Type.Optional(
    member(
      nullable(Type.String({ minLength: 1, maxLength: 255 })),
      "Website, an http or https URL; null says that there is none, and absent that the sources decide.",
    ),
  ),
  network_types: Type.Optional(
    member(
      nullable(networkTypes),
      "Network types, the one that fits best first; null says that there are none, and absent that the sources decide.",
    ),
  ),
};

/** An operator's override of a profile: at least one member. */
export const ProfileFields = Type.Object(fields, { additionalProperties: false, minProperties: 1 });
export type ProfileFields = Static<typeof ProfileFields>;

export const profileFieldNames = [
  "name",
  "organisation",
  "organisation_country",
  "website",
  "network_types",
  "registry",
  "registration_country",
  "status",
  "allocated_on",
] as const;

const said = {
  value: member(NullableText, "The value; null says that there is none. Network types are separated by blanks."),
  source: member(Type.String(), "Source that says it: its name in `sources.yaml`, or `override`."),
  as_of: member(NullableText, "Time of the source's data, or of the change for `override`; null if the source has no date."),
};

/** One field of a profile, with what each source and operator stated. */
export const ProfileField = record({
  field: member(oneOf(profileFieldNames), "Name of the field."),
  ...said,
  others: member(Type.Array(record(said)), "Other statements about this field, which do not count. The next in precedence comes first."),
});
export type ProfileField = Static<typeof ProfileField>;

export const AsProfile = record({
  asn: member(Asn, "AS number."),
  fields: member(
    Type.Array(ProfileField),
    "Fields about which anything is said, from the last import of each section and the override of now.",
  ),
  override: member(nullable(ProfileFields), "Fields that are overridden; null if none is."),
  by: member(NullableText, "Who made the last change of the override: `key:7Q9M3W8K`, `cli:root`; null if there is no override."),
  updated_at: member(NullableTimestamp, "Time of the last change of the override; null if there is no override."),
  links: member(
    record({
      asn: member(Type.String(), "The record `/asn` of the AS, on the public listener."),
      audit: member(Type.String(), "All changes of its override, in the audit log."),
    }),
    "Paths of related records.",
  ),
});
export type AsProfile = Static<typeof AsProfile>;

export const AsProfiles = record({
  items: member(Type.Array(AsProfile), "Profiles of this page, by AS number."),
  next_cursor: member(
    NullableText,
    "Cursor of the next page; null on the last page. A page of a search can have fewer items than `limit`, or none, and a cursor.",
  ),
});
export type AsProfiles = Static<typeof AsProfiles>;

const saidFacts = { value: "statements", source: "statements", as_of: "statements" } as const;

export const asProfileFacts: FactsOf<AsProfile> = {
  asn: { from: "request", unit: asNumber },
  fields: { field: "statements", ...saidFacts, others: saidFacts },
  override: { name: "overrides", organisation: "overrides", website: "overrides", network_types: "overrides" },
  by: "overrides",
  updated_at: "overrides",
  links: { asn: "gateway", audit: "gateway" },
};
export const asProfilesFacts: FactsOf<AsProfiles> = { items: { page: "profile" }, next_cursor: "gateway" };
