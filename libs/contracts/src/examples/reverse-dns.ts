/** The example record of reverse DNS. */

import type { ReverseDnsRecord } from "../records/reverse-dns.ts";
import { metaWithoutData } from "./meta.ts";

export const reverseDnsExample: ReverseDnsRecord = {
  ip: "193.0.6.139",
  query_name: "139.6.0.193.in-addr.arpa",
  status: "ok",
  names: [{ name: "www.ripe.net", ttl_seconds: 3_600, forward: { status: "ok", confirmed: true, addresses: ["193.0.6.139"] } }],
  forward_confirmed: true,
  dnssec: "secure",
  resolver: { duration_ms: 12, attempts: 2 },
  cache: { hit: false, stored_at: "2026-11-21T09:00:02Z", expires_at: "2026-11-21T10:00:02Z", negative: false, stale: false },
  meta: metaWithoutData,
};
