/** kill -9 at every stage of a scheduled run: what served before serves, and the next start brings the run to its end. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Generation, loadSnapshot, openFolderStore } from "@netfacts/snapshot";
import { until } from "../../../../test/support/http.ts";
import { testProgramArgs } from "../../../../test/support/programs.ts";
import { importSources, readSources } from "../../src/app.ts";
import { openStock } from "../../src/schedule/lead.ts";
import type { RunScope } from "../../src/schedule/run-scope.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { answer, type HostileRequest, type HostileServer, serveFile, startHostileServer, writeHead } from "../support/hostile-server.ts";
import { endAllProcesses, launchProcess } from "../support/launch.ts";
import { delegatedFile, vrpFile } from "../support/made-files.ts";
import { atStage } from "../support/staged-store.ts";

const program = testProgramArgs("services/ingest/test/support/following-process.ts");
let folder: string;
let server: HostileServer;
let vrps: { body: Buffer; etag: string };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-kill-"));
  vrps = { body: Buffer.from(vrpFile(10)), etag: '"1"' };
  server = await startHostileServer((request, socket) => serve(request, socket));
});
afterEach(async () => {
  await endAllProcesses();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function serve(request: HostileRequest, socket: Socket): void {
  if (request.path === "/vrps") serveFile(vrps.body, vrps.etag)(request, socket);
  else if (request.path === "/ripe") serveFile(Buffer.from(delegatedFile()), '"r"')(request, socket);
  else answer(socket, 404);
}

const snapshots = () => openFolderStore(join(folder, "snapshots"));

/** The VRPs that a pod would serve now. */
async function served(): Promise<number | undefined> {
  const store = snapshots();
  const manifest = await store.getManifest((await store.currentId()) ?? "");
  return Generation.of(await loadSnapshot(store, manifest)).vrps?.size;
}

const list = () => join(folder, "sources.yaml");

/** A snapshot of the first version, and a second version that is due. */
async function prepare(): Promise<void> {
  writeFileSync(
    list(),
    `sources:
  - {name: ripe, section: allocations, format: delegated, location: "${server.url}/ripe", allow_private: true}
  - {name: vrps, section: vrps, format: rpki-client-json, location: "${server.url}/vrps", allow_private: true}
`,
  );
  mkdirSync(join(folder, "gate"));
  await importSources({ config: await readSources(list()), store: snapshots(), stateFolder: join(folder, "ingest") });
  expect(await served()).toBe(10);
  rmSync(join(folder, "ingest", "schedule.json"));
  vrps = { body: Buffer.from(vrpFile(11, "2025-11-21T09:50:12Z").padEnd(400_000)), etag: '"2"' };
}

const launch = (stage: string) => launchProcess(program, { FOLDER: folder, SOURCES: list(), GATE: join(folder, "gate"), STAGE: stage });

/** The next start: at its end the second version is served, and nothing is left to do. */
async function comesToItsEnd(): Promise<readonly HostileRequest[]> {
  const before = server.requests.length;
  const next = await launch("");
  await until(async () => (await served()) === 11, { timeoutMs: 60_000 });
  await next.end("SIGKILL");
  return server.requests.slice(before);
}

/** What a schedule would build that looks at the folder as it stands. */
async function sectionsToRun(): Promise<(readonly string[] | null)[]> {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const clock = { now: () => Date.now() };
  const fetching = { userAgent: "netfacts/test", caFile: "" };
  const stock = await openStock({ stateFolder: join(folder, "ingest"), fetching, metrics: null, log: silent, clock });
  const sections: (readonly string[] | null)[] = [];
  const run = async (_starter: unknown, { only }: RunScope) => {
    sections.push(only);
    return { ok: false, message: "", report: null } as const;
  };
  const { signal } = new AbortController();
  const runs = { run, runBeside: run, idle: async () => undefined, wholeRuns: 0 };
  await new Scheduler({ sources: list(), stock, snapshots: snapshots(), runs, clock, log: silent, signal }).look();
  return sections;
}

test("in the middle of a fetch: it is gone on with from where it was safe on the disk", async () => {
  await prepare();
  const big = Buffer.concat([vrps.body, Buffer.alloc(40 << 20, " ")]);
  vrps = { body: big, etag: '"2"' };
  let stalled = false;
  const good = serveFile(big, '"2"');
  server.behave((request, socket) => {
    if (request.path !== "/vrps" || stalled) return request.path === "/vrps" ? good(request, socket) : serve(request, socket);
    stalled = true;
    writeHead(socket, 200, { etag: '"2"', "content-length": big.length });
    socket.write(big.subarray(0, 36 << 20));
  });
  const first = await launch("");
  await until(async () => existsSync(join(folder, "ingest/downloads/vrps/partial.json")), { timeoutMs: 60_000 });
  await first.end("SIGKILL");
  expect(await served()).toBe(10);
  const requests = await comesToItsEnd();
  expect(requests.find(({ path }) => path === "/vrps")?.headers).toMatchObject({
    "if-range": '"2"',
    range: expect.stringMatching(/^bytes=\d{8}-$/),
  });
});

test.each([
  ["before it reads", "getManifest"],
  ["while it builds", "putObject"],
  ["while it verifies", "getObject"],
  ["before it publishes", "publish"],
])("%s: what served before serves, and nothing is fetched twice", async (_when, stage) => {
  await prepare();
  const first = await launch(stage);
  await atStage(join(folder, "gate"));
  await first.end("SIGKILL");
  expect(await served()).toBe(10);
  const requests = await comesToItsEnd();
  // What was asked for before the end is not due again; what was fetched is here.
  expect(requests.map(({ path }) => path)).toEqual([]);
});

test("after it has published: the new version serves, and no run is made again", async () => {
  await prepare();
  const first = await launch("published");
  await atStage(join(folder, "gate"));
  await first.end("SIGKILL");
  expect(await served()).toBe(11);
  const next = await launch("");
  await next.said("a run of a previous leader was marked as failed", 60_000);
  await next.end("SIGKILL");
  expect(await sectionsToRun()).toEqual([]);
  expect(next.lines().some(({ msg }) => msg === "run started")).toBe(false);
});
