/** An example of every record. Documentation shows these, and tests answer with them. */

import { type OperationName, operations, type RecordOf } from "../operations/index.ts";
import type { MeRecord } from "../records/me.ts";
import type { Problem } from "../records/problem.ts";
import { rollbackExample, rollbackRequestExample, runExample, runRequestExample, runsExample, sourcesExample } from "./ingest.ts";
import {
  auditExample,
  createdKeyExample,
  keyPatchExample,
  keyRotationExample,
  managedKeyExample,
  managedKeysExample,
  newKeyExample,
  planExample,
  planLimitsExample,
  plansExample,
  rotatedKeyExample,
} from "./keys.ts";
import { metaWithoutData } from "./meta.ts";
import { observationsDeletedExample, storedObservationExample, uploadExample, uploadsExample } from "./observations.ts";
import { profileExample, profileFieldsExample, profilesExample } from "./profiles.ts";
import { snapshotChangesExample, snapshotsExample } from "./snapshots.ts";
import { usageExample } from "./usage.ts";

const meExample: MeRecord = {
  key: {
    id: "7Q9M3W8K",
    label: "siem-prod",
    display: "nf_live_7Q9M3W8K_…x4Pq",
    scopes: ["ip", "routing", "asn", "prefix", "reverse_dns"],
    created_at: "2026-09-01T10:00:00Z",
    expires_at: null,
    rotation: { replaced_by: null, valid_until: null },
    allowed_cidrs: ["198.51.100.0/24"],
  },
  plan: "team",
  limits: [
    { name: "rate", limit: 600, window_seconds: 60, used: 1, remaining: 599, resets_in_seconds: 37 },
    { name: "month", limit: 100_000, used: 1_769, remaining: 98_231, resets_at: "2026-12-01T00:00:00Z", resets_in_seconds: 831_598 },
  ],
  client: { ip: "198.51.100.7" },
  meta: metaWithoutData,
};

const problemExample: Problem = {
  type: "/docs/errors/prefix_has_host_bits",
  title: "The prefix has host bits set",
  status: 400,
  code: "prefix_has_host_bits",
  detail: "193.0.6.139/21 has bits set beyond its length.",
  instance: "/api/v1/prefix/193.0.6.139/21",
  request_id: "01JD5T7Q9M3W8K2V6B4N1XCZPE",
  errors: [{ location: "path.network", code: "prefix_has_host_bits", message: "host bits are set", suggestion: "193.0.0.0/21" }],
};

const ofOperations = Object.fromEntries(Object.values(operations).map(({ name, example }) => [name, example])) as {
  readonly [O in OperationName]: RecordOf<O>;
};

/** The answers of the operations by name, those of ingest for operators, and `me` and a `problem`, which the gateway makes itself. */
export const examples = {
  ...ofOperations,
  me: meExample,
  run: runExample,
  run_request: runRequestExample,
  rollback: rollbackExample,
  rollback_request: rollbackRequestExample,
  runs: runsExample,
  sources: sourcesExample,
  snapshots: snapshotsExample,
  snapshot_changes: snapshotChangesExample,
  upload: uploadExample,
  uploads: uploadsExample,
  stored_observation: storedObservationExample,
  observations_deleted: observationsDeletedExample,
  managed_key: managedKeyExample,
  managed_keys: managedKeysExample,
  created_key: createdKeyExample,
  rotated_key: rotatedKeyExample,
  new_key: newKeyExample,
  key_patch: keyPatchExample,
  key_rotation: keyRotationExample,
  plan: planExample,
  plans: plansExample,
  plan_limits: planLimitsExample,
  profile: profileExample,
  profiles: profilesExample,
  profile_fields: profileFieldsExample,
  audit: auditExample,
  usage: usageExample,
  problem: problemExample,
} as const;
