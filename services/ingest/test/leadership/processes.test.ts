/**
 * Two ingest processes over a real server: one leads, and the other soon after a stop or a crash.
 *
 * @alone It asserts deadlines.
 */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { Contenders } from "../support/contenders.ts";
import { atGate, openGate } from "../support/gated-store.ts";
import { runsPath } from "../support/service.ts";

const ttlMs = 1_500;
/** What starting timers and asking a server may add to the promise on a busy machine. */
const slackMs = 500;

let contenders: Contenders;
beforeAll(async () => {
  contenders = await Contenders.open(ttlMs);
});
afterAll(() => contenders.close());
beforeEach(() => contenders.begin());
afterEach(() => contenders.end());

test("one leads and the other stands by; a run is started through either", async () => {
  const first = await contenders.start("a", "NL");
  const second = await contenders.start("b", "DE");
  await first.said("this process is now the leader");
  openGate(first.gate);
  await first.said("run succeeded");
  expect(second.lines().some(({ msg }) => msg === "this process is now the leader")).toBe(false);
  const started = await second.ask("POST", runsPath, { "x-netfacts-key-id": "7Q9M3W8K", "x-request-id": "op-7" });
  expect(started).toMatchObject({ status: 202, headers: { "x-request-id": "op-7", location: `${runsPath}/${started.json.id}` } });
  expect(started.json).toMatchObject({ started_by: "key:7Q9M3W8K", state: "running" });
  expect(first.lines().some(({ msg, run }) => msg === "run started" && run === started.json.id)).toBe(true);
  const again = await second.ask("POST", runsPath);
  expect(again).toMatchObject({ status: 409, headers: { "retry-after": "5" } });
  expect(again.json).toMatchObject({
    code: "run_in_progress",
    detail: expect.stringMatching(`^Run ${started.json.id} is in progress\\. `),
  });
  await until(async () => (await second.ask("GET", `${runsPath}/${started.json.id}`)).json.state === "succeeded");
  // Stopped as an orchestrator does it: the lead goes over within a third of the lease.
  const stopped = performance.now();
  const following = second.said("this process is now the leader").then(() => performance.now() - stopped);
  expect(await first.end("SIGTERM")).toBe(0);
  expect(await following).toBeLessThan(ttlMs / 3 + slackMs + 1_000);
});

test("after kill -9 in the middle of a run the other leads within the lease and a third, and ends that run as failed", async () => {
  const first = await contenders.start("a", "NL");
  await atGate(first.gate);
  const second = await contenders.start("b", "DE");
  const [run] = (await second.ask("GET", runsPath)).json.items;
  expect(run.state).toBe("running");
  const killed = performance.now();
  await first.end("SIGKILL");
  await second.said("this process is now the leader");
  expect(performance.now() - killed).toBeLessThan(ttlMs + ttlMs / 3 + slackMs);
  openGate(second.gate);
  await second.said("run succeeded");
  expect((await second.ask("GET", `${runsPath}/${run.id}`)).json).toMatchObject({
    state: "failed",
    snapshot: null,
    error:
      "its process ended or lost leadership before the run ended: see its log, or, if it was killed for memory, raise its memory limit",
  });
  expect(await contenders.snapshots().list()).toHaveLength(1);
});
