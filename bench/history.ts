/**
 * Questions about the past beside those of today: p50 and p99 of `/ip` at a fixed rate, through a gateway and one pod with the full table,
 * both as the container image runs them. The pod holds one day of the past. Measured alone; while somebody asks about one more day in a
 * minute; while two callers ask about two days in turn, so that the pod loads a full snapshot all the time; and beside another process of
 * the lowest priority that copies memory, which shows what the machine does to the same latency. Then what a day takes on disk.
 * `scripts/run.sh bench/history.ts [--rounds 3] [--rate 500] [--seconds 10]`
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openStore } from "@netfacts/pod/jetstream";
import { type Manifest, openDataFolder, pastManifest } from "@netfacts/snapshot";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { imageForm } from "./support/image-form.ts";
import { importModern } from "./support/modern.ts";
import { type Latency, runOpenLoad } from "./support/open-loop.ts";
import { median } from "./support/rounds.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    rate: { type: "string", default: "500" },
    seconds: { type: "string", default: "10" },
  },
});
const dayMs = 86_400_000;
const addresses = 2_000;

const data = requireData();
await withBacking(run);

async function run(backing: Backing): Promise<void> {
  const start = Date.now() - 3 * dayMs;
  let nowMs = start;
  const { store, close } = await openStore({
    bucket: "netfacts-snapshots",
    connection: { servers: backing.natsUrl, name: "bench" },
    retention: { last: 1 },
    clock: { now: () => nowMs },
  });
  const days: Manifest[] = [];
  for (const [name, edition] of [
    ["first", { edition: "first" }],
    ["second", { edition: "second" }],
    ["today", { edition: "second", peers: 2 }],
  ] as const) {
    const folder = join(backing.folder, name);
    await mkdir(folder);
    await importModern(data, folder, edition);
    const from = openDataFolder(folder);
    const manifest = await from.getManifest((await from.currentId()) as string);
    for (const { object, bytes } of [...Object.values(manifest.sections), ...Object.values(manifest.ingest_objects)])
      await store.putObject(await from.getObject(object, bytes));
    await store.publish(manifest);
    await store.activate(manifest.id);
    days.push(manifest);
    nowMs += dayMs;
  }
  await close();

  const startAsImage = await imageForm(backing);
  const pod = startAsImage("ip-routing", "pod", { HISTORY_SNAPSHOTS_MAX: "1" });
  await pod.logged(/ready for requests/);
  const memoryBefore = await memoryMiB(pod.pid);
  const gateway = startAsImage("gateway-auth-quota", "gateway", { HISTORY_BUDGET_MS: "30000" });
  const [, url = ""] = await gateway.logged(/"url":"([^"]+)","msg":"listening"/);
  const headers = { authorization: `Bearer ${backing.key}` };
  const paths = addressTexts(data, addresses).map((text) => `/api/v1/ip/${text}`);
  const load = (seconds = Number(values.seconds)): Promise<Latency> =>
    runOpenLoad({ url, paths, headers, connections: 32, requestsPerSecond: Number(values.rate), seconds });
  const askPast = async (day: number): Promise<boolean> => {
    const asOf = new Date(start + day * dayMs + 3_600_000).toISOString();
    const response = await fetch(`${url}/api/v1/ip/193.0.6.139?as_of=${asOf}`, { headers });
    const { meta } = (await response.json()) as { meta?: { history?: { snapshot: string } } };
    return meta?.history?.snapshot === days[day]?.id;
  };
  // Everything is compiled, every text is made, and the thread of the past runs.
  let dayInMemory = 1;
  for (const day of [0, 1, 0, dayInMemory]) await askPast(day);
  await load(20);

  const past: number[][] = [];
  let failedPast = 0;
  /** Asks about this day and the other one in turn until it is told to stop. */
  const keepAsking = (first: number): (() => Promise<void>) => {
    let asking = true;
    const times: number[] = [];
    past.push(times);
    const asked = (async () => {
      for (let day = first; asking; day = 1 - day) {
        const askedAt = performance.now();
        if (await askPast(day)) times.push(performance.now() - askedAt);
        else failedPast += 1;
      }
    })();
    return () => {
      asking = false;
      return asked;
    };
  };

  /** What goes on beside the questions of today. */
  const situations: Record<string, () => Promise<Latency>> = {
    alone: () => load(),
    "beside another process that copies memory": async () => {
      const copier = copyMemory(Number(values.seconds));
      const latency = await load();
      await stopped(copier);
      return latency;
    },
    "beside one more day in a minute": async () => {
      dayInMemory = 1 - dayInMemory;
      const [latency, isRight] = await Promise.all([load(60), delay(5_000).then(() => askPast(dayInMemory))]);
      if (!isRight) failedPast += 1;
      return latency;
    },
    "beside questions that load a day each time": async () => {
      const ends = [keepAsking(0), keepAsking(1)];
      const latency = await load();
      await Promise.all(ends.map((end) => end()));
      await askPast(dayInMemory);
      return latency;
    },
  };
  const rounds: Record<string, Latency>[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const latencies: Record<string, Latency> = {};
    for (const [name, measure] of Object.entries(situations)) latencies[name] = await measure();
    rounds.push(latencies);
  }
  const loads = loadsOf(await readFile(join(backing.folder, "pod.log"), "utf8"));
  const line = (name: string, numbers: readonly number[], digits = 2) =>
    console.log(
      `${name.padEnd(56)}${median(numbers).toFixed(digits).padStart(10)}${Math.max(...numbers)
        .toFixed(digits)
        .padStart(10)}`,
    );
  console.log(
    `\n/ip at ${values.rate} a second, ${rounds.length} rounds of ${values.seconds} s${"median".padStart(22)}${"worst".padStart(10)}`,
  );
  const all = (name: string, of: (latency: Latency) => number) => rounds.map((latencies) => of(latencies[name] as Latency));
  for (const name of Object.keys(situations))
    line(
      `p50 ${name}, ms`,
      all(name, ({ p50Ms }) => p50Ms),
    );
  for (const name of Object.keys(situations))
    line(
      `p99 ${name}, ms`,
      all(name, ({ p99Ms }) => p99Ms),
    );
  line(
    "failed, of today",
    Object.keys(situations).flatMap((name) => all(name, ({ failed }) => failed)),
    0,
  );
  line("failed, about the past", [failedPast], 0);
  line("ms of an answer that loads a day, median of an asker", past.map(median), 0);
  line("ms of loading a snapshot in the worker", loads, 0);
  const memory = await memoryMiB(pod.pid);
  console.log(`memory of the pod, MiB: ${memoryBefore.now} before, ${memory.now} after, ${memory.most} at most`);
  for (const [index, manifest] of days.entries()) {
    const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
    const kept = Object.values(pastManifest(manifest).sections).reduce((sum, { bytes }) => sum + bytes, 0);
    const ofIngest = Object.values(manifest.ingest_objects).reduce((sum, { bytes }) => sum + bytes, 0);
    console.log(`snapshot ${index}: ${mib(kept)} MiB kept of a day, ${mib(ofIngest)} MiB that only ingest reads`);
  }
  console.log(JSON.stringify({ bench: "history", rounds, past, memoryBefore, memory }));
}

/** Another process with the lowest priority, which copies 64 MiB to and fro and ends by itself. */
function copyMemory(seconds: number): ChildProcess {
  const script = `
    require("node:os").setPriority(require("node:os").constants.priority.PRIORITY_LOW);
    const [from, to] = [Buffer.alloc(2 ** 26, 1), Buffer.alloc(2 ** 26)];
    const end = Date.now() + ${(seconds + 5) * 1_000};
    while (Date.now() < end) from.copy(to);`;
  return spawn(process.execPath, ["--eval", script], { stdio: "inherit" });
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "close");
}

/** How long loads took, from the log of the pod. */
function loadsOf(log: string): number[] {
  return [...log.matchAll(/"load_ms":(\d+)[^\n]*"msg":"snapshot of the past loaded"/g)].map(([, ms]) => Number(ms));
}

async function memoryMiB(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const mib = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_024);
  return { now: mib("VmRSS"), most: mib("VmHWM") };
}
