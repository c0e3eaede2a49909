/** An example of every record, as the contract shows it: documentation is made of these, and tests answer with them. */

import type { MeRecord } from "../records/me.ts";
import type { Problem } from "../records/problem.ts";
import type { ReverseDnsRecord } from "../records/reverse-dns.ts";
import type { StatusRecord } from "../records/status.ts";
import { runExample, runRequestExample, runsExample, sourcesExample } from "./ingest.ts";
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
import { asnExample, ipExample, prefixExample, routingExample, validityExample } from "./lookups.ts";
import { metaWithoutData } from "./meta.ts";
import { usageExample } from "./usage.ts";

const reverseDnsExample: ReverseDnsRecord = {
  ip: "193.0.6.139",
  query_name: "139.6.0.193.in-addr.arpa",
  status: "ok",
  names: [{ name: "www.ripe.net", ttl_seconds: 3_600, forward: { status: "ok", confirmed: true, addresses: ["193.0.6.139"] } }],
  forward_confirmed: true,
  dnssec: "secure",
  resolver: { duration_ms: 12, attempts: 1 },
  cache: { hit: false, stored_at: "2026-11-21T09:00:02Z", expires_at: "2026-11-21T10:00:02Z", negative: false },
  meta: metaWithoutData,
};

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

const statusExample: StatusRecord = {
  ready: true,
  sections: {
    routes: {
      version: "20261121.0855",
      as_of: "2026-11-21T08:55:00Z",
      age_seconds: 302,
      stale: false,
      counts: { ipv4: 888_633, ipv6: 156_836 },
      sources: [
        {
          name: "rrc00",
          as_of: "2026-11-21T08:55:00Z",
          fetched_at: "2026-11-21T08:56:10Z",
          accepted: 1_045_469,
          skipped: 3,
          error: null,
        },
      ],
    },
  },
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

/** The answers of the operations by name, those that ingest makes for operators, and `me` and a `problem`, which the gateway itself makes. */
export const examples = {
  ip: ipExample,
  routing: routingExample,
  asn: asnExample,
  prefix: prefixExample,
  reverse_dns: reverseDnsExample,
  validity: validityExample,
  status: statusExample,
  me: meExample,
  run: runExample,
  run_request: runRequestExample,
  runs: runsExample,
  sources: sourcesExample,
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
  audit: auditExample,
  usage: usageExample,
  problem: problemExample,
} as const;
