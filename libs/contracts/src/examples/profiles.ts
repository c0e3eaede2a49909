/** Examples of overrides of AS profiles. */

import type { OverriddenProfile, OverriddenProfiles, ProfileFields } from "../records/profiles.ts";

export const profileFieldsExample: ProfileFields = {
  name: "EXAMPLE-NET",
  organisation: "Example, Ltd",
  website: "https://example.net/",
  network_types: ["isp", "hosting"],
};
export const profileExample: OverriddenProfile = {
  asn: 64_500,
  override: profileFieldsExample,
  by: "key:4H2B8RXA",
  updated_at: "2026-11-21T09:00:02Z",
  links: { asn: "/api/v1/asn/AS64500", audit: "/admin/v1/audit?target=AS64500" },
};
export const profilesExample: OverriddenProfiles = { items: [profileExample], next_cursor: "WzY0NTAwLCJhc24iXQ" };
