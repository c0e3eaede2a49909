/** The service in this process: over a store in a file and snapshots in a folder, with its API on a real port. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { internalHeaders } from "@netfacts/contracts";
import { createInProcessMessaging } from "@netfacts/messaging";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { openDataFolder, snapshotsFolder } from "@netfacts/snapshot";
import { type ObservationStore, observationsFile, openSqliteObservations, openSqliteStore, type Store } from "@netfacts/storage";
import { smallSources } from "../../../../test/support/small-sources.ts";
import { buildApp, type IngestApp, type IngestDeps } from "../../src/app.ts";

export const proxyToken = "0123456789abcdefghijklmnopqrstuvwxyz";
export const runsPath = "/admin/v1/ingest/runs";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as JSON; throws where it is none. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface ServiceHarness {
  readonly app: IngestApp;
  /** What pods report on. */
  readonly broadcast: IngestDeps["broadcast"];
  readonly store: Store;
  readonly observations: ObservationStore;
  readonly folder: string;
  readonly snapshots: ReturnType<typeof openDataFolder>;
  readonly log: { level: string; fields: object; message: string }[];
  ask(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string | ReadableStream; token?: string | null },
  ): Promise<HttpAnswer>;
  /** Asks until the run is no longer running. */
  ended(id: string): Promise<HttpAnswer["json"]>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /** Shared with another process of the test; the folder stays its maker's. */
  readonly folder?: string;
  /** Text of the sources.yaml's path; default: one that imports in a moment. */
  readonly sources?: string;
  readonly ttlMs?: number;
  /** Whether sources are asked for at their intervals; default: false. */
  readonly scheduled?: boolean;
  readonly deps?: (deps: IngestDeps) => IngestDeps;
}

export async function startService({
  folder,
  sources,
  ttlMs = 5_000,
  scheduled = false,
  deps = (given) => given,
}: ServiceOptions = {}): Promise<ServiceHarness> {
  const home = folder ?? mkdtempSync(join(tmpdir(), "netfacts-ingest-"));
  mkdirSync(join(home, snapshotsFolder), { recursive: true });
  const store = await openSqliteStore(join(home, "store.sqlite"));
  const observationsPath = join(home, observationsFile);
  const observations = await openSqliteObservations(observationsPath);
  const snapshots = openDataFolder(home);
  const messaging = createInProcessMessaging();
  const log: ServiceHarness["log"] = [];
  const write = (level: string) => (fields: unknown, message: unknown) =>
    void log.push({ level, fields: fields as object, message: `${message}` });
  const app = await buildApp(
    deps({
      config: {
        SOURCES: sources ?? smallSources(join(home, "sources"), "NL"),
        INGEST_STATE_DIR: join(home, "ingest"),
        INGEST_RTR_DELAY_MS: 0,
        OBSERVATIONS_ROWS_MAX: 1_000_000,
        OBSERVATIONS_INTERVAL_SECONDS: 1,
        OBSERVATIONS_UPLOADS_MAX: 2,
        OBSERVATIONS_UPLOAD_BYTES_MAX: 100_000_000,
        OBSERVATIONS_UPLOAD_SECONDS_MAX: 60,
        INGEST_SCHEDULE: scheduled,
        FETCH_CONTACT: "",
        FETCH_CA_FILE: "",
        INGEST_HOST: "127.0.0.1",
        INGEST_PORT: 0,
        INGEST_ADVERTISED_URL: "",
        INGEST_ADVERTISED_HOST: "",
        INGEST_LEASE_TTL_MS: ttlMs,
        PROXY_TOKEN: proxyToken,
        ERROR_DOCS_BASE: "/docs/errors/",
      },
      store,
      observations: { repository: observations, source: { kind: "sqlite", path: observationsPath } },
      snapshots,
      snapshotSource: { kind: "folder", path: join(home, snapshotsFolder) },
      broadcast: messaging,
      activation: { discoverMs: 50 },
      clock: { now: () => Date.now() },
      log: { info: write("info"), warn: write("warn"), error: write("error") } as IngestDeps["log"],
      metrics: createMetrics("ingest", createRegistry()),
      explain: () => undefined,
    }),
  );
  await app.start();
  const ask: ServiceHarness["ask"] = async (method, path, { headers = {}, body, token = proxyToken } = {}) => {
    const response = await fetch(app.url() + path, {
      method,
      headers: { ...(token === null ? {} : { [internalHeaders.proxyToken]: token }), ...headers },
      ...(body !== undefined && { body, ...(typeof body !== "string" && { duplex: "half" as const }) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: text,
      get json() {
        return JSON.parse(text);
      },
    };
  };
  return {
    app,
    broadcast: messaging,
    store,
    observations,
    folder: home,
    snapshots,
    log,
    ask,
    async ended(id) {
      for (;;) {
        const { json } = await ask("GET", `${runsPath}/${id}`);
        if (json.state !== "running") return json;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async stop() {
      await app.stop();
      await messaging.close();
      await store.close();
      await observations.close();
      if (folder === undefined) rmSync(home, { recursive: true });
    },
  };
}

/** Asks until a run can be started, which waits for the first import. @returns its id */
export async function startedRun(service: ServiceHarness): Promise<string> {
  for (;;) {
    const answer = await service.ask("POST", runsPath);
    if (answer.status !== 409) return answer.json.id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
