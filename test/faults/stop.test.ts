/** The end of the process: graceful, at once, killed; what callers, limits and the next start see of it. */

import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type DnsServer, honest, startDnsServer } from "../../services/rdns-resolver/test/support/dns-server.ts";
import { type Answer, request, until } from "../support/http.ts";
import {
  endAll,
  launchStandalone,
  netfactsJson,
  removeFolders,
  type Settings,
  type Standalone,
  startStandalone,
  temporaryFolder,
} from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";
import { someSamples } from "../support/some-samples.ts";

const unanswered = ".8.8.8.in-addr.arpa";

let home: string;
let nameserver: DnsServer;
let resolvers: { RESOLVERS: string };
let first: Standalone | null = null;
/** That the first start printed. */
let key: string;

beforeAll(async () => {
  home = temporaryFolder();
  // Every answer takes its time, so that a request is in flight when the signal comes; about 8.8.8.0/24 there is none.
  nameserver = await startDnsServer((query) => (query.name.endsWith(unanswered) ? null : { ...honest(query), delayMs: 1_000 }));
  resolvers = { RESOLVERS: nameserver.address };
  first = await startStandalone(home, { ...resolvers, SOURCES: smallSources(temporaryFolder(), "NL") });
  key = first.key;
});
afterAll(async () => {
  await endAll();
  await nameserver?.stop();
  removeFolders();
});

/** The one that made the data, if nobody has asked for it yet and no setting is asked for; else another one. */
async function started(settings: Settings = {}): Promise<Standalone> {
  const waiting = first;
  first = null;
  if (waiting !== null && Object.keys(settings).length === 0) return waiting;
  await waiting?.stop();
  return await startStandalone(home, { ...resolvers, ...settings });
}

const newKey = async (...options: string[]) =>
  (await netfactsJson<{ secret: string }>(home, "keys", "create", "--label", "stop", ...options)).secret;

let addresses = 0;
/** Asks what takes a second, or until it is given up (each time for another name, as answers are kept); resolves when it is in flight. */
async function slowQuestion(standalone: Standalone, network: "8.8.4" | "8.8.8" = "8.8.4"): Promise<{ answer: Promise<Answer> }> {
  const before = nameserver.queries.length;
  const answer = request(`${standalone.url}/api/v1/reverse-dns/${network}.${++addresses}`, { key });
  answer.catch(() => {});
  await until(() => nameserver.queries.length > before);
  return { answer };
}

describe("signals", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s finishes what is in flight, says so, and ends with status 0", async (signal) => {
    const standalone = await started();
    const { answer } = await slowQuestion(standalone);
    standalone.child.kill(signal);
    expect((await answer).json.status).toBe("ok");
    expect(await standalone.ended).toMatchObject({ code: 0, signal: null, out: expect.stringMatching(/\nstopped\n$/), err: "" });
    expect(existsSync(join(home, "owner.json"))).toBe(false);
  });

  test("a second signal ends it at once", async () => {
    const standalone = await started();
    const { answer } = await slowQuestion(standalone, "8.8.8");
    const heard = () => readFileSync(join(home, "netfacts.log"), "utf8").split('"msg":"stopping"').length;
    const before = heard();
    standalone.child.kill("SIGINT");
    // Two signals of which nobody heard the first are one.
    await until(() => heard() > before);
    standalone.child.kill("SIGINT");
    expect((await standalone.ended).code).toBe(130);
    await expect(answer).rejects.toThrow();
  });

  test("connections that send nothing, half a header, or a batch without end do not hold it up", async () => {
    const standalone = await started();
    const key = await newKey("--scopes", "batch,ip");
    const { port } = new URL(standalone.url);
    const sockets = Array.from({ length: 3 }, () => connect(Number(port), "127.0.0.1").on("error", () => {}));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const [, half, batch] = sockets as [Socket, Socket, Socket];
    half.write("GET /api/v1/status HTTP/1.1\r\nHost: x\r\nA: ");
    batch.write(
      `POST /api/v1/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const line = '{"kind":"ip","value":"193.0.6.139"}\n';
    const sending = setInterval(() => batch.writable && batch.write(`${line.length.toString(16)}\r\n${line}\r\n`), 20);
    await once(batch, "data");
    batch.resume();
    const signalledAt = performance.now();
    const { code, out } = await standalone.stop();
    const stopMs = performance.now() - signalledAt;
    clearInterval(sending);
    expect([code, out.endsWith("stopped\n")]).toEqual([0, true]);
    // The grace period of orchestrators is 30 s; the silent connection alone took all of it.
    expect(stopMs).toBeLessThan(20_000);
  });

  test("a drain answers every request, each answer the last of its connection, and then it stops", async () => {
    const standalone = await started({ DRAIN_SECONDS: "4", TELEMETRY_HOST: "127.0.0.2" });
    expect(standalone.operationsUrl).toContain("//127.0.0.2:");
    const question = () => request(`${standalone.url}/api/v1/ip/193.0.6.139`, { key });
    await Promise.all(Array.from({ length: 20 }, question));
    const operations = async (path: string) => {
      const answer = await fetch(`${standalone.operationsUrl}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    expect(await operations("/readyz")).toEqual({ status: 200, text: "ready\n" });
    expect((await operations("/metrics")).text).toContain('netfacts_ready{service="standalone"} 1\n');
    standalone.child.kill("SIGTERM");
    const answers: Answer[] = [];
    // Within the key's rate: 600 a minute. This takes less than a second of the drain's 4 s. So the machine may stand still for 3 s.
    for (let round = 0; round < 20; round++, await sleep(20)) answers.push(...(await Promise.all([question(), question()])));
    expect(await operations("/readyz")).toEqual({ status: 503, text: "not ready\nthe process stops\n" });
    expect((await operations("/healthz")).status).toBe(200);
    expect((await operations("/metrics")).text).toContain('netfacts_ready{service="standalone"} 0\n');
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.at(-1)?.headers.get("connection")).toBe("close");
    expect((await standalone.ended).code).toBe(0);
  });

  test("closed outputs harm nothing, and it still stops by SIGTERM with status 0", async () => {
    const standalone = await started();
    standalone.child.stdout?.destroy();
    standalone.child.stderr?.destroy();
    expect((await request(`${standalone.url}/api/v1/ip/193.0.6.139`, { key })).status).toBe(200);
    standalone.child.kill("SIGTERM");
    const [code] = (await once(standalone.child, "exit")) as [number | null];
    expect(code).toBe(0);
  });

  test("in an import it ends soon and leaves nothing behind that the next start minds", async () => {
    const fresh = temporaryFolder();
    const importing = launchStandalone(fresh);
    await importing.printed("importing the sample dataset");
    importing.child.kill("SIGINT");
    expect(await importing.ended).toMatchObject({ code: 0, out: expect.stringMatching(/stopped\n$/), err: "" });
    expect(existsSync(join(fresh, "snapshots", "current"))).toBe(false);
  });
});

/** A module that makes the process fail at a signal: nothing of ours catches it. */
const faulty = (statement: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => { ${statement} });`)}`;

test.each([
  ["an error that nobody caught", 'throw new Error("nobody expected this")'],
  ["a rejection that nobody handled", 'Promise.reject(new Error("nobody expected this"))'],
  ["a value that is no error", 'Promise.reject("nobody expected this")'],
])("%s is the last line of the log and a line on the terminal, and the status is 1", async (_what, statement) => {
  const standalone = await started({ NODE_OPTIONS: faulty(statement) });
  standalone.child.kill("SIGUSR2");
  const { code, err } = await standalone.ended;
  const log = join(home, "netfacts.log");
  const last = JSON.parse(readFileSync(log, "utf8").trimEnd().split("\n").at(-1) ?? "{}");
  expect(code).toBe(1);
  expect(last).toMatchObject({ level: "fatal", service: "standalone", msg: "service terminated by an internal error" });
  expect(last.err.message).toContain("nobody expected this");
  expect(err).toBe(`netfacts: terminated by an internal error: ${last.err.message}; details: ${log}\n`);
});

test("an import that was killed midway is made again by the next start", async () => {
  const SOURCES = someSamples(temporaryFolder(), ["lacnic", "arin", "ripencc"]);
  const killed = async (): Promise<string> => {
    const fresh = temporaryFolder();
    const importing = launchStandalone(fresh, { SOURCES });
    await importing.printed(/^read lacnic: done/m, 60_000);
    importing.child.kill("SIGKILL");
    await importing.ended;
    return fresh;
  };
  const isWhole = (folder: string) => existsSync(join(folder, "snapshots", "current"));
  let fresh = await killed();
  // On a busy machine it may have come to its end before it was killed.
  for (let tries = 1; isWhole(fresh) && tries < 10; tries++) fresh = await killed();
  expect(isWhole(fresh)).toBe(false);
  const next = await startStandalone(fresh, { SOURCES });
  expect(next.out()).toContain(`importing ${SOURCES}`);
  expect((await request(`${next.url}/api/v1/ip/193.0.6.139`, { key: next.key })).json.allocation.registration_country).toBe("NL");
  await next.stop();
});

describe("limits over the end of the process", () => {
  const question = (standalone: Standalone, key: string) => request(`${standalone.url}/api/v1/ip/193.0.6.139`, { key });
  let restarted: Standalone | null = null;

  test("a graceful restart changes nothing of what remains", async () => {
    // The longest window, so that none ends meanwhile.
    const key = await newKey("--rate", "1000/1d", "--month", "500");
    const before = await started();
    for (let asked = 0; asked < 6; asked++) await question(before, key);
    const last = await question(before, key);
    expect([last.headers.get("x-ratelimit-remaining"), last.headers.get("x-quota-remaining")]).toEqual(["993", "493"]);
    await before.stop();
    const after = await started();
    const first = await question(after, key);
    expect([first.headers.get("x-ratelimit-remaining"), first.headers.get("x-quota-remaining")]).toEqual(["992", "492"]);
    restarted = after;
  });

  test("kill -9 under load admits none too many, and loses at most the block that was held", async () => {
    const limit = 320;
    const callers = 8;
    // A gateway holds at most a sixteenth of what is left (docs/design/protocols.md#limits-by-leases).
    const blockMax = limit / 16;
    const key = await newKey("--rate", "100000/60s", "--month", String(limit));
    const killed = restarted ?? (await started());
    let answered = 0;
    const load = Array.from({ length: callers }, async () => {
      for (;;) {
        const { status } = await question(killed, key);
        if (status === 200) answered += 1;
      }
    });
    const ends = Promise.allSettled(load);
    await until(() => answered >= limit / 2);
    killed.child.kill("SIGKILL");
    await ends;
    const atKill = answered;
    const next = await started();
    for (let asked = 0; asked < limit; asked++) {
      const answer = await question(next, key);
      if (answer.status !== 200) {
        expect(answer.json.code).toBe("quota_exceeded");
        break;
      }
      answered += 1;
    }
    expect(atKill).toBeGreaterThanOrEqual(limit / 2);
    expect(answered).toBeLessThanOrEqual(limit);
    // What was admitted and never arrived counts as used.
    expect(answered).toBeGreaterThanOrEqual(limit - blockMax - callers);
    await next.stop();
  });
});
