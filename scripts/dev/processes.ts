/**
 * Starts and watches the processes of `make dev`: if one ends unexpectedly, all are stopped. It is a child process of scripts/dev.ts, which
 * stops it by a message or by its own exit.
 */

import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Distributed, startDistributed } from "../../test/support/distributed.ts";
import type { ServiceEnd } from "../../test/support/service-process.ts";
import { LineStream } from "./lines.ts";
import { findNameserver, type Nameserver } from "./nameserver.ts";
import { devPorts } from "./ports.ts";
import { exampleAddress, type Row, welcomeText } from "./welcome.ts";

const root = resolve(import.meta.dirname, "../..");
const replicas = { "ip-routing": 2, "asn-prefix": 1, "rdns-resolver": 1, ingest: 1, "gateway-auth-quota": 2 };
const names = Object.entries(replicas).flatMap(([service, count]) => Array.from({ length: count }, (_, index) => `${service}-${index}`));
const lastLines = 20;
const watchIntervalMs = 250;
/** Longest wait for an answered request before the welcome text is printed anyway. */
const answeredMsMax = 30_000;

/** The developer's settings that every service gets. Node's compile cache makes the next starts cheaper. */
const passedOn = /^(OTEL_|LOG_LEVEL$|NODE_COMPILE_CACHE$)/;

const stopping = new AbortController();
const { signal } = stopping;
const { isTTY } = process.stdout;
const stream = new LineStream({
  names,
  isColoured: isTTY === true && !process.env.NO_COLOR,
  write: (text) => void process.stdout.write(text),
});

process.on("message", () => stopping.abort());
process.on("disconnect", () => stopping.abort());
// If the reader of the output is gone (`| head`), stop in order.
process.stdout.on("error", () => stopping.abort());

let nameserver: Nameserver | null = null;
let all: Distributed | null = null;
let fault: Error | null = null;
try {
  const ports = await devPorts(process.env.DEV_PORT ?? "", replicas);
  nameserver = await findNameserver(ports?.unbound ?? 0);
  all = await startDistributed({
    replicas,
    ...(ports !== null && { ports }),
    settings: { ...ownSettings(), RESOLVERS: nameserver.resolvers },
    settingsOf: (service) => (service === "ingest" ? { SOURCES: process.env.SOURCES || join(root, "samples/sources.yaml") } : {}),
    snapshot: "by-ingest",
    signal,
    onOutput: ({ name }, text) => stream.add(name, text),
  });
  process.stdout.write(await welcome(all, nameserver));
  await untilEnd(all, nameserver);
} catch (error) {
  // A stop during the start makes the start fail, which is no fault.
  if (!signal.aborted) fault = error as Error;
}
await all?.stop();
await nameserver?.unbound?.stop();
for (const name of names) stream.end(name);
if (fault === null) process.stdout.write("stopped\n", () => process.exit());
else tellLast(fault);

/** Prints the reason as the last line, where a developer looks first, and the details before it. */
function tellLast({ message }: Error): void {
  const [reason = "", ...details] = message.trimEnd().split("\n");
  process.stdout.write("", () => {
    process.stderr.write(`${[...details, "", `make dev ended: ${reason.replace(/:$/, "")}`].join("\n")}\n`, () => process.exit(1));
  });
}

function ownSettings(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => passedOn.test(entry[0])));
}

async function welcome(running: Distributed, { unbound, note }: Nameserver): Promise<string> {
  const { nats, mongo, processes, gateways, env } = running;
  const servers: Row[] = [
    { name: "nats-server", pid: nats.pid, at: nats.url, operations: "" },
    { name: mongo.kind, pid: mongo.pid, at: running.mongoUrl, operations: "" },
  ];
  if (unbound !== null) servers.push({ name: "unbound", pid: unbound.pid, at: unbound.address, operations: "" });
  const rows = processes.map(({ name, service, pid, url, operationsUrl }) => ({
    name,
    pid,
    at: service === "gateway-auth-quota" || service === "ingest" ? url : "",
    operations: operationsUrl,
  }));
  const [gateway] = gateways;
  const key = await firstKey(env);
  if (gateway !== undefined) await untilAnswered(gateway.url, key);
  return welcomeText({
    rows: [...servers, ...rows],
    notes: [note],
    key,
    url: gateway?.url ?? "",
    operatorUrl: gateway?.operatorUrl ?? "",
    env,
  });
}

/** Waits for the first answer. A key's first request writes to a database that has just started, which can take longer than a request may. */
async function untilAnswered(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (const end = performance.now() + answeredMsMax; performance.now() < end; await sleep(200, undefined, { signal })) {
    const bounds = AbortSignal.any([signal, AbortSignal.timeout(5_000)]);
    const answer = await fetch(`${url}/api/v1/ip/${exampleAddress}`, { headers, signal: bounds }).catch(() => null);
    await answer?.body?.cancel();
    if (answer !== null && answer.status < 500) return;
  }
}

/** Creates a key with the command line, as a developer would. */
async function firstKey(env: Readonly<Record<string, string>>): Promise<string> {
  const args = ["--conditions=source", join(root, "services/cli/src/main.ts"), "keys", "create", "--label", "dev", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_NO_WARNINGS: "1", ...env }, signal });
  return (JSON.parse(stdout) as { secret: string }).secret;
}

function howText(end: ServiceEnd | null): string {
  if (end === null) return "";
  return end.signal === null ? ` with status ${end.code}` : ` by ${end.signal}`;
}

/** Resolves when a stop is requested. Rejects if a process ends unexpectedly, with the reason, then the last lines of its log. */
function untilEnd({ nats, mongo, processes }: Distributed, { unbound }: Nameserver): Promise<void> {
  const watched: { name: string; pid: number | null; log(): string; how?(): string }[] = [
    { name: "nats-server", pid: nats.pid, log: () => nats.log() },
    { name: mongo.kind, pid: mongo.pid, log: () => mongo.log() },
    ...(unbound === null ? [] : [{ name: "unbound", pid: unbound.pid, log: () => unbound.log() }]),
    ...processes.map((each) => ({ name: each.name, pid: each.pid, log: () => each.log(), how: () => howText(each.ended) })),
  ];
  return new Promise((done, fail) => {
    const timer = setInterval(() => {
      const ended = watched.find(({ pid }) => pid !== null && !isAlive(pid));
      if (ended === undefined) return;
      clearInterval(timer);
      const lines = ended.log().trimEnd().split("\n").slice(-lastLines);
      const head = `${ended.name} (process ${ended.pid}) ended unexpectedly${ended.how?.() ?? ""}; all other processes were stopped`;
      fail(new Error([head, `last lines of ${ended.name}:`, ...lines].join("\n")));
    }, watchIntervalMs);
    const stop = () => {
      clearInterval(timer);
      done();
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
