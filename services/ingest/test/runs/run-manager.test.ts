/** Runs of a term: what is measured, counted and logged of them. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import type { SnapshotStore } from "@netfacts/snapshot";
import { openSqliteStore, type Store } from "@netfacts/storage";
import { LeadershipLostError, type Term } from "../../src/leadership/leadership.ts";
import { createIngestMetrics } from "../../src/metrics.ts";
import { RunManager } from "../../src/runs/run-manager.ts";
import type { RunOutcome } from "../../src/runs/run-threads.ts";
import { type RunScope, unbegunReport } from "../../src/schedule/run-scope.ts";
import type { SourcesConfig } from "../../src/sources/index.ts";

const starter = { actor: "key:7Q9M3W8K", keyId: null, address: null };
const everything: RunScope = { sources: [], files: {}, only: null };
const report = unbegunReport({ sampleData: false } as SourcesConfig, "");
const succeeded: RunOutcome = { ok: true, report };
const failed: RunOutcome = { ok: false, message: "the store is away", report: null };

let store: Store;
beforeEach(async () => {
  store = await openSqliteStore(":memory:");
});
afterEach(() => store.close());

const lasting = (): Term => ({ signal: new AbortController().signal, confirm: async () => undefined });

function managed(execute: () => RunOutcome, clock = { now: () => 1_000_000 }, term: Term = lasting()) {
  const registry = createRegistry();
  const logged: string[] = [];
  const logger = (level: string) => (_fields: unknown, message?: string) => void logged.push(`${level}: ${message}`);
  const runs = new RunManager(
    {
      store,
      // Nothing is published, so that nothing is asked for.
      snapshots: {} as SnapshotStore,
      restore: async () => undefined,
      sources: "sources.yaml",
      prepare: async () => everything,
      execute: async () => execute(),
      settle: async () => undefined,
      metrics: createIngestMetrics(createMetrics("ingest", registry)),
      log: { info: logger("info"), warn: logger("warn"), error: logger("error") },
      clock,
      saveAgainMs: 1,
    },
    term,
    { activate: async () => ({ activated: true }), resume: async () => null },
  );
  return { runs, registry, logged };
}

test("a run during which the clock is set back took no negative time", async () => {
  let now = 10_000_000;
  const execute = () => {
    now = 1_000_000;
    return succeeded;
  };
  const { runs, registry } = managed(execute, { now: () => now });
  await runs.start(starter);
  await runs.idle();
  const sum = /^netfacts_ingest_run_duration_seconds_sum\{.*\} (.*)$/m.exec(await registry.text())?.[1];
  expect(Number(sum)).toBeGreaterThanOrEqual(0);
});

test("runs of everything that succeeded are counted, and no others", async () => {
  let outcome: RunOutcome = succeeded;
  const { runs } = managed(() => outcome);
  await runs.run(starter, { ...everything, only: ["as_names"] });
  expect(runs.wholeRuns).toBe(0);
  await runs.start(starter);
  await runs.idle();
  expect(runs.wholeRuns).toBe(1);
  outcome = failed;
  await runs.start(starter);
  await runs.idle();
  expect(runs.wholeRuns).toBe(1);
});

test("a run that fails is logged as an error, but not if it ended because the service stops", async () => {
  const failing = managed(() => failed);
  await failing.runs.start(starter);
  await failing.runs.idle();
  expect(failing.logged).toContain("error: run failed; the previous snapshot remains in service");

  const stopping = managed(() => {
    void stopping.runs.stop();
    return failed;
  });
  await stopping.runs.start(starter);
  await stopping.runs.idle();
  expect(stopping.logged).toContain("info: run ended, because the service stops");
  expect(stopping.logged.filter((line) => line.startsWith("error"))).toEqual([]);
});

test("a run whose leader is frozen before it is saved does not stay running under the next leader", async () => {
  const ending = new AbortController();
  const term: Term = { signal: ending.signal, confirm: async () => ending.signal.throwIfAborted() };
  const { runs } = managed(() => succeeded, undefined, term);
  const next = managed(() => succeeded).runs;
  const { append } = store.audit;
  store.audit.append = async (entry) => {
    const appended = await append(entry);
    ending.abort(new LeadershipLostError("another process took the lease; nothing was published"));
    await next.takeOver();
    await next.idle();
    return appended;
  };
  await expect(runs.start(starter)).rejects.toThrow("another process took the lease");
  await runs.idle();
  expect((await store.runs.list(10)).map(({ state }) => state)).not.toContain("running");
});

test("a run whose beginning the store saved without an answer is not left running", async () => {
  const { runs } = managed(() => succeeded);
  const { save } = store.runs;
  let saves = 0;
  store.runs.save = async (run) => {
    await save(run);
    if (++saves === 1) throw new Error("does not answer");
  };
  await expect(runs.start(starter)).rejects.toThrow("does not answer");
  expect(await store.runs.list(10)).toMatchObject([{ state: "failed", report: { started_by: starter.actor, error: "does not answer" } }]);
});

test("the end of a run that the store does not take at once is saved later", async () => {
  const { runs, logged } = managed(() => succeeded);
  const { save } = store.runs;
  let left = 1;
  store.runs.save = async (run) => {
    if (run.state !== "running" && left-- > 0) throw new Error("does not answer");
    await save(run);
  };
  await runs.start(starter);
  await runs.idle();
  expect((await store.runs.list(10)).map(({ state }) => state)).toEqual(["succeeded"]);
  expect(logged.filter((line) => line.startsWith("error"))).toEqual(["error: the result of a run could not be saved"]);
});

test("a run that began while the clock was ahead, and was killed, is ended by the next leader", async () => {
  const now = 100_000_000;
  const past = { startedAt: now, endedAt: now, state: "succeeded", report: null } as const;
  for (let at = 0; at < 150; at++) await store.runs.save({ ...past, id: `run-${at}` });
  await store.runs.save({ id: "ahead", startedAt: now + 86_400_000, endedAt: null, state: "running", report: null });
  await managed(() => succeeded, { now: () => now }).runs.takeOver();
  expect(await store.runs.find("ahead")).toMatchObject({ state: "failed" });
});
