/** Two ingest processes over a real server, and a leader that is frozen for longer than its lease: it goes on as a leader no more. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { Contenders } from "../support/contenders.ts";
import { atGate, openGate } from "../support/gated-store.ts";
import type { IngestProcess } from "../support/launch.ts";
import { runsPath } from "../support/service.ts";

const ttlMs = 2_000;

let contenders: Contenders;
beforeAll(async () => {
  contenders = await Contenders.open(ttlMs);
});
afterAll(() => contenders.close());
beforeEach(() => contenders.begin());
afterEach(() => contenders.end());

function endOfRun(process: IngestProcess): Promise<unknown> {
  return Promise.race([process.said("run failed; the previous snapshot remains in service"), process.said("run succeeded")]);
}

/** Freezes a leader in the middle of its run for longer than its lease, lets the other publish, and lets it go on. */
async function thawedAfterAnother(
  settings: Record<string, string>,
): Promise<{ before: string | null; published: string[]; ended: unknown; first: IngestProcess; second: IngestProcess }> {
  const first = await contenders.start("a", "NL", settings);
  await atGate(first.gate);
  const second = await contenders.start("b", "DE");
  first.child.kill("SIGSTOP");
  openGate(second.gate);
  // Its run may fail: on a busy machine its lease can expire after the publication.
  await endOfRun(second);
  const before = await contenders.snapshots().currentId();
  openGate(first.gate);
  first.child.kill("SIGCONT");
  const ended = await endOfRun(first);
  // And not the current one: the other may have published its own once more by now.
  return { before, published: await contenders.snapshots().list(), ended, first, second };
}

test("a leader that was frozen for longer than its lease publishes nothing when it goes on", async () => {
  const { before, published, first, second } = await thawedAfterAnother({});
  expect(published).toEqual([before]);
  await first.said("this process is no longer the leader");
  // And what it believes of its run does not go over what the new leader said of it.
  const { run } = await first.said("run started");
  await sleep(ttlMs);
  const state = async () => (await second.ask("GET", `${runsPath}/${run}`)).json.state as string | undefined;
  // On a busy machine its own lease may have expired, too: then it answers a moment later.
  await until(async () => (await state()) !== undefined);
  expect(await state()).toBe("failed");
  // It stands by, and hands requests on.
  await until(async () => (await first.ask("POST", runsPath)).status === 202);
});

test("planted fault: with a lease that is believed and a pointer that is not compared, it would have published", async () => {
  const { before, published, ended } = await thawedAfterAnother({ UNFENCED: "1" });
  const other = expect.not.stringMatching(`^${before}$`);
  expect({ published, ended }).toMatchObject({ published: expect.arrayContaining([before, other]) });
});
