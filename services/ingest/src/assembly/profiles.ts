/** Builds section `profiles`: what the sources say of each AS, joined with PeeringDB's organisations. */

import { type Profile, type ProfileBasis, type ProfilesColumns, profilesColumns } from "@netfacts/snapshot";
import type { ProfileRecord } from "../readers/as-profiles.ts";
import type { Organisation } from "../readers/peeringdb.ts";

/** What one source says, with what its network types rest on. */
export interface ProfileSource {
  /** Its name. */
  readonly source: string;
  readonly basis: ProfileBasis;
  readonly records: ReadonlyMap<number, ProfileRecord>;
}

/**
 * Of each AS and each of its members what the last source says that says anything of it, in the order of `sources`. An organisation's
 * name and website come from PeeringDB's organisations where a network names one and no later source says otherwise; a website of the
 * network itself goes before that of its organisation. An AS of which nothing is known in the end has no profile.
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
      // The country is that of the organisation which is named: another name says that it is another one.
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

/** Undefined: nothing is said; null: it is said that there is none. */
function firstTold(...values: readonly (string | null | undefined)[]): string | null {
  return values.find((value) => value !== undefined) ?? null;
}
