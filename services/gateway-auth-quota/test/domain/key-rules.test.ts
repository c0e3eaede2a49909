/** The rules of keys, also for what no key should be. */

import { expect, test } from "@jest/globals";
import { keyRefusal, type RuledKey } from "../../src/domain/key-rules.ts";

const now = Date.UTC(2026, 10, 21);
const key: RuledKey = { state: "active", expiresAt: null, validUntil: null, allowed: [], scopes: new Set(["ip"]) };

test.each([
  ["a good key", {}, null],
  ["before its end", { expiresAt: now + 1 }, null],
  ["at its end", { expiresAt: now }, "expired_api_key"],
  ["disabled", { state: "disabled" }, "disabled_api_key"],
  ["revoked", { state: "revoked" }, "revoked_api_key"],
  ["of an unknown state", { state: "Disabled" }, "disabled_api_key"],
  ["without a state", { state: undefined }, "disabled_api_key"],
  ["with a text for its end", { expiresAt: "2020-01-01" }, "expired_api_key"],
  ["without an end that is null", { expiresAt: undefined }, "expired_api_key"],
  ["with an end that is no number", { validUntil: Number.NaN }, "expired_api_key"],
])("%s", (_what, change, refusal) => {
  expect(keyRefusal({ ...key, ...change } as RuledKey, now, null, "ip")).toBe(refusal);
});
