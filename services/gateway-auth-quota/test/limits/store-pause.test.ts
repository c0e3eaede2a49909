/** Pauses of a real store under load: takes time out, and arrive all the same; no unit of the month is lost, and none is admitted twice. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Store } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";
import { type Mongodb, startMongodb } from "../../../../test/support/mongodb.ts";
import { createLimiter, type Decision, type Limiter } from "../../src/limits/index.ts";
import { limitedKey } from "../support/limited-keys.ts";

const limit = 5_000;
const gateways = 2;
/** Longer than a take is waited for, so that its outcome is unknown. */
const pauseMs = 1_200;

let mongodb: Mongodb;
let stores: Store[] = [];
beforeAll(async () => {
  mongodb = await startMongodb({ own: true });
  stores = await Promise.all(Array.from({ length: gateways + 1 }, () => openMongoStore(mongodb.database("pause"))));
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await mongodb.stop();
});

const key = limitedKey({ rate: 1_000_000, month: limit });

function asked(gate: Limiter, count: number): Promise<Decision[]> {
  return Promise.all(Array.from({ length: count }, () => gate.admit(key, { month: 1 })));
}

const admittedOf = (decisions: readonly Decision[]): number => decisions.filter(({ admitted }) => admitted).length;

test("three pauses cost no unit of a month of 5,000", async () => {
  const gates = stores.slice(0, gateways).map(({ limits }) => createLimiter({ store: { limits } }));
  let admissions = 0;
  let pausing = true;
  const load = Promise.all(
    gates.map(async (gate) => {
      for (; pausing; await sleep(5)) {
        const more = admittedOf(await asked(gate, 2));
        admissions += more;
      }
    }),
  );
  for (let pause = 0; pause < 3; pause++) {
    await sleep(300);
    mongodb.freeze();
    await sleep(pauseMs);
    mongodb.thaw();
    await sleep(700);
  }
  pausing = false;
  await load;
  const before = admissions;
  // What was unknown is looked up by a timer, or at the end.
  await sleep(1_500);
  await Promise.all(gates.map((gate) => gate.stop()));
  const last = createLimiter({ store: { limits: (stores[gateways] as Store).limits }, settings: { waitMs: 5_000 } });
  // A busy store may be late at any time, which is no end of the month.
  const isOver = (decision: Decision) => !decision.admitted && decision.code === "quota_exceeded";
  for (let decisions: Decision[] = []; !decisions.some(isOver); await sleep(5)) {
    decisions = await asked(last, 500);
    admissions += admittedOf(decisions);
  }
  await last.stop();
  console.log(`${before} of ${limit} were admitted through the pauses; ${limit - admissions} were lost`);
  expect(before).toBeLessThan(limit);
  expect(admissions).toBe(limit);
});
