/** Answers that replicas share and that outlive a restart: DNS is not asked again, and nothing is shown that it would not have been. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { SharedStore } from "../src/shared/shared-store.ts";
import { openSqliteStore } from "../src/shared/sqlite-store.ts";
import { type Behaviour, type DnsServer, ptr, soa, startDnsServer } from "./support/dns-server.ts";
import { type OpenShared, type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-shared-"));
});
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
  rmSync(folder, { recursive: true });
});

const path = () => join(folder, "answers.sqlite");
// The clock of the services is a made one; that of the file must not end what they keep.
const inFile: OpenShared = async (options) => openSqliteStore({ ...options, path: path(), clock: { now: () => 0 } });

async function startServer(behaviour: Behaviour): Promise<DnsServer> {
  const server = await startDnsServer(behaviour, { root: { authentic: true, answers: [soa(".", 60, 60)] } });
  running.push(server);
  return server;
}

async function start(server: DnsServer, env: NodeJS.ProcessEnv = {}, openShared: OpenShared = inFile): Promise<Service> {
  const settings = { RESOLVERS: server.address, RDNS_TIMEOUT_MS: "500", RDNS_BUDGET_MS: "2000", ...env };
  const service = await startService(settings, openShared);
  running.push(service);
  return service;
}

/** Texts are written together, a moment later. */
const written = () => sleep(200);

const ip = "193.0.6.1";
const named: Behaviour = ({ name }) => ({ answers: [ptr(name, "a.example", 100)] });
const absent: Behaviour = () => ({ rcode: 3, authorities: [soa("193.in-addr.arpa", 60, 60)] });
const queriesOf = (server: DnsServer) => server.queries.filter(({ name }) => name.startsWith("1.6.")).length;

test.each<[string, Behaviour, string]>([
  ["names", named, "ok"],
  ["an absence", absent, "nxdomain"],
])("after a restart %s are known without a query, and expire when they did before", async (_, behaviour, status) => {
  const server = await startServer(behaviour);
  const before = await start(server);
  const first = await before.ask(ip);
  await before.stop();
  const after = await start(server);
  after.advance(30);
  const { record, reply } = await after.ask(ip);
  expect(record).toMatchObject({
    status,
    names: first.record.names,
    dnssec: "insecure",
    resolver: { attempts: 0 },
    cache: { hit: true, stored_at: first.record.cache?.stored_at, expires_at: first.record.cache?.expires_at, stale: false },
  });
  expect(reply.etag).toBe(first.reply.etag);
  expect(queriesOf(server)).toBe(1);
  expect(await after.metric("netfacts_rdns_shared_cache_reads_total", 'outcome="hit"')).toBe(1);
  expect(await after.metric("netfacts_rdns_lookups_total", `outcome="${status}",hit="true"`)).toBe(1);
  // Now it is in memory.
  await after.ask(ip);
  expect(await after.metric("netfacts_rdns_shared_cache_reads_total", 'outcome="hit"')).toBe(1);
  after.advance(80);
  expect((await after.ask(ip)).record.cache?.hit).toBe(false);
  expect(queriesOf(server)).toBe(2);
});

test("after a restart an expired answer is shown when DNS fails, and says so", async () => {
  const server = await startServer(named);
  const before = await start(server);
  await before.ask(ip);
  await before.stop();
  server.behave(() => ({ rcode: 2 }));
  const after = await start(server);
  after.advance(200);
  expect((await after.ask(ip)).record).toMatchObject({ status: "ok", names: [{ name: "a.example" }], cache: { hit: true, stale: true } });
});

test.each<[string, Behaviour, string]>([
  ["that may not be kept", ({ name }) => ({ answers: [ptr(name, "new.example", 0)] }), "ok"],
  ["that lives too short to be shared", ({ name }) => ({ answers: [ptr(name, "new.example", 2)] }), "ok"],
  ["that the name is gone, without a time", () => ({ rcode: 3 }), "nxdomain"],
  ["that fails validation", (query) => (query.checkingDisabled ? named(query) : { rcode: 2 }), "servfail"],
])("a newer answer %s ends the shared one", async (_, newer, status) => {
  const server = await startServer(named);
  const one = await start(server);
  await one.ask(ip);
  await one.stop();
  server.behave(newer);
  const two = await start(server);
  two.advance(101);
  expect((await two.ask(ip)).record.status).toBe(status);
  await two.stop();
  server.behave(() => ({ rcode: 2 }));
  const three = await start(server);
  three.advance(120);
  expect((await three.ask(ip)).record).toMatchObject({ status: "servfail", names: [], cache: { stale: false } });
});

test("failures and names in doubt are not shared", async () => {
  const server = await startServer(() => ({ rcode: 5 }));
  const one = await start(server);
  await one.ask(ip);
  await one.stop();
  server.behave(named);
  expect((await (await start(server)).ask(ip)).record.status).toBe("ok");
});

test("services with other settings share nothing", async () => {
  const server = await startServer(named);
  const one = await start(server);
  await one.ask(ip);
  await one.stop();
  const two = await start(server, { RDNS_NAMES_MAX: "7" });
  expect((await two.ask(ip)).record.cache?.hit).toBe(false);
  const none = await start(server, { RDNS_SHARED_CACHE_BYTES: "0" });
  expect((await none.ask(ip)).record.cache?.hit).toBe(false);
  expect(queriesOf(server)).toBe(3);
});

const entry = {
  status: "ok",
  names: [{ name: "made.example", ttl: 100, forward: null }],
  namesTotal: 1,
  dnssec: "insecure",
  negative: false,
  storedAt: Date.parse("2026-11-21T09:00:00Z"),
  expiresAt: Date.parse("2026-11-21T09:01:40Z"),
};
test.each<[string, unknown, boolean]>([
  ["an answer", entry, true],
  ["no JSON", "{", false],
  ["another kind of JSON", JSON.stringify([1]), false],
  ["one that fails validation", { ...entry, dnssec: "bogus" }, false],
  ["one that lives longer than may be", { ...entry, expiresAt: entry.storedAt + 90_000_000 }, false],
  ["one from the future", { ...entry, storedAt: entry.storedAt + 3_600_000, expiresAt: entry.expiresAt + 3_600_000 }, false],
  [
    "one of the year 2099",
    { ...entry, storedAt: Date.parse("2099-01-01T00:00:00Z"), expiresAt: Date.parse("2099-01-01T00:01:00Z") },
    false,
  ],
  ["names of an absence", { ...entry, status: "nxdomain", negative: true }, false],
  ["no name", { ...entry, names: [] }, false],
  ["more names than in all", { ...entry, namesTotal: 0 }, false],
  ["a name that is no text", { ...entry, names: [{ name: 1, ttl: 1, forward: null }] }, false],
  ["a failure", { ...entry, status: "servfail" }, false],
])("%s in the store is believed: %#", async (_, text, isBelieved) => {
  const server = await startServer(named);
  const one = await start(server);
  await one.ask(ip);
  await one.stop();
  const database = new DatabaseSync(path());
  database.prepare("UPDATE texts SET text = ?").run(typeof text === "string" ? text : JSON.stringify(text));
  database.close();
  const two = await start(server);
  const { record } = await two.ask(ip);
  expect(record.names).toMatchObject([{ name: isBelieved ? "made.example" : "a.example" }]);
  expect(await two.metric("netfacts_rdns_shared_cache_reads_total", `outcome="${isBelieved ? "hit" : "unreadable"}"`)).toBe(1);
});

test("a store that fails or hangs is waited for once a second, and DNS answers", async () => {
  const server = await startServer(named);
  let reads = 0;
  const broken: SharedStore = {
    get(_, waitMs) {
      reads += 1;
      return new Promise((_resolve, reject) => setTimeout(() => reject(new Error("no answer")), waitMs));
    },
    put: () => undefined,
    close: async () => undefined,
  };
  const service = await start(server, { RDNS_SHARED_CACHE_WAIT_MS: "30" }, async () => broken);
  for (let host = 1; host <= 20; host += 1) expect((await service.ask(`193.0.6.${host}`)).record.status).toBe("ok");
  expect(reads).toBeLessThan(3);
  expect(await service.metric("netfacts_rdns_shared_cache_reads_total", 'outcome="skipped"')).toBeGreaterThan(17);
  expect(service.log.filter((line) => line.startsWith("the shared cache cannot be used"))).toHaveLength(1);
});

test("an answer that is renewed by one is not asked for by the other", async () => {
  const server = await startServer(named);
  const [one, two] = [await start(server), await start(server)];
  for (const service of [one, two]) {
    for (let hit = 0; hit < 4; hit += 1) await service.ask(ip);
    service.advance(92);
    await written();
  }
  const hasRenewed = async (service: Service) => (await service.ask(ip)).record.cache?.stored_at === "2026-11-21T09:01:34Z";
  for (const service of [one, two]) {
    for (let turn = 0; turn < 500 && !(await hasRenewed(service)); turn += 1) await sleep(10);
    await written();
  }
  expect(await hasRenewed(two)).toBe(true);
  expect(queriesOf(server)).toBe(2);
});

test("keys of the store are letters, digits and dashes behind a digest of the settings", async () => {
  const server = await startServer(named);
  const service = await start(server);
  await service.ask("2001:db8:1::1".replace("db8:1", "67c:2e8"));
  await service.stop();
  const database = new DatabaseSync(path());
  const keys = database.prepare("SELECT key FROM texts").all();
  database.close();
  expect(keys).toEqual([{ key: expect.stringMatching(/^[0-9a-f]{16}\.([0-9a-f]-){32}ip6-arpa$/) }]);
});
