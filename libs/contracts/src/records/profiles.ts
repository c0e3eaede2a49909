/** The records of AS profiles that operators override. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber } from "../facts/units.ts";
import { Asn, member, NullableText, nullable, record, Timestamp } from "../schema.ts";

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

/** What operators say of an AS: at least one member. */
export const ProfileFields = Type.Object(fields, { additionalProperties: false, minProperties: 1 });
export type ProfileFields = Static<typeof ProfileFields>;

export const OverriddenProfile = record({
  asn: member(Asn, "AS number."),
  override: member(ProfileFields, "Fields that are overridden. The sources decide the others."),
  by: member(Type.String(), "Who made the last change: `key:7Q9M3W8K`, `cli:root`."),
  updated_at: member(Timestamp, "Time of the last change."),
  links: member(
    record({
      asn: member(Type.String(), "The record `/asn` of the AS, on the public listener."),
      audit: member(Type.String(), "All changes of this override, in the audit log."),
    }),
    "Paths of related records.",
  ),
});
export type OverriddenProfile = Static<typeof OverriddenProfile>;

export const OverriddenProfiles = record({
  items: member(Type.Array(OverriddenProfile), "Overrides of this page, by AS number."),
  next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
});
export type OverriddenProfiles = Static<typeof OverriddenProfiles>;

export const overriddenProfileFacts: FactsOf<OverriddenProfile> = {
  asn: { from: "overrides", unit: asNumber },
  override: { name: "overrides", organisation: "overrides", website: "overrides", network_types: "overrides" },
  by: "overrides",
  updated_at: "overrides",
  links: { asn: "gateway", audit: "gateway" },
};
export const overriddenProfilesFacts: FactsOf<OverriddenProfiles> = { items: { page: "profile" }, next_cursor: "gateway" };
