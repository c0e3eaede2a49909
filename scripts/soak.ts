/**
 * `make soak MINUTES=60`: runs both forms under polite load that never repeats, and under every known abuse, each from its own address. Memory,
 * files, timers, sockets, subscriptions and disk must not grow. Polite callers must get right answers and almost no refusals.
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startDistributed } from "../test/support/distributed.ts";
import { endAll, netfactsJsonWith, removeFolders, type Settings, startStandalone, temporaryFolder } from "../test/support/processes.ts";
import { startRecursiveDns } from "../test/support/recursive-dns.ts";
import type { AbusedTarget, AbuseTally } from "./soak/abuser.ts";
import { nodeOptions, openLiveHeap } from "./soak/live-heap.ts";
import { emptyTally, isUnfair, quantileOf, type SoakTarget, soakLoad, sumsOf, type Tally } from "./soak/load.ts";
import { growthOf, logRate, type Sample, sampleOfFolder, sampleOfNats, sampleOfService } from "./soak/watch.ts";

const minutes = Number(process.env.MINUTES ?? 60);
const stepsPerSecond = Number(process.env.RATE ?? 150);
const abuse = process.env.ABUSE ?? "1";
const sampleMs = 5_000;
/** Interval of garbage collections, which stop a process for some 0.1 s. Cached texts live for a minute: 45 s meets them at different ages. */
const liveHeapMs = Math.min(45_000, Math.max(sampleMs, (minutes * 60_000) / 24));
const workers = 24;
/** Longest time before the abuse begins, in ms. Otherwise it is a tenth of the run. */
const quietMsMax = 120_000;
/** Small, so that the log of the one-process form is rotated within minutes and its limit is tested. */
const logBytesMax = 1 << 20;
// Less than half a minute has too few samples.
if (!(minutes >= 0.5 && minutes <= 24 * 60)) throw new Error("MINUTES must be a number from 0.5 to 1440 (one day)");
if (!(stepsPerSecond > 0)) throw new Error("RATE must be a number greater than 0");
if (abuse !== "0" && abuse !== "1") throw new Error("ABUSE must be 0 or 1");

interface Watched {
  readonly name: string;
  readonly sample: () => Partial<Sample> | Promise<Partial<Sample>>;
  readonly samples: Partial<Sample>[];
}

/** Samples each source at intervals. Rejects if a sample fails. */
async function watch(watched: readonly Watched[], everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { sample, samples } of watched) samples.push(await sample());
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Starts the abuse. `stop` resolves with its tally. */
function startAbuse(targets: readonly AbusedTarget[]): { readonly child: ChildProcess; stop(): Promise<AbuseTally> } {
  const execArgv = ["--conditions=source", "--no-warnings"];
  const child = fork(join(import.meta.dirname, "soak/abuser.ts"), [JSON.stringify(targets)], { execArgv });
  return {
    child,
    async stop() {
      const told = once(child, "message");
      child.send("stop");
      const [tally] = (await told) as [AbuseTally];
      return tally;
    },
  };
}

const undo: (() => unknown)[] = [];
try {
  undo.push(removeFolders, endAll);
  const home = temporaryFolder();
  const standaloneHome = temporaryFolder();
  const dns = await startRecursiveDns();
  undo.push(() => dns.stop());
  const settings = {
    RESOLVERS: dns.address,
    RDNS_TIMEOUT_MS: "1000",
    NODE_OPTIONS: nodeOptions,
    WHOIS_PORT: "0",
    WHOIS_PER_SECOND_MAX: "100000",
  };
  const printed = new Map<string, number>();
  const all = await startDistributed({
    replicas: { "ip-routing": 2, "gateway-auth-quota": 2 },
    natsConfig: 'http: "127.0.0.1:-1"',
    settings,
    onOutput: ({ name }, text) => printed.set(name, (printed.get(name) ?? 0) + Buffer.byteLength(text)),
  });
  undo.push(() => all.stop());
  const alone = await startStandalone(standaloneHome, { ...settings, LOG_BYTES_MAX: `${logBytesMax}` });
  undo.push(() => alone.stop());

  const key = async (env: Settings, folder: string, label: string, ...options: string[]): Promise<string> => {
    const limits = ["--rate", "1000000", "--month", "1000000000"];
    return (await netfactsJsonWith<{ secret: string }>(env, folder, "keys", "create", "--label", label, ...limits, ...options)).secret;
  };
  const adminKey = await key(all.env, home, "operator", "--scopes", "admin");
  const [polite, politeAlone] = [await key(all.env, home, "polite"), await key({}, standaloneHome, "polite")];
  const targets: SoakTarget[] = [
    ...all.gateways.map((gateway) => {
      const operator = { url: gateway.operatorUrl, key: adminKey };
      return { url: gateway.url, key: polite, operator, whoisPort: whoisPortIn(gateway.log()) };
    }),
    {
      url: alone.url,
      key: politeAlone,
      operator: null,
      whoisPort: whoisPortIn(readFileSync(join(standaloneHome, "netfacts.log"), "utf8")),
    },
  ];
  const monitor = /http monitor on (127\.0\.0\.1:\d+)/.exec(all.nats.log())?.[1];
  const watched: Watched[] = [
    ...all.processes.map(({ name, operationsUrl }) => {
      const log = logRate(() => printed.get(name) ?? 0);
      return { name, sample: async () => ({ ...(await sampleOfService(operationsUrl)), ...log() }), samples: [] };
    }),
    {
      name: "one process",
      sample: async () => ({ ...(await sampleOfService(alone.operationsUrl)), ...sampleOfFolder(standaloneHome) }),
      samples: [],
    },
    {
      name: "nats-server",
      sample: async () => ({ ...(await sampleOfNats(`http://${monitor}`)), ...sampleOfFolder(all.folder) }),
      samples: [],
    },
  ];

  const printedBy = [
    ...all.processes.map((process) => ({ name: process.name, text: process.log() })),
    { name: "one process", text: alone.err() },
  ];
  const heaps: Watched[] = await Promise.all(
    printedBy.map(async ({ name, text }) => {
      const heap = await openLiveHeap(text);
      undo.push(() => heap.close());
      return { name, sample: () => heap.read(), samples: [] };
    }),
  );

  const greedy: AbusedTarget[] = [
    { urls: all.gateways.map(({ url }) => url), key: await key(all.env, home, "greedy"), share: 0.25 },
    { urls: [alone.url], key: await key({}, standaloneHome, "greedy"), share: 0.1 },
  ];
  const [quiet, tally] = [emptyTally(), emptyTally()];
  const quietMs = abuse === "1" ? Math.min(quietMsMax, minutes * 6_000) : 0;
  console.log(`${minutes} minutes at up to ${stepsPerSecond} steps a second, ${abuse === "1" ? "with" : "without"} abuse`);
  // The load and the watch stop each other: one without the other proves nothing.
  const ending = new AbortController();
  const untilMs = performance.now() + minutes * 60_000;
  let abuseTally: AbuseTally = {};
  let load = 0;
  const ask = async (): Promise<void> => {
    await soakLoad(targets, performance.now() + quietMs, stepsPerSecond, workers, quiet, ending.signal);
    const abuser = abuse === "1" ? startAbuse(greedy) : null;
    undo.push(() => abuser?.child.kill("SIGKILL"));
    abuser?.child.once("exit", () => ending.abort());
    await soakLoad(targets, untilMs, stepsPerSecond, workers, tally, ending.signal);
    load = loadavg()[0] ?? Number.NaN;
    if (performance.now() < untilMs) throw new Error("the load ended too early");
    if (abuser !== null) abuseTally = await abuser.stop();
  };
  const lateness = monitorEventLoopDelay();
  lateness.enable();
  const ended = [ask(), watch(watched, sampleMs, ending.signal), watch(heaps, liveHeapMs, ending.signal)].map((one) =>
    one.finally(() => ending.abort()),
  );
  await Promise.allSettled(ended);
  await Promise.all(ended);

  console.table(Object.fromEntries([...tally.answers].sort()));
  if (abuse === "1") console.table(Object.fromEntries(Object.entries(abuseTally).sort()));
  let leaks = 0;
  const rows = [...heaps, ...watched].flatMap(({ name, samples }) =>
    growthOf(samples).map(({ name: what, start, before, after, bound, isLeak }) => {
      if (isLeak) leaks += 1;
      const of = { start: shown(start), middle: shown(before), end: shown(after), bound: shown(bound) };
      return { process: name, what, ...of, grows: isLeak ? "YES" : "" };
    }),
  );
  console.table(rows);
  for (const [name, what] of [...quiet.wrong, ...tally.wrong]) console.log(`wrong answer to ${name}: ${what}`);
  for (const [line, count] of tally.refused) console.log(`refused: ${count} × ${line}`);
  const of = (each: Tally) => ({ ...sumsOf(each), p50_ms: quantileOf(each, 0.5), p99_ms: quantileOf(each, 0.99) });
  const wrong = quiet.wrong.size + tally.wrong.size;
  const unfair = isUnfair(sumsOf(quiet), sumsOf(tally));
  const sums = { minutes, leaks, wrong, unfair, polite: of(tally), ...(quietMs > 0 && { quiet: of(quiet) }) };
  // The largest delay of this process, which is mostly idle: it shows how busy the machine is for all processes.
  const late_ms_max = Math.round(lateness.max / 1e6);
  console.log(JSON.stringify({ ...sums, load_average: Math.round(load * 10) / 10, late_ms_max }));
  process.exitCode = leaks === 0 && wrong === 0 && !unfair ? 0 : 1;
} finally {
  for (const step of undo.reverse()) await step();
}

function whoisPortIn(log: string): number {
  const port = /"whois_url":"whois:\/\/127\.0\.0\.1:(\d+)"/.exec(log)?.[1];
  if (port === undefined) throw new Error("a log has no whois_url");
  return Number(port);
}

function shown(value: number): string {
  if (value > 1 << 20) return `${(value / (1 << 20)).toFixed(1)} MiB`;
  return value > 10_000 ? `${(value / (1 << 10)).toFixed(1)} KiB` : String(Math.round(value));
}
