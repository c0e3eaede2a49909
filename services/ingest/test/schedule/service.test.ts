/**
 * The schedule within the service: runs of its own accord, told by the operator API of any process.
 *
 * @large It makes whole runs, each in a thread.
 */

import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { IngestSources } from "@netfacts/contracts";
import { Value } from "typebox/value";
import { until } from "../../../../test/support/http.ts";
import { answer, type HostileServer, serveFile, startHostileServer } from "../support/hostile-server.ts";
import { delegatedFile, vrpFile } from "../support/made-files.ts";
import { runsPath, type ServiceHarness, startService } from "../support/service.ts";

const sourcesPath = "/admin/v1/ingest/sources";
const patient = { timeoutMs: 60_000 };

let folder: string;
let server: HostileServer;
let vrps: string | null;
const services: ServiceHarness[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-scheduled-"));
  vrps = vrpFile();
  server = await startHostileServer((request, socket) => {
    if (request.path === "/ripe") serveFile(Buffer.from(delegatedFile()), '"r"')(request, socket);
    else if (request.path === "/vrps" && vrps !== null) serveFile(Buffer.from(vrps), `"${vrps.length}"`)(request, socket);
    else answer(socket, 404);
  });
  writeFileSync(
    join(folder, "sources.yaml"),
    `sources:
  - {name: ripe, section: allocations, format: delegated, location: "http://user:hidden@127.0.0.1:${server.port}/ripe", allow_private: true}
  - {name: vrps, section: vrps, format: rpki-client-json, location: "${server.url}/vrps", allow_private: true, interval: 1s, required: false}
`,
  );
});
afterEach(async () => {
  for (const service of services.splice(0).reverse()) await service.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<ServiceHarness> {
  const service = await startService({ folder: join(folder, "home"), sources: join(folder, "sources.yaml"), scheduled: true });
  services.push(service);
  return service;
}

const runsOf = async (service: ServiceHarness) => (await service.ask("GET", runsPath)).json.items;

test("imports at its start, then what changed and nothing else, and says who asked for it", async () => {
  const service = await start();
  await until(async () => (await runsOf(service))[0]?.state === "succeeded", patient);
  expect(await runsOf(service)).toMatchObject([{ started_by: "start" }]);
  vrps = vrpFile(12, "2025-11-21T09:50:12Z");
  await until(async () => (await runsOf(service)).length === 2 && (await runsOf(service))[0].state === "succeeded", patient);
  const [{ id }] = await runsOf(service);
  const { json: run } = await service.ask("GET", `${runsPath}/${id}`);
  expect(run).toMatchObject({ started_by: "schedule", report: { sources: [{ name: "vrps", accepted: 12, url: `${server.url}/vrps` }] } });
  expect(run.report.sections.map(({ name, kept }: { name: string; kept: boolean }) => [name, kept])).toEqual(
    expect.arrayContaining([
      ["vrps", false],
      ["allocations", true],
    ]),
  );
  // A source that is away makes no run, and is told by whoever is asked.
  vrps = null;
  const other = await start();
  const healthOf = async (asked: ServiceHarness) => (await asked.ask("GET", sourcesPath)).json;
  await until(async () => ((await healthOf(other)).items[1].schedule?.failures ?? 0) > 0, patient);
  const health = await healthOf(other);
  expect([...Value.Errors(IngestSources, health)]).toEqual([]);
  expect(health.items).toMatchObject([
    { name: "ripe", state: "read", schedule: { failures: 0, error: null, refused: null, url: `${server.url}/ripe` } },
    {
      name: "vrps",
      state: "kept",
      error: `${server.url}/vrps: the server returned status 404`,
      accepted: 12,
      schedule: { error: `${server.url}/vrps: the server returned status 404`, url: `${server.url}/vrps` },
    },
  ]);
  expect(JSON.stringify(health)).not.toContain("hidden");
  expect(JSON.stringify(services.flatMap(({ log }) => log))).not.toContain("hidden");
  // What it had is there again: no run is needed to see that nothing is wrong any more.
  vrps = vrpFile(12, "2025-11-21T09:50:12Z");
  await until(async () => (await healthOf(other)).items[1].schedule?.failures === 0, patient);
  expect((await healthOf(other)).items[1]).toMatchObject({ state: "read", error: null, accepted: 12 });
  expect(await runsOf(service)).toHaveLength(2);
});

test("a source that was never read says that it failed, and the list can be told from another one", async () => {
  vrps = null;
  const service = await start();
  const health = async () => (await service.ask("GET", sourcesPath)).json;
  await until(async () => (await health()).items[1].schedule?.error != null && (await health()).items[0].state === "read", patient);
  const list = readFileSync(join(folder, "sources.yaml"));
  expect(await health()).toMatchObject({
    items: [{ state: "read" }, { state: "failed", error: `${server.url}/vrps: the server returned status 404` }],
    list_sha256: createHash("sha256").update(list).digest("hex"),
  });
});

test("while nobody leads, there is what the snapshot and the runs tell, and no schedule", async () => {
  const first = await start();
  await until(async () => (await runsOf(first))[0]?.state === "succeeded", patient);
  const second = await start();
  services.splice(services.indexOf(first), 1);
  // Its lease goes over to the second within a third of its length; until then there is no schedule to tell.
  await first.stop();
  const { items } = (await second.ask("GET", sourcesPath)).json;
  expect(items).toMatchObject([
    { name: "ripe", state: "read", accepted: 10 },
    { name: "vrps", state: "read", accepted: 10 },
  ]);
});
