/** How long findings are kept. */

import { expect, test } from "@jest/globals";
import { type Finding, type KeepingRules, makeEntry, negativeTtl } from "../../src/domain/resolution.ts";

const rules: KeepingRules = { namesMax: 2, ttlMaxSeconds: 1_000, negativeTtlMaxSeconds: 100, failureTtlSeconds: 5 };

test.each<[Finding["status"], number | null, number]>([
  ["ok", 60, 60],
  ["ok", 5_000, 1_000],
  ["ok", 0, 0],
  ["nxdomain", 60, 60],
  ["nxdomain", 5_000, 100],
  ["nxdomain", null, 0],
  ["nodata", 60, 60],
  ["nodata", null, 0],
  ["servfail", null, 5],
  ["refused", null, 5],
  ["timeout", null, 0],
])("%s with a TTL of %s is kept for %s seconds", (status, ttl, seconds) => {
  const entry = makeEntry({ status, names: [], ttl }, 1_000_000, rules);
  expect(entry).toMatchObject({ storedAt: 1_000_000, expiresAt: 1_000_000 + seconds * 1_000 });
  expect(entry.negative).toBe(status === "nxdomain" || status === "nodata");
});

test("keeps the first names and how many there were", () => {
  const names = ["a", "b", "c"].map((name) => ({ name, ttl: 60 }));
  expect(makeEntry({ status: "ok", names, ttl: 60 }, 0, rules)).toMatchObject({ names: names.slice(0, 2), namesTotal: 3 });
});

test("an absence lasts as long as the lesser of the SOA record's TTL and what it says", () => {
  expect(negativeTtl({ ttl: 60, minimum: 300 })).toBe(60);
  expect(negativeTtl({ ttl: 300, minimum: 60 })).toBe(60);
  expect(negativeTtl(null)).toBeNull();
});
