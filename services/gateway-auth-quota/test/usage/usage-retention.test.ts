/** Usage that is too old goes, in steps, by the store's clock; a gateway does it by itself. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore, type Store, type UsageRow } from "@netfacts/storage";
import { until } from "../../../../test/support/http.ts";
import { UsageRetention } from "../../src/usage/usage-retention.ts";
import { startGateway } from "../support/gateway.ts";

const dayMs = 86_400_000;
const always = { from: "2000-01-01", to: "2100-01-01" };
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
const row = (index: number, day: string): UsageRow => {
  const keyId = `K${String(index).padStart(7, "0")}`;
  return { keyId, bucket: keyId, day, routeClass: "ip", counted: 1, uncounted: 0 };
};

let folder: string;
let store: Store;
let said: string[];
const log = {
  info: (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`),
  warn: (_: object, message: string) => void said.push(message),
};
beforeEach(async () => {
  said = [];
  folder = mkdtempSync(join(tmpdir(), "netfacts-retention-"));
  store = await openSqliteStore(join(folder, "store.sqlite"));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function clean(options: Partial<ConstructorParameters<typeof UsageRetention>[0]> = {}): Promise<void> {
  const retention = new UsageRetention({ store, log, keptDays: 400, ...options });
  retention.start();
  await until(() => said.length > 0);
  await retention.stop();
}

test("removes all that is too old in many steps, and keeps the rest", async () => {
  const old = Array.from({ length: 1_201 }, (_, index) => row(index, daysAgo(402)));
  const kept = [row(1, daysAgo(401)), row(2, daysAgo(1)), row(3, daysAgo(0))];
  await store.usage.add({ writer: "one", sequence: 1, increments: [...old, ...kept] });
  await clean();
  expect(said).toEqual([`usage older than USAGE_KEPT_DAYS was removed ${JSON.stringify({ rows: 1_201, before: daysAgo(401) })}`]);
  expect(await store.usage.list(always)).toEqual(kept);
});

test("steps that block the event loop leave most of it to requests", async () => {
  let blockedMs = 0;
  let steps = 0;
  const usage = {
    latestDay: async () => daysAgo(0),
    forgetWriters: async () => 0,
    async removeBefore() {
      // No pause follows the last step.
      if (++steps > 6) return 0;
      const begunAt = performance.now();
      while (performance.now() - begunAt < 10);
      blockedMs += performance.now() - begunAt;
      return 500;
    },
  };
  const begunAt = performance.now();
  await clean({ store: { usage, limits: store.limits } });
  expect(performance.now() - begunAt).toBeGreaterThan(3 * blockedMs);
});

test("a clock that is years ahead removes nothing, also not with usage of its day", async () => {
  const kept = [row(1, daysAgo(900)), row(2, daysAgo(500)), row(3, daysAgo(0))];
  await store.usage.add({ writer: "one", sequence: 1, increments: kept });
  const retention = new UsageRetention({ store, log, keptDays: 400 });
  retention.start();
  await retention.stop();
  expect(said).toEqual([]);
  expect(await store.usage.list(always)).toEqual(kept);
});

test("with 0 days everything is kept", async () => {
  await store.usage.add({ writer: "one", sequence: 1, increments: [row(1, daysAgo(4_000))] });
  const retention = new UsageRetention({ store, log, keptDays: 0 });
  retention.start();
  await retention.stop();
  expect(await store.usage.list(always)).toHaveLength(1);
});

test("a store that is away is told, and tried again", async () => {
  let asked = 0;
  const away = async (): Promise<number> => {
    asked += 1;
    throw new Error("away");
  };
  const retention = new UsageRetention({ store: { usage: store.usage, limits: { time: away } }, log, keptDays: 400, intervalMs: 10 });
  retention.start();
  await until(() => asked > 2);
  await retention.stop();
  expect(said[0]).toBe("old usage could not be removed; the next attempt is in a few hours");
});

test("a gateway that listens removes it by itself", async () => {
  const increments = [row(1, daysAgo(100)), row(2, daysAgo(10))];
  const harness = await startGateway({
    config: { USAGE_KEPT_DAYS: 50 },
    storeSeen(seen) {
      void seen.usage.add({ writer: "one", sequence: 1, increments });
      return seen;
    },
  });
  try {
    await harness.gateway.listen();
    await until(async () => (await harness.store.usage.list(always)).length === 1);
    expect(await harness.store.usage.list(always)).toEqual([increments[1]]);
  } finally {
    await harness.stop();
  }
});
