/**
 * An override does not wait for a run, nor for a server; and the run that it did not wait for publishes what it read.
 *
 * @large It makes whole runs, each in a thread.
 */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Generation, loadSnapshot, type StoreSource, snapshotsFolder } from "@netfacts/snapshot";
import { tryFileLock } from "@netfacts/storage";
import { until } from "../../../../test/support/http.ts";
import { atGate, openGate } from "../support/gated-store.ts";
import { fillDisk, heldSource, holdNext } from "../support/held-store.ts";
import { answer, type HostileServer, serveFile, startHostileServer } from "../support/hostile-server.ts";
import { delegatedFile, namesFile } from "../support/made-files.ts";
import { runsPath, type ServiceHarness, startedRun, startService } from "../support/service.ts";

const patient = { timeoutMs: 60_000 };

let folder: string;
let gate: string;
let service: ServiceHarness;
let server: HostileServer | null = null;
/** Whether an import of another process would have waited while unpublished objects were removed. */
let isLockedAtDiscard: boolean | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-beside-"));
  gate = mkdtempSync(join(folder, "gate-"));
});
afterEach(async () => {
  await service.stop();
  await server?.stop();
  server = null;
  rmSync(folder, { recursive: true, force: true });
});

async function start(more = ""): Promise<void> {
  writeFileSync(join(folder, "registry"), delegatedFile());
  writeFileSync(join(folder, "names"), namesFile());
  writeFileSync(
    join(folder, "sources.yaml"),
    `sources:
  - {name: registry, section: allocations, format: delegated, location: registry}
  - {name: names, section: as_names, format: name-list, location: names, shrink_max: 100%}
${more}`,
  );
  service = await startService({
    folder: join(folder, "home"),
    sources: join(folder, "sources.yaml"),
    scheduled: true,
    deps: (deps) => {
      const discardUnpublished = () => {
        isLockedAtDiscard = tryFileLock(join(folder, "home", "ingest", "runs.lock")) === null;
        return deps.snapshots.discardUnpublished();
      };
      const snapshotSource = heldSource(pathOf(deps.snapshotSource), gate);
      return { ...deps, snapshotSource, snapshots: { ...deps.snapshots, discardUnpublished } };
    },
  });
  await until(async () => (await runs())[0]?.state === "succeeded", patient);
}

const runs = async () => (await service.ask("GET", runsPath)).json.items as { id: string; state: string; started_by: string }[];

async function served() {
  const { snapshots } = service;
  const manifest = await snapshots.getManifest((await snapshots.currentId()) as string);
  const { names } = Generation.of(await loadSnapshot(snapshots, manifest));
  return { manifest, name: (asn: number) => names?.lookupName(asn) ?? null };
}

async function override(name: string | null): Promise<void> {
  const { profiles } = service.store;
  if (name === null) await profiles.delete(1);
  else await profiles.put({ asn: 1, profile: { name }, source: "test", updatedAt: Date.now() });
}

test("an override is published while a run is in progress, and stays when that run publishes", async () => {
  await start();
  const before = await served();
  holdNext(gate);
  writeFileSync(join(folder, "registry"), delegatedFile("ripencc", 12, "20251121"));
  const id = await startedRun(service);
  await atGate(gate);
  for (const name of ["ONE", "ONE, Ltd"]) {
    await override(name);
    await until(async () => (await served()).name(1) === name, patient);
  }
  expect((await runs()).find((run) => run.id === id)?.state).toBe("running");
  expect((await served()).manifest.sections.allocations).toEqual(before.manifest.sections.allocations);

  openGate(gate);
  const run = await service.ended(id);
  expect(run).toMatchObject({ state: "succeeded", error: null });
  const sections = run.report.sections as { name: string; kept: boolean; notes?: string[] }[];
  const told = Object.fromEntries(sections.map(({ name, kept, notes = [] }) => [name, [kept, notes.length]]));
  expect(told).toEqual({ allocations: [false, 0], as_names: [true, 1], profiles: [true, 0] });
  const after = await served();
  expect([after.manifest.id, after.name(1), after.name(2)]).toEqual([run.snapshot, "ONE, Ltd", "NAME-2"]);
  expect(after.manifest.sections.allocations?.object).not.toBe(before.manifest.sections.allocations?.object);

  // What nobody names any more is removed by the next run that has the store for itself.
  await override(null);
  await until(async () => (await served()).name(1) === "NAME-1", patient);
});

test("what a run stored that failed on a full disk is removed when it ends", async () => {
  await start();
  const objects = () => readdirSync(join(folder, "home", snapshotsFolder, "objects")).sort();
  const before = objects();
  holdNext(gate);
  writeFileSync(join(folder, "registry"), delegatedFile("ripencc", 12, "20251121"));
  const id = await startedRun(service);
  await atGate(gate);
  expect(objects()).toHaveLength(before.length + 1);
  fillDisk(gate);
  openGate(gate);
  expect(await service.ended(id)).toMatchObject({
    state: "failed",
    error: expect.stringMatching(/^the disk is full: .*; nothing was published$/),
  });
  expect(objects()).toEqual(before);
  expect(isLockedAtDiscard).toBe(true);
});

test("an override is published while a run waits for a server", async () => {
  const held: Socket[] = [];
  let isSlow = false;
  const serve = serveFile(Buffer.from(delegatedFile("arin", 3)), '"a"');
  server = await startHostileServer((request, socket) => {
    if (isSlow) held.push(socket);
    else if (request.path === "/arin") serve(request, socket);
    else answer(socket, 404);
  });
  await start(
    `  - {name: arin, section: allocations, format: delegated, location: "${server.url}/arin", allow_private: true, required: false}\n`,
  );
  isSlow = true;
  const id = await startedRun(service);
  await until(() => held.length > 0, patient);
  await override("ONE");
  await until(async () => (await served()).name(1) === "ONE", patient);
  expect((await runs()).find((run) => run.id === id)?.state).toBe("running");
  for (const socket of held) socket.destroy();
  isSlow = false;
});

function pathOf(source: StoreSource): string {
  if (source.kind !== "folder") throw new Error("no folder");
  return source.path;
}
