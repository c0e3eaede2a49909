/**
 * A registry dump and its geofeeds from end to end: fetched, read in a run, published; a damaged or cut dump changes nothing.
 *
 * @large It makes whole runs, each in a thread.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { Generation, loadSnapshot, openFolderStore } from "@netfacts/snapshot";
import { linkLocalRefusal } from "../../src/fetch/address-guard.ts";
import { withFiles } from "../../src/fetch/ready-files.ts";
import { IngestError, runIngest } from "../../src/pipeline/run-ingest.ts";
import type { RunReport } from "../../src/pipeline/run-report.ts";
import { wholeScope } from "../../src/schedule/run-scope.ts";
import { SourceStates } from "../../src/schedule/source-state.ts";
import { SourceStock } from "../../src/schedule/source-stock.ts";
import { readSources } from "../../src/sources/index.ts";
import { makeCertificate } from "../support/certificate.ts";
import { answer, type HostileServer, startHostileServer } from "../support/hostile-server.ts";

let folder: string;
let server: HostileServer;
/** By path; what is not here is 404. */
const files = new Map<string, string | Buffer>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-referred-"));
  const made = makeCertificate("127.0.0.1");
  writeFileSync(join(folder, "ca.pem"), made.cert);
  files.clear();
  server = await startHostileServer(
    (request, socket) => {
      const content = files.get(request.path);
      return content === undefined ? answer(socket, 404) : answer(socket, 200, {}, content);
    },
    { tls: made },
  );
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Objects of /24s, each of which refers to a geofeed. */
const dump = (count: number) =>
  Array.from({ length: count }, (_, at) => `inetnum: 11.0.${at}.0 - 11.0.${at}.255\ngeofeed: ${server.url}/feed\nsource: TEST\n`).join(
    "\n",
  );
const feed = (count: number, city: string) => Array.from({ length: count }, (_, at) => `11.0.${at}.0/24,NL,,${city},\n`).join("");

async function openStock(now = () => Date.now()): Promise<SourceStock> {
  return new SourceStock({
    states: await SourceStates.open(join(folder, "schedule.json")),
    fetching: {
      downloads: join(folder, "downloads"),
      userAgent: "netfacts/test",
      caFile: join(folder, "ca.pem"),
      refuse: linkLocalRefusal,
      pause: async () => undefined,
      now,
    },
    metrics: null,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    clock: { now },
  });
}

/** Fetches and runs once, as the schedule and the command line do. */
async function run(required = true): Promise<{ report: RunReport; error: string | null }> {
  const list = join(folder, "sources.yaml");
  const own = `11.0.1.0/25,DE,,Operator,\n`;
  writeFileSync(join(folder, "own.csv"), own);
  const settings = `{name: ripe, section: locations, format: rpsl-geofeeds, location: "${server.url}/ripe.db.inetnum.gz", allow_private: true, required: ${required}}`;
  writeFileSync(list, `sources:\n  - ${settings}\n  - {name: own, section: locations, format: geofeed, location: own.csv}\n`);
  const config = await readSources(list);
  const stock = await openStock();
  const { signal } = new AbortController();
  const scope = await wholeScope(config, stock, signal, () => undefined);
  const store = openFolderStore(join(folder, "snapshots"));
  const outcome = await runIngest({ config: withFiles(config, scope.files, null), store }).then(
    (report) => ({ report, error: null }),
    (error: unknown) => {
      if (error instanceof IngestError) return { report: error.report, error: error.message };
      throw error;
    },
  );
  await stock.settle(scope.sources, scope.files, outcome.report);
  return outcome;
}

async function cityOf(ip: string): Promise<string | null> {
  const store = openFolderStore(join(folder, "snapshots"));
  const { locations } = Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) ?? "")));
  const address = parseAddress(ip);
  return address === null ? null : (locations?.lookupLocation(address)?.city ?? null);
}

test("geofeeds of a dump are answered, the operator's own beside them, and a new version of one makes a new snapshot", async () => {
  files.set("/ripe.db.inetnum.gz", gzipSync(dump(3))).set("/feed", feed(5, "One"));
  const { report } = await run();
  expect(report.sources[0]).toMatchObject({ name: "ripe", read: 5, accepted: 3, error: null });
  expect([await cityOf("11.0.0.1"), await cityOf("11.0.1.1"), await cityOf("11.0.1.200"), await cityOf("11.0.3.1")]).toEqual([
    "One",
    "Operator",
    "One",
    null,
  ]);
  files.set("/feed", feed(5, "Two"));
  const next = await run();
  expect([next.report.snapshot === report.snapshot, await cityOf("11.0.0.1")]).toEqual([false, "Two"]);
  // The same dump and the same geofeeds are the same version.
  expect((await run()).report.sources[0]?.sha256).toBe(next.report.sources[0]?.sha256);
  files.delete("/feed");
  expect((await run()).report.sources[0]?.notes.at(-1)).toMatch(/geofeeds without a usable newest version: 1: .*404/);
  expect(await cityOf("11.0.0.1")).toBe("Two");
});

test.each<[string, () => string | Buffer, RegExp]>([
  ["is another format", () => feed(200, "One"), /has no inetnum or inet6num objects; it looks like format geofeed/],
  ["is cut within gzip", () => gzipSync(dump(200)).subarray(0, 300), /gzip|truncated|unexpected end/i],
  ["is cut within a line", () => dump(200).slice(0, -5), /is truncated: the last line has no line break/],
  ["is cut between two objects", () => dump(100), /inetnum objects|IPv4 prefixes|records/],
])("a dump that %s does not replace what was there", async (_what, damaged, told) => {
  files.set("/ripe.db.inetnum.gz", gzipSync(dump(200))).set("/feed", feed(200, "One"));
  await run(false);
  files.set("/ripe.db.inetnum.gz", damaged());
  const { report, error } = await run(false);
  const source = report.sources.find(({ name }) => name === "ripe");
  expect([error, source?.error, ...(source?.notes ?? [])].join("\n")).toMatch(told);
  expect([await cityOf("11.0.0.1"), await cityOf("11.0.199.1")]).toEqual(["One", "One"]);
});

test("geofeeds of a dump that lies in a file are asked for at each interval, and when somebody asks for an import", async () => {
  writeFileSync(join(folder, "ripe.db.inetnum"), dump(1));
  files.set("/feed", feed(1, "One"));
  const list = join(folder, "sources.yaml");
  writeFileSync(list, "sources:\n  - {name: ripe, section: locations, format: rpsl-geofeeds, location: ripe.db.inetnum, interval: 1h}\n");
  const { sources } = await readSources(list);
  let now = Date.parse("2026-11-28T06:00:00Z");
  const stock = await openStock(() => now);
  const { signal } = new AbortController();
  const asked = async (after: number, asksForAll = false) => {
    now += after;
    await stock.refresh(sources, signal, { asksForAll });
    return server.requests.length;
  };
  expect([await asked(0), await asked(60_000), await asked(60_000, true), await asked(60_000), await asked(3_540_000)]).toEqual([
    1, 1, 2, 2, 3,
  ]);
  // A dump that has changed has other geofeeds.
  files.set("/other", feed(1, "Two"));
  writeFileSync(join(folder, "ripe.db.inetnum"), dump(1).replace("/feed", "/other"));
  expect(await asked(60_000)).toBe(4);
});
