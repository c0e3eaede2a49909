/** How long findings are kept. */

import { expect, test } from "@jest/globals";
import { type Finding, type KeepingRules, makeEntry, negativeTtl, timedOut } from "../../src/domain/resolution.ts";

const rules: KeepingRules = { ttlMinSeconds: 0, ttlMaxSeconds: 1_000, negativeTtlMaxSeconds: 100, failureTtlSeconds: 5 };

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
  const entry = makeEntry({ ...whole, status, ttl, forward: [] }, 1_000_000, rules);
  expect(entry).toMatchObject({ storedAt: 1_000_000, expiresAt: 1_000_000 + seconds * 1_000 });
  expect(entry.negative).toBe(status === "nxdomain" || status === "nodata");
});

const forward = { status: "ok" as const, confirmed: true, addresses: [] };
const whole = { status: "ok" as const, ttl: 600, names: [], namesTotal: 0, dnssec: null };

test.each<[string, Finding["forward"][number], number]>([
  ["an address that lives shorter", { status: "ok", ttl: 60 }, 60],
  ["an address that lives longer", { status: "ok", ttl: 900 }, 600],
  ["an address that may not be kept", { status: "ok", ttl: 0 }, 0],
  ["an absence", { status: "nxdomain", ttl: 900 }, 100],
  ["an absence without a time", { status: "nodata", ttl: null }, 5],
  ["a failure", { status: "servfail", ttl: null }, 5],
  ["a timeout", { status: "timeout", ttl: null }, 5],
])("names are kept as long as the first thing found of them: %s", (_, one, seconds) => {
  const entry = makeEntry({ ...whole, forward: [{ status: "ok", ttl: 3_600 }, one] }, 0, rules);
  expect(entry.expiresAt).toBe(seconds * 1_000);
});

test("a timeout is that of the names, or of any of their addresses", () => {
  const name = { name: "a", ttl: 60, forward };
  expect(timedOut({ status: "timeout", names: [] })).toBe(true);
  expect(timedOut({ status: "ok", names: [name, { ...name, forward: null }] })).toBe(false);
  expect(timedOut({ status: "ok", names: [name, { ...name, forward: { ...forward, status: "timeout" } }] })).toBe(true);
});

test("an absence lasts as long as the lesser of the SOA record's TTL and what it says", () => {
  expect(negativeTtl({ ttl: 60, minimum: 300 })).toBe(60);
  expect(negativeTtl({ ttl: 300, minimum: 60 })).toBe(60);
  expect(negativeTtl(null)).toBeNull();
});
