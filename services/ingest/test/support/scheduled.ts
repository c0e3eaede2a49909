/** The schedule over a real server of sources, a real store and real runs, at a time that the test says. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { type Manifest, openFolderStore, type SnapshotStore } from "@netfacts/snapshot";
import type { ObservationRepository } from "@netfacts/storage";
import { withFiles } from "../../src/fetch/ready-files.ts";
import { createIngestMetrics, observeRun } from "../../src/metrics.ts";
import { IngestError, runIngest } from "../../src/pipeline/run-ingest.ts";
import { rollBack } from "../../src/publish/roll-back.ts";
import type { RtrSources } from "../../src/rtr/index.ts";
import type { RunOutcome } from "../../src/runs/run-threads.ts";
import type { RunScope } from "../../src/schedule/run-scope.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { SourceStates } from "../../src/schedule/source-state.ts";
import { SourceStock } from "../../src/schedule/source-stock.ts";
import { readSources } from "../../src/sources/index.ts";
import { type StoredStock, withStored } from "../../src/uploads/stored-source.ts";
import { answer, type Behaviour, type HostileServer, serveFile, startHostileServer } from "./hostile-server.ts";
import { delegatedFile, namesFile, ribFile, vrpFile } from "./made-files.ts";

export interface Scheduled {
  readonly folder: string;
  readonly server: HostileServer;
  /** What the server does with a request, unless a test has it do something else. */
  readonly serve: Behaviour;
  /** By path; a version is its content. What is not here is 503. */
  readonly files: Map<string, string | Buffer>;
  /** Sections of each run, in order. */
  readonly runs: (readonly string[] | null)[];
  readonly log: { level: string; fields: Record<string, unknown>; message: string }[];
  stock: SourceStock;
  /** How long a look waits for slow sources. */
  waitFor(ms: number): void;
  /** The time moves only by this; ms. */
  pass(ms: number): void;
  now(): number;
  list(yaml: string): void;
  /** One look at the clock. @returns the paths that were asked for meanwhile */
  look(): Promise<string[]>;
  manifest(): Promise<Manifest | null>;
  /** Each run fails with it, and for no source's fault; null: none does. */
  failRuns(message: string | null): void;
  /** A run of everything that somebody else started has succeeded. */
  wholeRun(): void;
  /** As an operator does. */
  rollBack(to: Manifest | null): Promise<void>;
  readonly store: SnapshotStore;
  /** As a process does that starts again. */
  restart(): Promise<void>;
  /** Of the metrics, the samples of one. */
  metric(name: string): Promise<string[]>;
  remove(): Promise<void>;
}

/**
 * @param observations  absent: no run can read what is stored
 * @param rtr  absent: there are no sessions
 */
export async function scheduled(
  stored?: StoredStock,
  observations?: ObservationRepository,
  rtr?: Pick<RtrSources, "stock" | "fault" | "checks" | "follow" | "giveUpInherited">,
): Promise<Scheduled> {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-schedule-"));
  const files = new Map<string, string | Buffer>();
  const serve: Behaviour = (request, socket) => {
    const content = files.get(request.path);
    if (content === undefined) answer(socket, request.path.endsWith(".md5") ? 404 : 503, { "retry-after": 600 });
    else serveFile(Buffer.from(content), `"${createHash("sha256").update(content).digest("hex")}"`)(request, socket);
  };
  const server = await startHostileServer(serve);
  const store = openFolderStore(join(folder, "snapshots"));
  const sources = join(folder, "sources.yaml");
  const registry = createRegistry();
  const metrics = createIngestMetrics(createMetrics("ingest", registry));
  const log: Scheduled["log"] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void log.push({ level, fields: fields as Record<string, unknown>, message });
  const logger = { info: write("info"), warn: write("warn"), error: write("error") };
  let now = Date.parse("2026-11-21T12:00:00Z");
  const clock = { now: () => now };
  const runs: Scheduled["runs"] = [];
  let failure: string | null = null;
  let wholeRuns = 0;
  const run = async (_starter: unknown, scope: RunScope): Promise<RunOutcome> => {
    runs.push(scope.only);
    if (failure !== null) return { ok: false, message: failure, report: null };
    const listed = await withStored(await readSources(sources, { files: "later" }), stored, store, false);
    const config = withFiles(listed, scope.files, scope.only);
    const outcome = await runIngest({ config, store, observations }).then(
      (report): RunOutcome => ({ ok: true, report }),
      (error: unknown): RunOutcome => {
        if (error instanceof IngestError) return { ok: false, message: error.message, report: error.report };
        throw error;
      },
    );
    await world.stock.settle(scope.sources, scope.files, outcome.report);
    observeRun(metrics, outcome, 1_000);
    return outcome;
  };
  const waiting = { ms: 20_000 };
  const open = async (): Promise<{ stock: SourceStock; scheduler: Scheduler }> => {
    const stock = new SourceStock({
      states: await SourceStates.open(join(folder, "schedule.json")),
      fetching: {
        downloads: join(folder, "downloads"),
        userAgent: "netfacts/test",
        caFile: "",
        now: clock.now,
        pause: async () => undefined,
      },
      metrics,
      log: logger,
      clock,
      stored,
      ...(rtr !== undefined && { rtr }),
      random: () => 0.5,
    });
    const { signal } = new AbortController();
    const scheduler = new Scheduler({
      sources,
      stock,
      stored,
      ...(rtr !== undefined && { rtr }),
      snapshots: store,
      runs: {
        run,
        runBeside: run,
        idle: async () => undefined,
        get wholeRuns() {
          return wholeRuns;
        },
      },
      metrics,
      clock,
      log: logger,
      signal,
      get waitMs() {
        return waiting.ms;
      },
    });
    return { stock, scheduler };
  };
  let opened = await open();

  const world: Scheduled = {
    folder,
    server,
    store,
    serve,
    files,
    runs,
    log,
    stock: opened.stock,
    pass(ms) {
      now += ms;
    },
    now: clock.now,
    waitFor(ms) {
      waiting.ms = ms;
    },
    list(yaml) {
      writeFileSync(sources, `full_feed_min: {ipv4: 1, ipv6: 1}\nsources:\n${yaml.replaceAll("URL", server.url)}\n`);
    },
    async look() {
      const before = server.requests.length;
      await opened.scheduler.look();
      return server.requests.slice(before).map(({ path }) => path);
    },
    async manifest() {
      const id = await store.currentId();
      return id === null ? null : store.getManifest(id);
    },
    failRuns(message) {
      failure = message;
    },
    wholeRun() {
      wholeRuns++;
    },
    async rollBack(to) {
      const replaces = (await store.currentId()) as string;
      const place = { turn: async () => ({ others: [], isAlone: true }), published: () => undefined, leave: () => undefined };
      const [confirm, onProgress, { signal }] = [async () => undefined, () => undefined, new AbortController()];
      await rollBack({ snapshot: (to as Manifest).id, replaces, store, place, confirm, onProgress, signal });
    },
    async restart() {
      opened = await open();
      world.stock = opened.stock;
    },
    async metric(name) {
      const text = await registry.text();
      return text.split("\n").filter((line) => line.startsWith(`${name}{`));
    },
    async remove() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return world;
}

/** Of the sections of a snapshot, the objects: what is not built anew keeps its own. */
export function objectsOf(manifest: Manifest | null): Record<string, string> {
  return Object.fromEntries(Object.entries(manifest?.sections ?? {}).map(([name, { object }]) => [name, object]));
}

/** Routes every 8 h, a registry every day, VRPs every hour, names from a file. */
export function listEverything(world: Scheduled, registry = "", vrps = ""): void {
  world.files.set("/rib", ribFile()).set("/ripe", delegatedFile()).set("/vrps", vrpFile());
  writeFileSync(join(world.folder, "names"), namesFile());
  world.list(`
  - {name: rib, section: routes, format: mrt, location: "URL/rib", allow_private: true}
  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true${registry}}
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true${vrps}}
  - {name: names, section: as_names, format: name-list, location: names}`);
}
