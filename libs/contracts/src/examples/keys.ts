/** Examples of keys, plans and the audit. */

import type { AuditRecords } from "../records/audit.ts";
import type {
  CreatedKey,
  KeyPatch,
  KeyRotation,
  ManagedKey,
  ManagedKeys,
  NewKey,
  Plan,
  PlanLimits,
  Plans,
  RotatedKey,
} from "../records/keys.ts";

export const managedKeyExample: ManagedKey = {
  id: "7Q9M3W8K",
  display: "nf_live_7Q9M3W8K_…x4Pq",
  label: "siem-prod",
  environment: "live",
  state: "active",
  scopes: ["ip", "routing", "asn", "prefix", "reverse_dns"],
  allowed_cidrs: ["198.51.100.0/24"],
  plan: "team",
  rate: null,
  month: { limit: 250_000 },
  concurrency: null,
  bucket: "7Q9M3W8K",
  created_at: "2026-09-01T10:00:00Z",
  expires_at: null,
  rotation: { replaced_by: null, rotated_at: null, valid_until: null },
  pepper_id: "2026-09",
  version: 1,
};

/** In the form of a secret, but not a valid one, so that no scanner for secrets reports it. */
const secretExample = "nf_live_7Q9M3W8K_<38 characters, shown only once>";

export const managedKeysExample: ManagedKeys = { items: [managedKeyExample], next_cursor: "WzE3NTY3MjA4MDAwMDAsIjdROU0zVzhLIl0" };
export const createdKeyExample: CreatedKey = { ...managedKeyExample, secret: secretExample };

export const rotatedKeyExample: RotatedKey = {
  ...managedKeyExample,
  id: "2F8ZC5TN",
  display: "nf_live_2F8ZC5TN_…Kd0a",
  created_at: "2026-11-21T09:00:02Z",
  secret: secretExample.replace("7Q9M3W8K", "2F8ZC5TN"),
  replaces: { id: "7Q9M3W8K", valid_until: "2026-11-22T09:00:02Z" },
};

export const newKeyExample: NewKey = {
  label: "siem-prod",
  scopes: ["ip", "routing", "asn", "prefix", "reverse_dns"],
  allowed_cidrs: ["198.51.100.0/24"],
  plan: "team",
  month: { limit: 250_000 },
};
export const keyPatchExample: KeyPatch = { plan: "partner", month: null, expires_at: "2027-12-31T00:00:00Z" };
export const keyRotationExample: KeyRotation = { overlap_seconds: 604_800 };

export const planLimitsExample: PlanLimits = {
  rate: { limit: 600, window_seconds: 60 },
  month: { limit: 100_000 },
  concurrency: { limit: 16 },
};
export const planExample: Plan = {
  name: "team",
  rate: { limit: 600, window_seconds: 60 },
  month: { limit: 100_000 },
  concurrency: { limit: 16 },
  updated_at: "2026-09-01T09:58:00Z",
};
export const plansExample: Plans = { items: [planExample] };

export const auditExample: AuditRecords = {
  items: [
    {
      id: "0c4f3c9e-5d0b-4b0c-9b1e-0f6f0d1c2b3a",
      at: "2026-11-21T09:00:02Z",
      actor: "key:4H2B8RXA",
      action: "key.update",
      target: "7Q9M3W8K",
      address: "198.51.100.7",
      key_id: "4H2B8RXA",
      details: { changes: { plan: { from: "team", to: "partner" } }, version: 2 },
    },
  ],
  next_cursor: null,
};
