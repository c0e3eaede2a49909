/** NATS, MongoDB and ingest lost with their files: what a new installation has that is given the two backups of `docs/operations/backup.md`. */

import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";
import { allSources, delegatedFile, namesFile, ribFile, vrpFile } from "../../services/ingest/test/support/made-files.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { type Answer, request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, netfactsWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";
import { allDays, inStore, keptInStore } from "./kept-in-store.ts";

const patient = { timeoutMs: 60_000 };

let home: string;
let running: Distributed | null = null;

beforeAll(() => {
  home = temporaryFolder();
});
afterAll(async () => {
  await end();
  await endAll();
  removeFolders();
});

interface Installation {
  readonly sources: string;
  /** `INGEST_STATE_DIR`. */
  readonly state: string;
  /** Called when the servers run, and no service does yet. */
  readonly prepare?: (mongoUrl: string) => Promise<void>;
}

/** New servers without any data, and one process of each service that the questions need. */
async function install({ sources, state, prepare }: Installation): Promise<Distributed> {
  running = await startDistributed({
    ownMongodb: true,
    replicas: { "gateway-auth-quota": 1, "ip-routing": 1, "asn-prefix": 0, "rdns-resolver": 0, ingest: 1 },
    settings: { LOG_LEVEL: "info", USAGE_FLUSH_MS: "200" },
    settingsOf: (service): Record<string, string> =>
      service === "ingest" ? { SOURCES: sources, INGEST_SCHEDULE: "false", INGEST_STATE_DIR: state } : {},
    snapshot: "by-ingest",
    async route(servers) {
      await prepare?.(servers.mongoUrl);
      return servers;
    },
  });
  return running;
}

async function end(): Promise<void> {
  await running?.stop();
  running = null;
}

const ask = ({ gateways }: Distributed, key: string): Promise<Answer> => request(`${gateways[0]?.url}/api/v1/ip/11.0.0.1`, { key });

const info = ({ env, nats }: Distributed) =>
  netfactsJsonWith<{ ingest_objects: object }>(env, home, "snapshot", "info", "--nats", nats.url);

async function done(env: Readonly<Record<string, string>>, ...args: string[]): Promise<void> {
  expect(await netfactsWith(env, home, ...args)).toMatchObject({ code: 0 });
}

/** The first answer with a record: a busy machine may refuse some before. */
async function answered(installation: Awaited<ReturnType<typeof install>>, secret: string): ReturnType<typeof ask> {
  let answer = await ask(installation, secret);
  await until(async () => {
    if (answer.status !== 200) answer = await ask(installation, secret);
    return answer.status === 200;
  }, patient);
  return answer;
}

test("an installation that lost everything but its two backups has its keys, usage, audit, snapshot and history again", async () => {
  const state = join(home, "state");
  const first = await install({ sources: madeSources(join(home, "sources")), state });
  const [caller, gone] = await inStore(first.mongoUrl, async (store) => [
    await createKey(store, { label: "caller", scopes: ["ip"] }),
    await createKey(store, { label: "gone", scopes: ["ip"] }),
  ]);
  if (caller === undefined || gone === undefined) throw new Error("no keys");
  await done(first.env, "keys", "revoke", gone.key.id);
  const answer = await answered(first, caller.secret);
  const isCounted = (store: Store) => async () => (await store.usage.list(allDays)).some(({ keyId }) => keyId === caller.key.id);
  await inStore(first.mongoUrl, (store) => until(isCounted(store), patient));
  const snapshot = await info(first);
  expect(Object.keys(snapshot.ingest_objects)).toContain("history");
  await until(() => existsSync(join(state, "serving", "current")), patient);
  await done({}, "snapshot", "verify", "--snapshot", join(state, "serving"));

  const backups = join(home, "backups");
  mkdirSync(backups);
  const database = join(backups, "netfacts.ndjson");
  await first.kill("gateway-auth-quota", 0, "SIGTERM");
  const before = await keptInStore(first.mongoUrl);
  expect(before.audit.map(({ action }) => action)).toContain("key.revoke");
  await done(first.env, "backup", database);
  cpSync(join(state, "serving"), join(backups, "serving"), { recursive: true });
  await end();
  rmSync(state, { recursive: true });

  const stateAfter = join(home, "state-after");
  cpSync(join(backups, "serving"), join(stateAfter, "serving"), { recursive: true });
  const second = await install({
    // An import of these would give another answer.
    sources: smallSources(join(home, "other-sources"), "DE"),
    state: stateAfter,
    async prepare(mongoUrl) {
      await done({ MONGODB_URI: mongoUrl }, "restore", database);
    },
  });
  expect(await info(second)).toEqual(snapshot);
  expect(await keptInStore(second.mongoUrl)).toEqual(before);
  expect((await answered(second, caller.secret)).headers.get("etag")).toBe(answer.headers.get("etag"));
  expect((await ask(second, gone.secret)).json.code).toBe("revoked_api_key");
});

/** One small file of each section, with the route of the address that is asked for. @returns the path of the sources.yaml. */
function madeSources(folder: string): string {
  mkdirSync(folder);
  const files = { rib: ribFile(), ripe: delegatedFile(), vrps: vrpFile(), names: namesFile() };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const path = join(folder, "sources.yaml");
  writeFileSync(path, allSources);
  return path;
}
