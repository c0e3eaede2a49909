/** A store that refuses everything: lost after a while, and back with its first answer. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { until } from "../../../test/support/http.ts";
import { StoreWatch } from "../src/store-watch.ts";

let watch: StoreWatch | undefined;
afterEach(() => watch?.stop());

/** A store whose answers the test chooses. */
function watched(lostMs: number) {
  const told: (string | null)[] = [];
  let fault: string | null = null;
  let asked = 0;
  const answers: boolean[] = [];
  const time = async (): Promise<number> => {
    asked += 1;
    if (fault !== null) throw new Error(fault);
    return 1;
  };
  watch = new StoreWatch({
    limits: { time },
    lostMs,
    askMs: 5,
    changed: (reason) => told.push(reason),
    asked: (whether) => answers.push(whether),
  });
  return {
    told,
    answers,
    asked: () => asked,
    answer: (next: string | null) => {
      fault = next;
    },
  };
}

test("is lost once it has refused for the time given, says why once, and is back with its first answer", async () => {
  const { told, asked, answer } = watched(50);
  await until(() => asked() > 2);
  expect(watch?.isLost).toBe(false);
  const refusedAt = performance.now();
  answer("no server");
  await until(() => told.length > 0);
  expect(performance.now() - refusedAt).toBeGreaterThanOrEqual(45);
  const before = asked();
  await until(() => asked() > before + 3);
  expect([watch?.isLost, told]).toEqual([true, ["no server"]]);
  answer(null);
  await until(() => told.length > 1);
  expect([watch?.isLost, told]).toEqual([false, ["no server", null]]);
});

test("is not lost by refusals with answers between them", async () => {
  const { told, answers, asked, answer } = watched(60_000);
  for (let turn = 0; turn < 3; turn += 1) {
    const before = asked();
    answer(turn % 2 === 0 ? "busy" : null);
    await until(() => asked() > before + 2);
  }
  expect([watch?.isLost, told]).toEqual([false, []]);
  // Each question shows at once.
  expect(answers.map(String).join("")).toMatch(/^(true)*(false)+(true)+(false)+$/);
});

test("has one question under way, however long it takes", async () => {
  let asked = 0;
  const time = () => {
    asked += 1;
    return new Promise<number>(() => undefined);
  };
  watch = new StoreWatch({ limits: { time }, lostMs: 10, askMs: 5, changed: () => undefined, asked: () => undefined });
  await sleep(200);
  expect(asked).toBe(1);
});
