/** Keys and plans that are not valid in the store. */

import { beforeEach, expect, test } from "@jest/globals";
import { createKeyring, type Keyring } from "../../src/keys/index.ts";
import { FakeKeys } from "../support/key-stores.ts";

let keys: FakeKeys;
let ring: Keyring;
let monotonicMs: number;
beforeEach(() => {
  keys = new FakeKeys();
  monotonicMs = 1_000;
  ring = createKeyring({ store: keys.store, clock: { now: () => 0, monotonic: () => monotonicMs } });
});

async function outcome({ secret }: { secret: string }): Promise<string> {
  const verification = await ring.verify(`Bearer ${secret}`, "198.51.100.7", "ip");
  return verification.ok ? "ok" : verification.code;
}

test("a key that is not valid is refused, no other is, and it is no failed key", async () => {
  const [bad, other] = [await keys.create(), await keys.create()];
  keys.invalid = bad.id;
  for (let i = 0; i < 40; i++) expect(await outcome(bad)).toBe("internal_error");
  expect(await outcome(other)).toBe("ok");
  keys.invalid = null;
  expect(await outcome(bad)).toBe("ok");
});

test("a key that was valid is refused when it is read again: it may have been changed to end it", async () => {
  const bad = await keys.create();
  expect(await outcome(bad)).toBe("ok");
  keys.invalid = bad.id;
  monotonicMs += 30_001;
  expect(await outcome(bad)).toBe("internal_error");
});

test("a key that was refused as not valid stays refused while the store is away", async () => {
  const bad = await keys.create();
  expect(await outcome(bad)).toBe("ok");
  keys.invalid = bad.id;
  monotonicMs += 30_001;
  expect(await outcome(bad)).toBe("internal_error");
  keys.away = true;
  monotonicMs += 3_000;
  expect(await outcome(bad)).toBe("upstream_unavailable");
});

test("a plan that is not valid refuses its keys only", async () => {
  const [bad, other] = [await keys.create({ plan: "gold" }), await keys.create()];
  keys.invalid = "gold";
  expect([await outcome(bad), await outcome(other)]).toEqual(["internal_error", "ok"]);
});
