/**
 * Bodies that operators send through a gateway to ingest, cut and held up on the way: nothing hangs, half of a body starts nothing, lookups
 * go on from the last good snapshot, and the next request works.
 *
 * Each body here is `{}` and blanks: a half that was taken for a whole one would be read, and start a run.
 */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { freezeProcess } from "../support/frozen.ts";
import { limitFiles } from "../support/full-disk.ts";
import { type Answer, request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

/** Of these the bounds are made that are waited for. */
const ingestTimeoutMs = 1_500;
const idleMs = 3_500;
/** For what a busy machine takes long to do. */
const patient = { timeoutMs: 60_000 };
/** Time for what must not happen to happen: a run that half of a body started is listed well before. */
const settledMs = 400;
/** What is beyond a bound here is called a hang. */
const slackMs = 10_000;
const bodyBytes = 40_000;
/** It ends a run when a busy machine stands still for two thirds of it, and is waited for after ingest was killed. */
const leaseMs = 4_000;

let all: Distributed;
let sources: string;
let stateFolder: string;
let temporary: string;
let adminKey: string;
let lookups: Lookups;

beforeAll(async () => {
  const home = temporaryFolder();
  sources = smallSources(join(home, "sources"), "NL");
  stateFolder = join(home, "state");
  temporary = join(home, "tmp");
  mkdirSync(temporary);
  all = await startDistributed({
    // The first gateway is the one that suffers; at the second one callers and operators look on.
    replicas: { "gateway-auth-quota": 2, "ip-routing": 1, "asn-prefix": 0, "rdns-resolver": 0, ingest: 1 },
    settings: { LOG_LEVEL: "info", INGEST_TIMEOUT_MS: `${ingestTimeoutMs}`, OPERATOR_IDLE_MS: `${idleMs}` },
    settingsOf: (service): Record<string, string> =>
      service === "ingest"
        ? {
            SOURCES: sources,
            INGEST_SCHEDULE: "false",
            INGEST_STATE_DIR: stateFolder,
            TMPDIR: temporary,
            INGEST_LEASE_TTL_MS: `${leaseMs}`,
          }
        : {},
    snapshot: "by-ingest",
  });
  const create = (...args: string[]) =>
    netfactsJsonWith<{ secret: string }>(
      all.env,
      temporaryFolder(),
      "keys",
      "create",
      "--rate",
      "1000000/60s",
      "--month",
      "10000000",
      ...args,
    );
  adminKey = (await create("--label", "operator", "--scopes", "admin")).secret;
  lookups = new Lookups(`${all.gateways[1]?.url}/api/v1/ip/193.0.6.139`, (await create("--label", "caller", "--scopes", "ip")).secret);
  await until(async () => (await lookups.ask()).status === 200, patient);
  await until(async () => (await runs()).length > 0 && (await runs()).every(({ state }) => state !== "running"), patient);
  lookups.start();
});
afterEach(async () => {
  expect(lookups.taken()).toEqual({ some: true, failed: [] });
});
afterAll(async () => {
  await lookups?.stop();
  await all?.stop();
  await endAll();
  removeFolders();
});

/** A busy machine may hold up the store for so long, whatever happens to ingest. */
const storeIsLate = "limits_unavailable";

/** Questions one after the other, beside all that happens. */
class Lookups {
  /** Codes of problems that may be met for the moment. */
  allowed: readonly string[] = [];
  readonly #url: string;
  readonly #key: string;
  #failed: string[] = [];
  #right = 0;
  #stopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  ask(): Promise<Answer> {
    return request(this.#url, { key: this.#key });
  }

  start(): void {
    this.#running = (async () => {
      while (!this.#stopped) {
        const answer = await this.ask().catch((error: Error) => error);
        if (Error.isError(answer)) this.#failed.push(answer.message);
        else if (answer.status === 200) this.#right += 1;
        else if (answer.json.code !== storeIsLate && !this.allowed.includes(answer.json.code)) this.#failed.push(answer.text);
        await sleep(200);
      }
    })();
  }

  /** Since it was last asked. */
  taken(): { some: boolean; failed: string[] } {
    const seen = { some: this.#right > 0, failed: this.#failed.slice(0, 5) };
    this.#right = 0;
    this.#failed = [];
    return seen;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}

interface Run {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
}

const runsPath = "/admin/v1/ingest/runs";

async function runs(): Promise<Run[]> {
  const ask = () => request(`${all.gateways[1]?.operatorUrl}${runsPath}?limit=100`, { key: adminKey });
  let answer = await ask();
  // A busy ingest may take longer than the short time that it has here, and a busy store longer than a gateway waits for it.
  const busy = () => answer.status === 504 || answer.json?.code === "limits_unavailable";
  for (const deadline = performance.now() + slackMs; busy() && performance.now() < deadline; ) answer = await ask();
  if (answer.status !== 200) throw new Error(`runs cannot be listed: ${answer.text}`);
  return answer.json.items;
}

interface Outcome {
  /** null: the connection ended without an answer. */
  readonly status: number | null;
  readonly code: string | null;
  /** From the beginning. */
  readonly ms: number;
}

/** One body on its way: half of it is sent, and the rest when it is told to. */
class Upload {
  readonly socket: Socket;
  readonly outcome: Promise<Outcome>;
  /** The beginning of an answer, or the end of the connection. */
  readonly answered: Promise<void>;
  readonly #chunked: boolean;
  #sent = 0;

  /** @param bytes  of the body; the blanks are sent as far as is told. */
  constructor(gateway: number, { chunked = false, bytes = bodyBytes } = {}) {
    this.#chunked = chunked;
    this.bytes = bytes;
    const { hostname, port } = new URL(all.gateways[gateway]?.operatorUrl ?? "");
    this.socket = connect(Number(port), hostname);
    const since = performance.now();
    let text = "";
    const answered = Promise.withResolvers<void>();
    this.answered = answered.promise;
    this.socket.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      answered.resolve();
    });
    this.socket.on("error", () => {});
    this.outcome = new Promise((resolve) => {
      this.socket.once("close", () => {
        answered.resolve();
        const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
        resolve({
          status: status === undefined ? null : Number(status),
          code: /"code":"(\w+)"/.exec(text)?.[1] ?? null,
          ms: performance.now() - since,
        });
      });
    });
    const length = chunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
    const type = "Content-Type: application/json\r\nConnection: close";
    this.socket.write(`POST ${runsPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${adminKey}\r\n${type}\r\n${length}\r\n\r\n`);
  }

  readonly bytes: number;

  send(bytes: number): void {
    const text = (this.#sent === 0 ? "{}" : "").padEnd(bytes);
    this.#sent += bytes;
    this.socket.write(this.#chunked ? `${bytes.toString(16)}\r\n${text}\r\n` : text);
  }

  /** Half of it, and a moment for that to come to ingest. */
  async half(): Promise<void> {
    this.send(this.bytes / 2);
    await sleep(150);
  }

  rest(): void {
    this.send(this.bytes - this.#sent);
    if (this.#chunked) this.socket.write("0\r\n\r\n");
  }
}

/** What must hold after each fault. */
async function expectUntouched(before: readonly Run[]): Promise<void> {
  expect((await runs()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
}

let country = "NL";

/** A whole body starts a run, whose snapshot is served. */
async function expectNextWorks(gateway = 0): Promise<void> {
  country = country === "NL" ? "SE" : "NL";
  smallSources(join(sources, ".."), country);
  let outcome: Outcome = { status: null, code: null, ms: 0 };
  // Nobody leads for a moment after the leader was killed.
  await until(async () => {
    const upload = new Upload(gateway);
    await upload.half();
    upload.rest();
    outcome = await upload.outcome;
    return ![null, 409, 502, 503, 504].includes(outcome.status);
  }, patient);
  expect(outcome).toMatchObject({ status: 202, code: null });
  await until(async () => (await lookups.ask()).json.allocation?.registration_country === country, patient).catch(async () => {
    const logs = all.processes.map((process) => process.log().split("\n").slice(-15).join("\n"));
    throw new Error(`not served: ${JSON.stringify((await runs())[0])}\n${logs.join("\n")}`);
  });
  await until(async () => (await runs())[0]?.state === "succeeded", patient);
  // Ingest copies what serves after the run has ended, and removes with that copy what a killed one left.
  const left = () => [...leftovers(stateFolder), ...leftovers(temporary)];
  await until(() => left().length === 0, patient).catch(() => expect(left()).toEqual([]));
}

/** Files that nobody will ever use. */
function leftovers(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true }) as string[];
  return folder === temporary ? names : names.filter((name) => /\.tmp$|\.part$|partial/.test(name));
}

test.each([false, true])("a client that disconnects in the middle starts nothing (chunked: %s)", async (chunked) => {
  const before = await runs();
  const upload = new Upload(0, { chunked });
  await upload.half();
  upload.socket.destroy();
  await sleep(settledMs);
  await expectUntouched(before);
  await expectNextWorks();
});

test.each([false, true])(
  "ingest killed in the middle: 502 at once, and the next start takes the next one (chunked: %s)",
  async (chunked) => {
    const before = await runs();
    const upload = new Upload(0, { chunked });
    await upload.half();
    await all.kill("ingest", 0);
    // After an answer the gateway waits some seconds for the rest, which nobody reads.
    await upload.answered;
    upload.rest();
    const outcome = await upload.outcome;
    expect(outcome).toMatchObject({ status: 502, code: "upstream_error" });
    expect(outcome.ms).toBeLessThan(slackMs);
    await all.restart("ingest", 0);
    await expectUntouched(before);
    await expectNextWorks();
  },
);

test("ingest told to stop in the middle does not wait for a body that never ends", async () => {
  const before = await runs();
  const upload = new Upload(0);
  await upload.half();
  const trickle = setInterval(() => upload.send(1), 200);
  const since = performance.now();
  await all.kill("ingest", 0, "SIGTERM");
  const stoppedMs = performance.now() - since;
  await upload.answered;
  clearInterval(trickle);
  upload.rest();
  const outcome = await upload.outcome;
  expect(all.services.ingest[0]?.ended).toEqual({ code: 0, signal: null });
  expect(stoppedMs).toBeLessThan(slackMs);
  expect([502, 503]).toContain(outcome.status);
  await all.restart("ingest", 0);
  await expectUntouched(before);
  await expectNextWorks();
});

test("ingest frozen: 504 when the body was sent and its time is over, and what it does later starts no second run", async () => {
  const before = await runs();
  const upload = new Upload(0);
  await upload.half();
  freezeProcess(all.services.ingest[0]?.pid ?? 0);
  try {
    upload.rest();
    const outcome = await upload.outcome;
    expect(outcome).toMatchObject({ status: 504, code: "upstream_timeout" });
    expect(outcome.ms).toBeGreaterThan(ingestTimeoutMs);
    expect(outcome.ms).toBeLessThan(ingestTimeoutMs + slackMs);
  } finally {
    all.services.ingest[0]?.signal("SIGCONT");
  }
  // The whole body may have arrived: then a run was started, as it was asked for. Never more than that one.
  await sleep(settledMs);
  expect((await runs()).length - before.length).toBeLessThanOrEqual(1);
  await expectNextWorks();
});

test("ingest frozen with half of a body, and continued: the rest is taken, and the run started", async () => {
  const before = await runs();
  const upload = new Upload(0);
  await upload.half();
  freezeProcess(all.services.ingest[0]?.pid ?? 0);
  await sleep(settledMs);
  all.services.ingest[0]?.signal("SIGCONT");
  await expectUntouched(before);
  upload.rest();
  expect((await upload.outcome).status).toBe(202);
  await until(async () => (await runs()).length === before.length + 1, patient);
});

test("a gateway killed in the middle: the connection ends, and half a body starts nothing", async () => {
  const before = await runs();
  const upload = new Upload(0);
  await upload.half();
  await all.kill("gateway-auth-quota", 0);
  expect(await upload.outcome).toMatchObject({ status: null });
  await sleep(settledMs);
  await expectUntouched(before);
  await expectNextWorks(1);
  await all.restart("gateway-auth-quota", 0);
  await expectNextWorks();
});

test("a gateway that stops waits for a body, and not for long", async () => {
  const before = await runs();
  const upload = new Upload(0);
  await upload.half();
  const trickle = setInterval(() => upload.send(1), 200);
  const since = performance.now();
  await all.kill("gateway-auth-quota", 0, "SIGTERM");
  const stoppedMs = performance.now() - since;
  clearInterval(trickle);
  expect((await upload.outcome).status).toBe(null);
  expect(all.gateways[0]?.ended).toEqual({ code: 0, signal: null });
  expect(stoppedMs).toBeLessThan(5_000 + slackMs);
  await sleep(settledMs);
  await expectUntouched(before);
  await all.restart("gateway-auth-quota", 0);
  await expectNextWorks();
});

test("a gateway that stops lets a body that comes to its end be answered", async () => {
  const before = await runs();
  const upload = new Upload(0);
  await upload.half();
  const stopped = all.kill("gateway-auth-quota", 0, "SIGTERM");
  await sleep(300);
  upload.rest();
  expect((await upload.outcome).status).toBe(202);
  await stopped;
  expect((await runs()).length).toBe(before.length + 1);
  await all.restart("gateway-auth-quota", 0);
});

test("NATS away in the middle: the body is answered, its run ends with a reason or succeeds, and all is well when NATS is back", async () => {
  const upload = new Upload(0);
  await upload.half();
  lookups.allowed = ["upstream_unavailable", "upstream_timeout"];
  await all.nats.stop();
  upload.rest();
  const outcome = await upload.outcome;
  expect([202, 409, 503]).toContain(outcome.status);
  await all.restartNats();
  await until(async () => (await lookups.ask()).status === 200, patient);
  await sleep(settledMs);
  lookups.allowed = [];
  await until(async () => (await runs()).every(({ state }) => state !== "running"), patient);
  await expectNextWorks();
});

test("a byte now and then is an upload that goes on; silence is none", async () => {
  const before = await runs();
  const silent = new Upload(0);
  await silent.half();
  const slow = new Upload(0, { bytes: 16 });
  for (let sent = 0; sent < 8; sent++) {
    slow.send(2);
    await sleep(idleMs / 6);
  }
  const [ended, answered] = await Promise.all([silent.outcome, slow.outcome]);
  expect(ended).toMatchObject({ status: 408, code: "request_timeout" });
  expect(ended.ms).toBeGreaterThan(idleMs - 200);
  expect(ended.ms).toBeLessThan(idleMs + slackMs);
  expect([answered.status, answered.ms > idleMs]).toEqual([202, true]);
  await until(async () => (await runs()).length === before.length + 1, patient);
  await expectNextWorks();
});

test("ingest killed in the middle of runs: none is published by half, and none stays running", async () => {
  for (const delayMs of [0, 60, 200]) {
    smallSources(join(sources, ".."), "FI");
    const upload = new Upload(0);
    upload.rest();
    const outcome = await upload.outcome;
    expect([202, 409, 503]).toContain(outcome.status);
    await sleep(delayMs);
    await all.kill("ingest", 0);
    await all.restart("ingest", 0);
    await until(async () => (await runs()).every(({ state }) => state !== "running"), patient);
  }
  await expectNextWorks();
});

test("a full disk at ingest: a run that needs no space succeeds, or fails with a reason; what served goes on, and with space again the next one works", async () => {
  const pid = all.services.ingest[0]?.pid ?? 0;
  if (!limitFiles(pid, 0)) return;
  smallSources(join(sources, ".."), "DK");
  const upload = new Upload(0);
  upload.rest();
  expect([202, 503]).toContain((await upload.outcome).status);
  const isOver = async () => (await runs()).every(({ state }) => state !== "running");
  // Snapshots are published to JetStream, and the lock of a run takes no space. A slow run can outlive the lease, which a leader with a full disk gives up:
  // the leader after it, which may need space first, ends the run.
  await until(isOver, patient).catch(() => undefined);
  const [run] = await runs();
  if (run?.state !== "running")
    expect([run?.state, run?.error]).toEqual(run?.state === "failed" ? ["failed", expect.any(String)] : ["succeeded", null]);
  expect(limitFiles(pid, "unlimited")).toBe(true);
  await expectNextWorks();
  expect(await isOver()).toBe(true);
});
