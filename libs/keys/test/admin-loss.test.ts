/** What operators lose by a change of an admin key. */

import { expect, test } from "@jest/globals";
import { adminLoss } from "../src/admin-loss.ts";
import { generateKeyText, type KeyRecord } from "../src/index.ts";
import { buildKeyRecord } from "../src/manage.ts";

const now = 1_000_000;
const key = buildKeyRecord({ label: "operator", scopes: ["admin"] }, generateKeyText("live"), null, 0);
const loss = (before: Partial<KeyRecord>, change: Partial<KeyRecord>, address: string | null = "198.51.100.7") =>
  adminLoss({ ...key, ...before }, { ...key, ...before, ...change }, now, address);

const admits = (found: ReturnType<typeof loss>, other: Partial<KeyRecord>) => found?.isMadeUpBy({ ...key, ...other });

test("is the key where it lets nobody in any more, and nothing where it never did", () => {
  for (const change of [{ state: "disabled" }, { state: "revoked" }, { scopes: ["ip"] }, { expiresAt: now }] as const)
    expect(loss({}, change)?.of).toBe("key");
  expect(loss({ scopes: ["ip"] }, { state: "revoked" })).toBeNull();
  expect(loss({ expiresAt: now }, { state: "revoked" })).toBeNull();
  expect(loss({}, { label: "renamed", rate: { limit: 1, windowSeconds: 1 } })).toBeNull();
});

test("is time with a new or earlier expiry, which a key makes up for that lasts longer", () => {
  expect(loss({}, { expiresAt: now + 9 })?.of).toBe("time");
  const earlier = loss({ expiresAt: now + 9 }, { expiresAt: now + 8 });
  expect(earlier?.of).toBe("time");
  expect([now + 8, now + 9, null].map((expiresAt) => admits(earlier, { expiresAt }))).toEqual([false, true, true]);
  for (const expiresAt of [now + 9, now + 10, null]) expect(loss({ expiresAt: now + 9 }, { expiresAt })).toBeNull();
});

test("of networks is made up for by a key that works from the operator's address, or wherever it may be", () => {
  const elsewhere = ["10.0.0.0/8"];
  const made = (address: string | null, allowedCidrs: string[], change: Partial<KeyRecord> = {}) =>
    admits(loss({ allowedCidrs: ["198.51.100.0/24"] }, { allowedCidrs: elsewhere, ...change }, address), { allowedCidrs });
  for (const address of ["198.51.100.7", null]) {
    expect([made(address, elsewhere), made(address, []), made(address, [...elsewhere, "198.51.100.0/24"])]).toEqual([false, true, true]);
  }
  expect([made("198.51.100.7", ["198.51.100.7/32"]), made(null, ["198.51.100.7/32"])]).toEqual([true, false]);
  // With an expiry it must be so, too.
  expect([made(null, elsewhere, { expiresAt: now + 9 }), made(null, [], { expiresAt: now + 9 })]).toEqual([false, true]);
});

test.each([
  [[], ["10.0.0.0/8"], "198.51.100.7", "networks"],
  [["198.51.100.0/24"], ["10.0.0.0/8"], "198.51.100.7", "networks"],
  [[], ["2001:db8::/32"], "198.51.100.7", "networks"],
  [[], ["10.0.0.0/8", "198.51.100.0/24"], "198.51.100.7", null],
  [["10.0.0.0/8"], ["198.51.100.7/32"], "::ffff:198.51.100.7", null],
  [[], ["2001:db8::/32"], "2001:db8::1", null],
  // Nobody's address is known: whatever the key loses may be where operators are.
  [[], ["10.0.0.0/8"], "cli", "networks"],
  [["10.0.0.0/8", "192.0.2.0/24"], ["10.0.0.0/8"], null, "networks"],
  [["10.0.0.0/8"], ["10.0.0.0/8", "192.0.2.0/24"], null, null],
  [["10.0.0.0/8"], ["10.0.0.0/7"], null, null],
  [["10.0.0.0/7"], ["10.0.0.0/8"], null, "networks"],
  [["10.0.0.0/8"], [], null, null],
])("from the networks %j to %j, for %s: %s", (before, allowedCidrs, address, expected) => {
  expect(loss({ allowedCidrs: before }, { allowedCidrs }, address)?.of ?? null).toBe(expected);
});
