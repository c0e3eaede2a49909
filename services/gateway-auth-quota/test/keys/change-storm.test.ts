/** Changes of keys announced without end, by a publisher that is broken or taken over: reads of the store are bounded, and keys are answered. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createKeyring, type Keyring } from "../../src/keys/index.ts";
import { FakeKeys } from "../support/key-stores.ts";

let keys: FakeKeys;
let publish: (payload: unknown) => void;
let told: number;
let ring: Keyring;
beforeEach(() => {
  keys = new FakeKeys();
  told = 0;
  ring = createKeyring({
    store: keys.store,
    messaging: {
      subscribe(_, listener) {
        publish = listener;
        return { stop: () => undefined };
      },
      watchConnection(listener) {
        listener(true);
        return { stop: () => undefined };
      },
    },
    clock: { now: Date.now },
    onManyChanges: () => {
      told += 1;
    },
  });
});
afterEach(() => ring.stop());

const outcome = async (secret: string): Promise<string> => {
  const verification = await ring.verify(`Bearer ${secret}`, "198.51.100.7");
  return verification.ok ? "ok" : verification.code;
};

const storms: [string, (known: string, count: number) => unknown][] = [
  ["of keys that are in use", (known, count) => ({ key_id: known, version: count })],
  ["of keys that nobody has", (_, count) => ({ key_id: `0000${count % 10_000}`, version: count })],
  ["of plans", (_, count) => ({ plan: `plan-${count % 100}`, version: count })],
  ["that are nonsense", (_, count) => [null, "x", count, [], {}, { key_id: 7 }][count % 6]],
];

test.each(storms)("a storm of changes %s", async (_, message) => {
  const [first, second] = [await keys.create(), await keys.create()];
  expect([await outcome(first.secret), await outcome(second.secret)]).toEqual(["ok", "ok"]);
  keys.reads = 0;
  const since = performance.now();
  const outcomes = new Set<string>();
  let sent = 0;
  // A busy machine sends less in that time.
  while (performance.now() - since < 1_500 || sent <= 2_000) {
    for (let burst = 0; burst < 200; burst++) publish(message(first.id, sent++));
    outcomes.add(await outcome(first.secret));
    outcomes.add(await outcome(second.secret));
    await sleep(1);
  }
  const spans = (performance.now() - since) / 400 + 1;
  expect([...outcomes]).toEqual(["ok"]);
  // 20 at once; then two keys, each once in a span, and once more where a change overtook its reading.
  expect(keys.reads).toBeLessThanOrEqual(2 * 20 + 2 * 2 * spans);
  expect(told).toBe(1);
});

test("a key that is revoked in a storm is refused while the storm lasts", async () => {
  const { id, secret } = await keys.create();
  expect(await outcome(secret)).toBe("ok");
  let sent = 0;
  const storm = setInterval(() => {
    for (let burst = 0; burst < 100; burst++) publish({ key_id: `1111${sent++ % 10_000}`, version: 1 });
  }, 2);
  try {
    for (const end = performance.now() + 10_000; told === 0 && performance.now() < end; ) await sleep(5);
    keys.change(id, { state: "revoked" });
    publish({ key_id: id, version: 2 });
    for (const end = performance.now() + 10_000; (await outcome(secret)) === "ok" && performance.now() < end; ) await sleep(5);
    expect(await outcome(secret)).toBe("revoked_api_key");
  } finally {
    clearInterval(storm);
  }
});

test("a few changes count at once", async () => {
  const { id, secret } = await keys.create();
  for (let change = 0; change < 10; change++) {
    keys.change(id, { state: change % 2 === 0 ? "disabled" : "active" });
    publish({ key_id: id, version: change });
    expect(await outcome(secret)).toBe(change % 2 === 0 ? "disabled_api_key" : "ok");
  }
  expect(told).toBe(0);
});
