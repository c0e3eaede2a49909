/** Builds section `profiles`: the facts of all sources about each AS, joined with PeeringDB's organisations. */

import { type Profile, type ProfileBasis, type ProfilesColumns, profilesColumns } from "@netfacts/snapshot";
import type { ProfileRecord } from "../readers/as-profiles.ts";
import type { Organisation } from "../readers/peeringdb.ts";

/** The records of one source, and the basis of its network types. */
export interface ProfileSource {
  /** Name of the source. */
  readonly source: string;
  readonly basis: ProfileBasis;
  readonly records: ReadonlyMap<number, ProfileRecord>;
}

/**
 * For each AS and each member, the last source in the order of `sources` that says anything about it counts. The name and website of an organisation
 * come from PeeringDB's organisations, if a network names one and no later source says otherwise. The website of the network itself takes precedence
 * over that of its organisation. An AS without any fact in the end has no profile.
 */
export function buildProfiles(
  sources: readonly ProfileSource[],
  organisations: ReadonlyMap<number, { readonly organisation: Organisation }>,
): ProfilesColumns {
  const profiles = new Map<number, Profile>();
  for (const { basis, records } of sources) {
    for (const [asn, record] of records) {
      const before = profiles.get(asn) ?? nothing;
      const of = record.orgId === undefined ? undefined : organisations.get(record.orgId)?.organisation;
      const { networkType } = record;
      // The country belongs to the named organisation: another name means another organisation.
      const country = record.organisation === undefined && of !== undefined ? of.country : undefined;
      const keepsCountry = record.organisation === undefined && of === undefined;
      profiles.set(asn, {
        ...(country !== undefined && { country }),
        ...(keepsCountry && before.country !== undefined && { country: before.country }),
        organisation: firstTold(record.organisation, of?.name, before.organisation),
        website: firstTold(record.website, of?.website ?? undefined, before.website),
        networkType: networkType === undefined ? before.networkType : networkType && { ...networkType, basis },
      });
    }
  }
  for (const [asn, { organisation, website, networkType }] of profiles)
    if (organisation === null && website === null && networkType === null) profiles.delete(asn);
  return profilesColumns(profiles);
}

const nothing: Profile = { organisation: null, website: null, networkType: null };

/** Undefined: nothing is said; null: the source says that there is none. */
function firstTold(...values: readonly (string | null | undefined)[]): string | null {
  return values.find((value) => value !== undefined) ?? null;
}
