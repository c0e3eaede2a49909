/** NATS, MongoDB and ingest lost with their files: what a new installation has that is given the two backups of `docs/operations/backup.md`. */

import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { type Answer, request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, netfactsWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

const samples = resolve(import.meta.dirname, "../../samples/sources.yaml");
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

const ask = ({ gateways }: Distributed, key: string): Promise<Answer> => request(`${gateways[0]?.url}/api/v1/ip/193.0.6.139`, { key });

async function shown(env: Readonly<Record<string, string>>, ...args: string[]): Promise<object> {
  return await netfactsJsonWith<object>(env, home, ...args);
}

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
  const first = await install({ sources: samples, state });
  const create = (label: string) =>
    netfactsJsonWith<{ id: string; secret: string }>(first.env, home, "keys", "create", "--label", label, "--scopes", "ip");
  const [caller, gone] = [await create("caller"), await create("gone")];
  await done(first.env, "keys", "revoke", gone.id);
  const answer = await answered(first, caller.secret);
  const usage = ["usage", "--by", "key,day,route_class"];
  await until(async () => JSON.stringify(await shown(first.env, ...usage)).includes(caller.id), patient);
  const info = await shown(first.env, "snapshot", "info", "--nats", first.nats.url);
  expect(Object.keys((info as { ingest_objects: object }).ingest_objects)).toContain("history/sample");
  const copied = () => netfactsWith({}, home, "snapshot", "verify", "--snapshot", join(state, "serving"));
  await until(async () => (await copied()).code === 0, patient);

  const backups = join(home, "backups");
  mkdirSync(backups);
  const database = join(backups, "netfacts.ndjson");
  await first.kill("gateway-auth-quota", 0, "SIGTERM");
  const before = await Promise.all([shown(first.env, ...usage), shown(first.env, "audit"), shown(first.env, "keys", "list")]);
  await done(first.env, "backup", database);
  cpSync(join(state, "serving"), join(backups, "serving"), { recursive: true });
  await end();
  rmSync(state, { recursive: true });

  const stateAfter = join(home, "state-after");
  cpSync(join(backups, "serving"), join(stateAfter, "serving"), { recursive: true });
  const second = await install({
    // An import of these would give another answer.
    sources: smallSources(join(home, "sources"), "DE"),
    state: stateAfter,
    async prepare(mongoUrl) {
      await done({ MONGODB_URI: mongoUrl }, "restore", database);
    },
  });
  expect(await shown(second.env, "snapshot", "info", "--nats", second.nats.url)).toEqual(info);
  const after = await Promise.all([shown(second.env, ...usage), shown(second.env, "audit"), shown(second.env, "keys", "list")]);
  expect(after).toEqual(before);
  expect((await answered(second, caller.secret)).headers.get("etag")).toBe(answer.headers.get("etag"));
  expect((await ask(second, gone.secret)).json.code).toBe("revoked_api_key");
});
