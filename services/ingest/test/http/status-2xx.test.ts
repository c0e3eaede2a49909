/** The operator API at work: runs with their reports, sources with their health, and who asked. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { IngestRun, IngestRuns, IngestSources, internalHeaders, KeptSnapshots, reloadSubjects } from "@netfacts/contracts";
import { Value } from "typebox/value";
import { runsPath, type ServiceHarness, startedRun, startService } from "../support/service.ts";

const sourcesPath = "/admin/v1/ingest/sources";

let service: ServiceHarness;
beforeAll(async () => {
  service = await startService();
  await startedRun(service).then((id) => service.ended(id));
});
afterAll(() => service.stop());

test("a fresh installation imports its sources at the start, and serves what it imported", async () => {
  const runs = await service.store.runs.list(10);
  expect(runs.at(-1)).toMatchObject({ state: "succeeded", report: { started_by: "start" } });
  expect(await service.snapshots.currentId()).not.toBeNull();
});

test("a run is started, followed and told, with who asked for it", async () => {
  const headers = { [internalHeaders.keyId]: "7Q9M3W8K", "x-forwarded-for": "192.0.2.1", "x-request-id": "op-1" };
  const started = await service.ask("POST", runsPath, { headers });
  expect(started.status).toBe(202);
  expect(started.headers).toMatchObject({ "x-request-id": "op-1", location: `${runsPath}/${started.json.id}` });
  expect(started.json).toMatchObject({ state: "running", started_by: "key:7Q9M3W8K", ended_at: null, report: null });
  const ended = await service.ended(started.json.id);
  expect(ended).toMatchObject({
    state: "succeeded",
    error: null,
    snapshot: await service.snapshots.currentId(),
    report: { unchanged: true, sources: [{ name: "ripencc", state: "read", accepted: 1 }] },
  });
  expect([...Value.Errors(IngestRun, started.json), ...Value.Errors(IngestRun, ended)]).toEqual([]);
  const [audit] = await service.store.audit.list({ limit: 1 });
  expect(audit).toMatchObject({
    actor: "key:7Q9M3W8K",
    action: "run.start",
    target: started.json.id,
    address: "192.0.2.1",
    keyId: "7Q9M3W8K",
  });
});

test("runs are listed, the latest first, as many as wanted", async () => {
  const all = (await service.ask("GET", runsPath)).json;
  expect([...Value.Errors(IngestRuns, all)]).toEqual([]);
  expect(all.items.length).toBeGreaterThan(1);
  expect((await service.ask("GET", `${runsPath}?limit=1`)).json.items).toEqual(all.items.slice(0, 1));
  expect((await service.ask("HEAD", runsPath)).status).toBe(200);
});

test("a hundred runs that a wrong clock dated in the future hide neither later runs nor the state of sources", async () => {
  const { runs } = service.store;
  const [latest] = (await service.ask("GET", runsPath)).json.items;
  const [source] = (await service.ask("GET", sourcesPath)).json.items;
  const startedAt = Date.UTC(2099, 0, 1);
  for (let number = 0; number < 100; number++)
    await runs.save({ id: `future-${number}`, startedAt, endedAt: startedAt, state: "failed", report: null });
  expect((await service.ask("GET", runsPath)).json.items[0]).toEqual(latest);
  expect((await service.ask("GET", sourcesPath)).json.items[0]).toMatchObject({ run: source.run, read_at: source.read_at });
});

test("a source that fails is told with its cause, beside its last good version", async () => {
  const good = (await service.ask("GET", sourcesPath)).json;
  expect([...Value.Errors(IngestSources, good)]).toEqual([]);
  expect(good.items).toMatchObject([{ name: "ripencc", state: "read", accepted: 1, skipped: 0, stale: null, required: true }]);
  const file = join(service.folder, "sources", "ripencc.txt");
  writeFileSync(file, "nonsense\n");
  const run = await service.ended((await service.ask("POST", runsPath)).json.id);
  expect(run).toMatchObject({ state: "failed", snapshot: null, report: { sources: [{ name: "ripencc", state: "failed" }] } });
  const [bad] = (await service.ask("GET", sourcesPath)).json.items;
  expect(bad).toMatchObject({ state: "kept", accepted: 1, as_of: good.items[0].as_of, run: run.id });
  expect(bad.error).toContain("ripencc.txt");
});

test("faults of the list of sources are told with their lines, and a run with it fails for them", async () => {
  const list = join(service.folder, "sources", "sources.yaml");
  writeFileSync(list, "sources:\n  - {name: x, section: nothing, format: delegated, location: x}\n");
  const { items, faults } = (await service.ask("GET", sourcesPath)).json;
  expect(items).toEqual([]);
  expect(faults[0]).toContain("sources.yaml:2");
  const run = await service.ended((await service.ask("POST", runsPath)).json.id);
  expect(run).toMatchObject({ state: "failed", report: null });
  expect(run.error).toContain("sources.yaml:2");
});

test("without SOURCES a run says what to set", async () => {
  const alone = await startService({ sources: "" });
  const run = await alone.ended(await startedRun(alone));
  expect(run).toMatchObject({ state: "failed", error: "no sources are configured: set SOURCES to a sources.yaml" });
  expect((await alone.ask("GET", sourcesPath)).json).toEqual({
    items: [],
    faults: ["SOURCES does not name a sources.yaml"],
    list_sha256: null,
  });
  await alone.stop();
});

test("kept snapshots are listed, the newest first, with what pods reported", async () => {
  const report = { pod: "pod-a", service: "ip-routing", serving: null, snapshot: null, outcome: null, reason: null };
  service.broadcast.publish(reloadSubjects.loaded, report);
  const { json } = await service.ask("GET", "/admin/v1/ingest/snapshots");
  expect([...Value.Errors(KeptSnapshots, json)]).toEqual([]);
  expect(json.items.map(({ id }: { id: string }) => id)).toEqual((await service.snapshots.list()).toReversed());
  expect(json.items[0]).toMatchObject({ id: await service.snapshots.currentId(), current: true, served: true, sample_data: false });
  expect(json.items[0].sections).toMatchObject([{ name: "allocations", counts: expect.anything() }]);
  expect(json.pods).toEqual([report]);
  expect((await service.ask("HEAD", "/admin/v1/ingest/snapshots")).status).toBe(200);
});
