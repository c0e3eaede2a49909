/** What happens around a process that serves: its resolver goes and comes, an import of another process fails, its disk fills up. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { honest, startDnsServer } from "../../services/rdns-resolver/test/support/dns-server.ts";
import { freePort } from "../support/free-ports.ts";
import { limitFiles } from "../support/full-disk.ts";
import { request, until } from "../support/http.ts";
import { endAll, netfacts, netfactsJson, removeFolders, type Standalone, startStandalone, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

let home: string;
let resolverPort: number;
let standalone: Standalone;
let key: string;

beforeAll(async () => {
  home = temporaryFolder();
  const sources = smallSources(temporaryFolder(), "NL");
  resolverPort = await freePort();
  standalone = await startStandalone(home, { SOURCES: sources, RESOLVERS: `127.0.0.1:${resolverPort}` });
  key = (await netfactsJson<{ secret: string }>(home, "keys", "create", "--label", "fault", "--rate", "1000000/60s", "--month", "1000000"))
    .secret;
  await until(async () => (await get("/me")).status === 200);
});
afterAll(async () => {
  await standalone?.stop();
  await endAll();
  removeFolders();
});

/** For what a busy machine takes long to do, and nobody promised to be quick. */
const patient = { timeoutMs: 25_000 };

const get = (path: string) => request(`${standalone.url}/api/v1${path}`, { key });

test("without a resolver only reverse DNS is away; when one comes it answers", async () => {
  const away = await get("/reverse-dns/193.0.6.139");
  expect([away.status, away.json.code]).toEqual([503, "resolver_unavailable"]);
  expect(Number(away.headers.get("retry-after"))).toBeGreaterThan(0);
  for (const path of [
    "/ip/193.0.6.139",
    "/routing/193.0.6.139",
    "/asn/3333",
    "/prefix/193.0.0.0/21",
    "/validity?asn=3333&prefix=193.0.0.0/21",
    "/me",
    "/status",
  ])
    expect([path, (await get(path)).status]).toEqual([path, 200]);
  expect((await request(`${standalone.operationsUrl}/readyz`)).status).toBe(200);
  const nameserver = await startDnsServer(honest, { port: resolverPort });
  try {
    await until(async () => (await get("/reverse-dns/193.0.6.139")).status === 200, patient);
    expect((await get("/reverse-dns/193.0.6.139")).json.names[0].name).toBe("host-139-6-0-193.example");
  } finally {
    await nameserver.stop();
  }
});

test("an import that fails in another process changes nothing of what is served", async () => {
  const before = (await get("/ip/193.0.6.139")).json.meta.data;
  const { code, err } = await netfacts(home, "ingest", "run", "--sources", join(home, "store.sqlite"));
  expect(code).not.toBe(0);
  expect(err.trim().split("\n")).toHaveLength(1);
  expect((await get("/ip/193.0.6.139")).json.meta.data.allocations.version).toBe(before.allocations.version);
});

test("a disk that is full while it serves refuses with a reason, and is forgotten when there is space again", async () => {
  const fresh = (await netfactsJson<{ secret: string }>(home, "keys", "create", "--label", "full", "--month", "160")).secret;
  const ask = () => request(`${standalone.url}/api/v1/ip/193.0.6.139`, { key: fresh });
  await until(async () => (await request(`${standalone.url}/api/v1/me`, { key: fresh })).status === 200);
  if (!limitFiles(standalone.pid, 0)) return;
  const logBytes = statSync(join(home, "netfacts.log")).size;
  const refused = new Set<string>();
  await until(async () => {
    const answer = await ask();
    if (answer.status !== 200) refused.add(`${answer.status} ${answer.json.code}`);
    return refused.size > 0;
  }, patient);
  expect([...refused]).toEqual(["503 limits_unavailable"]);
  // The log is on this disk too, so the terminal says why.
  await until(() => standalone.err().includes(`the log ${join(home, "netfacts.log")} cannot be written: `), patient);
  expect((await request(`${standalone.url}/api/v1/status`)).status).toBe(200);
  const readiness = async () => (await fetch(`${standalone.operationsUrl}/readyz`)).text();
  await until(async () => (await readiness()) !== "ready\n", patient);
  // SQLite calls the limit that stands for a full disk an I/O error.
  expect(await readiness()).toMatch(/^not ready\nstore .*store\.sqlite: (database or disk is full|disk I\/O error); .*\n$/);
  const available = async () =>
    /^netfacts_store_available\S* (\d)$/m.exec(await (await fetch(`${standalone.operationsUrl}/metrics`)).text())?.[1];
  expect(await available()).toBe("0");
  expect(limitFiles(standalone.pid, "unlimited")).toBe(true);
  await until(async () => (await readiness()) === "ready\n", patient);
  expect(await available()).toBe("1");
  await until(async () => (await ask()).status === 200, patient);
  // The log goes on, too.
  await ask();
  await until(() => statSync(join(home, "netfacts.log")).size > logBytes, patient);
});
