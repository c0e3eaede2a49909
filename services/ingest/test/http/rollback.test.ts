/**
 * The way back to an earlier snapshot by the operator API: what it changes, what it refuses, and what an import in progress makes of it.
 *
 * @large It makes some ten runs, each in a thread.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { IngestRun, IngestRuns } from "@netfacts/contracts";
import { snapshotsFolder } from "@netfacts/snapshot";
import { Value } from "typebox/value";
import { smallSources } from "../../../../test/support/small-sources.ts";
import { atGate, openGate } from "../support/gated-store.ts";
import { heldSource, holdNext } from "../support/held-store.ts";
import { runsPath, type ServiceHarness, startedRun, startService } from "../support/service.ts";

const path = "/admin/v1/ingest/rollbacks";
const headers = { "content-type": "application/json", "x-netfacts-key-id": "7Q9M3W8K" };

let service: ServiceHarness;
/** Two snapshots of the service. The second one is the current one when a test begins. */
let first: string;
let second: string;
beforeAll(async () => {
  service = await startService();
  first = await imported("NL");
  second = await imported("DE");
});
afterAll(() => service.stop());
/** Services of one test. */
const others: ServiceHarness[] = [];
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop();
});
beforeEach(async () => {
  if ((await currentId()) === first) await service.ended((await rollBack({ snapshot: second, replaces: first })).json.id);
  expect(await service.snapshots.takenBack()).toEqual([]);
});

async function imported(country: string, into = service): Promise<string> {
  smallSources(join(into.folder, "sources"), country);
  const { state, snapshot } = await into.ended(await startedRun(into));
  expect(state).toBe("succeeded");
  return snapshot;
}

const rollBack = (body: unknown, of = service) => of.ask("POST", path, { headers, body: JSON.stringify(body) });
const currentId = () => service.snapshots.currentId();

test("an earlier snapshot becomes the current one, and once more undoes it; both are among the runs and in the audit", async () => {
  const answer = await rollBack({ snapshot: first, replaces: second });
  expect(answer).toMatchObject({ status: 202, json: { state: "running", replaces: second, snapshot: null, report: null } });
  expect(answer.headers.location).toBe(`${runsPath}/${answer.json.id}`);
  const ended = await service.ended(answer.json.id);
  expect([...Value.Errors(IngestRun, ended)]).toEqual([]);
  expect(ended).toMatchObject({
    ...{ state: "succeeded", snapshot: first, replaces: second, started_by: "key:7Q9M3W8K", progress: null, error: null },
    report: { sources: [], sections: [{ name: "allocations", kept: true, counts: { ipv4: 1 } }] },
  });
  expect(await service.snapshots.pointer()).toMatchObject({ published: first, active: first });
  expect((await service.store.audit.list({ limit: 1 }))[0]).toMatchObject({
    ...{ actor: "key:7Q9M3W8K", action: "snapshot.rollback", target: first, details: { replaces: second } },
  });
  const sha256 = (await service.snapshots.getManifest(second)).sections.allocations?.sources[0]?.sha256;
  expect(await service.snapshots.takenBack()).toEqual([{ section: "allocations", name: "ripencc", format: "delegated", sha256 }]);
  const { json } = await service.ask("GET", runsPath);
  expect([...Value.Errors(IngestRuns, json)]).toEqual([]);
  expect(json.items[0]).toMatchObject({ id: answer.json.id, replaces: second });
  const back = await rollBack({ snapshot: second, replaces: first });
  expect(await service.ended(back.json.id)).toMatchObject({ state: "succeeded", snapshot: second });
  expect(await service.snapshots.takenBack()).toEqual([]);
});

test("a run that is started explicitly publishes again what was taken back, and settles it", async () => {
  await service.ended((await rollBack({ snapshot: first, replaces: second })).json.id);
  expect(await service.snapshots.takenBack()).toHaveLength(1);
  expect(await imported("DE")).toBe(second);
  expect(await service.snapshots.takenBack()).toEqual([]);
});

test("what is not kept, not the current one, or current already is refused, and nothing changes", async () => {
  const audit = await service.store.audit.list({ limit: 1 });
  const unknown = "20200101T000000Z-00000000";
  const refused = [
    [{ snapshot: unknown, replaces: second }, 404, "snapshot_not_found"],
    [{ snapshot: first, replaces: first }, 409, "snapshot_conflict"],
    [{ snapshot: first, replaces: unknown }, 409, "snapshot_conflict"],
    [{ snapshot: second, replaces: second }, 409, "snapshot_conflict"],
    [{ snapshot: first }, 400, "invalid_body"],
    [{ snapshot: "", replaces: second }, 400, "invalid_body"],
    [{ snapshot: first, replaces: second, force: true }, 400, "invalid_body"],
    [[], 400, "invalid_body"],
  ] as const;
  for (const [body, status, code] of refused) expect([body, await rollBack(body)]).toMatchObject([body, { status, json: { code } }]);
  expect((await service.ask("POST", `${path}?force=true`, { headers, body: "{}" })).json).toMatchObject({ code: "invalid_parameter" });
  expect((await service.ask("GET", path)).headers.allow).toBe("POST");
  expect(await currentId()).toBe(second);
  expect(await service.store.audit.list({ limit: 1 })).toEqual(audit);
});

test("a snapshot with a damaged object stays what it is: the rollback fails and names the object", async () => {
  const { sections } = await service.snapshots.getManifest(first);
  const object = sections.allocations?.object ?? "";
  const folder = join(service.folder, snapshotsFolder);
  const file = readdirSync(folder, { recursive: true }).find((name) => String(name).includes(object.slice(2))) as string;
  const bytes = readFileSync(join(folder, file));
  const damaged = Buffer.from(bytes);
  damaged[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(join(folder, file), damaged);
  try {
    const { json } = await rollBack({ snapshot: first, replaces: second });
    const ended = await service.ended(json.id);
    expect(ended).toMatchObject({ state: "failed", snapshot: null, replaces: second });
    expect(ended.error).toContain(object.slice(0, 12));
    expect(await currentId()).toBe(second);
  } finally {
    writeFileSync(join(folder, file), bytes);
  }
});

test("beside an import in progress it does not wait, and the import keeps what was taken back", async () => {
  const beside = await startService({
    deps: (deps) => {
      const folder = join(deps.config.INGEST_STATE_DIR, "..");
      return { ...deps, snapshotSource: heldSource(join(folder, snapshotsFolder), folder) };
    },
  });
  others.push(beside);
  const [earlier, current] = [await imported("NL", beside), await imported("DE", beside)];
  smallSources(join(beside.folder, "sources"), "FR");
  holdNext(beside.folder);
  const run = await startedRun(beside);
  await atGate(beside.folder);
  const busy = (await beside.ask("GET", `${runsPath}/${run}`)).json;
  expect([...Value.Errors(IngestRun, busy)]).toEqual([]);
  expect(busy.progress).toMatchObject({ stage: expect.any(String), unit: "steps" });
  const { json } = await rollBack({ snapshot: earlier, replaces: current }, beside);
  expect(await beside.ended(json.id)).toMatchObject({ state: "succeeded", snapshot: earlier });
  openGate(beside.folder);
  expect(await beside.ended(run)).toMatchObject({ state: "succeeded", progress: null, error: null });
  expect(await beside.snapshots.currentId()).toBe(earlier);
});

test("a process that does not lead lets the leader do it, and tells its progress", async () => {
  const standby = await startService({ folder: service.folder });
  others.push(standby);
  const { status, json } = await standby.ask("POST", path, { headers, body: JSON.stringify({ snapshot: first, replaces: second }) });
  expect(status).toBe(202);
  expect(await standby.ended(json.id)).toMatchObject({ state: "succeeded", snapshot: first });
});
