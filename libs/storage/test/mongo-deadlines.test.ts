/**
 * What is promised of a MongoDB server that answers nothing: how soon a lease and a key are given up.
 *
 * @alone It asserts deadlines.
 */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import type { LimitWindow, Store } from "../src/index.ts";
import { openMongoStore } from "../src/mongo/index.ts";
import { rejection, timed } from "./store-faults.ts";

let server: Mongodb;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startMongodb({ own: true });
});
afterEach(async () => {
  server.thaw();
  await Promise.all(stores.splice(0).map((store) => store.close()));
});
afterAll(() => server.stop());

async function open(): Promise<Store> {
  const store = await openMongoStore(`${server.url}/deadlines-${stores.length}`);
  stores.push(store);
  return store;
}

const month: LimitWindow = { bucket: "7Q9M3W8K", policy: "month", start: 1_793_491_200, expiresAt: Date.UTC(2100, 0, 1) };

test("a server that answers nothing leaves a lease unknown within 600 ms, and a key within 1.1 s", async () => {
  const store = await open();
  await store.limits.take(month, 10, 5);
  server.freeze();
  const [leases, keys]: [number[], number[]] = [[], []];
  // Those after the first meet no healthy connection, and are as quick. Each kind has a client of its own, so they need not wait for each other.
  const askForLeases = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      const take = await timed(store.limits.take(month, 10, 1));
      expect(take.result).toMatchObject({ outcome: "unknown", cause: { fault: "unavailable" } });
      const back = await timed(store.limits.giveBack(month, 1));
      expect(back.result).toMatchObject({ outcome: "unknown" });
      const read = await timed(rejection(store.limits.read(month)));
      leases.push(take.ms, back.ms, read.ms);
    }
  };
  const askForKeys = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      const key = await timed(rejection(store.keys.find("00000000")));
      expect(key.result.message).toContain("check that the MongoDB server runs");
      keys.push(key.ms);
    }
  };
  await Promise.all([askForLeases(), askForKeys()]);
  for (const [times, deadline] of [
    [leases, 600],
    [keys, 1_100],
  ] as const) {
    times.sort((x, y) => x - y);
    expect(times[Math.floor(times.length / 2)]).toBeLessThan(deadline);
    expect(times.at(-1)).toBeLessThan(10 * deadline);
  }
});

test("a server that answers nothing leaves no request hanging however many come", async () => {
  const store = await open();
  server.freeze();
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const { result, ms } = await timed(Promise.all(Array.from({ length: 300 }, () => store.limits.take(month, 1_000, 1))));
    expect(new Set(result.map(({ outcome }) => outcome))).toEqual(new Set(["unknown"]));
    times.push(ms);
  }
  times.sort((x, y) => x - y);
  expect(times[1]).toBeLessThan(1_000);
  expect(times[2]).toBeLessThan(10_000);
});
