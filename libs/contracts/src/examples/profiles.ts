/** Examples of AS profiles. */

import type { AsProfile, AsProfiles, ProfileFields } from "../records/profiles.ts";

export const profileFieldsExample: ProfileFields = {
  name: "EXAMPLE-NET",
  organisation: "Example, Ltd",
  website: "https://example.net/",
  network_types: ["isp", "hosting"],
};
export const profileExample: AsProfile = {
  asn: 64_500,
  fields: [
    {
      field: "name",
      value: "EXAMPLE-NET",
      source: "override",
      as_of: "2026-11-21T09:00:02Z",
      others: [{ value: "EXAMPLE", source: "names", as_of: "2026-11-20T04:00:00Z" }],
    },
    { field: "organisation", value: "Example, Ltd", source: "override", as_of: "2026-11-21T09:00:02Z", others: [] },
    { field: "website", value: "https://example.net/", source: "override", as_of: "2026-11-21T09:00:02Z", others: [] },
    { field: "network_types", value: "isp hosting", source: "override", as_of: "2026-11-21T09:00:02Z", others: [] },
    { field: "registry", value: "ripencc", source: "ripencc", as_of: "2026-11-20T00:00:00Z", others: [] },
  ],
  override: profileFieldsExample,
  by: "key:4H2B8RXA",
  updated_at: "2026-11-21T09:00:02Z",
  links: { asn: "/api/v1/asn/AS64500", audit: "/admin/v1/audit?target=AS64500" },
};
export const profilesExample: AsProfiles = { items: [profileExample], next_cursor: "WzY0NTAwLCJhc24iXQ" };
