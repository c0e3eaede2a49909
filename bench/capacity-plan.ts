/**
 * What copies of gateways and pods cost: GET /api/v1/ip/{address} over 1 to 4 gateways × 1 to 3 pods of `ip-routing`, each a process of its
 * own, until the machine is full. Processor time, wake-ups and bytes on NATS for each request, memory for each connection, operations of
 * MongoDB for each key. Then the plan that follows from these figures (`support/plan.ts`).
 * `scripts/run.sh bench/capacity-plan.ts [--rounds 3] [--seconds 3] [--folder DIR] [--plan]`; `--folder`: a data folder whose
 * snapshot is used in place of an import; `--plan`: only the plan of the figures in the page.
 */

import { mkdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createKey } from "@netfacts/keys";
import { openMongoStore } from "@netfacts/storage/mongo";
import { freePort } from "../test/support/free-ports.ts";
import { startMongodbProxy } from "../test/support/mongodb-proxy.ts";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { copySnapshot, importModern } from "./support/modern.ts";
import { runOpenLoad } from "./support/open-loop.ts";
import { type MeasuredCosts, measuredCosts, planTable } from "./support/plan.ts";
import { type ProcessUse, useOf, useSince } from "./support/process-use.ts";
import { median } from "./support/rounds.ts";
import { residentMib, type ServiceProcess, startProcess } from "./support/service-process.ts";
import { findWrk, type LoadResult, runWrk } from "./support/wrk.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    folder: { type: "string" },
    plan: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const gatewaysMax = 4;

interface Gateway {
  readonly url: string;
  readonly metricsUrl: string;
  readonly process: ServiceProcess;
}

interface Scene {
  readonly name: string;
  /** Processes beside, which only use processor time. */
  readonly burners?: number;
  readonly gateways: number;
  /** Of all gateways together; each has its share. */
  readonly connections: number;
  /** Of all gateways together; absent: as many as are answered. */
  readonly requestsPerSecond?: number;
}

/** For each request, but where the name says otherwise. */
interface Measured {
  readonly requestsPerSecond: number;
  readonly failed: number;
  readonly gatewayUs: number;
  readonly podUs: number;
  readonly natsUs: number;
  /** Of gateways, pods and nats-server. */
  readonly coresUsed: number;
  /** Share of the time in which the threads of the gateways could run and had to wait for a processor, of what they ran. */
  readonly waited: number;
  readonly gatewayWakes: number;
  readonly podWakes: number;
  readonly itemsPerFrame: number;
  /** Into and out of nats-server together. */
  readonly natsBytes: number;
  readonly natsMessages: number;
}

async function measure(): Promise<void> {
  const data = requireData();
  const wrk = await findWrk();
  if (!wrk.found) return console.log(`not run: ${wrk.remedy}`);
  await withBacking(async (backing) => {
    const id =
      values.folder === undefined
        ? (await importModern(data, backing.folder, { store: backing.store })).snapshot
        : (await copySnapshot(values.folder, backing.store)).id;
    await backing.store.activate(id as string);
    const paths = addressTexts(data, 2_000).map((ip) => `/api/v1/ip/${ip}`);
    const headers = { authorization: `Bearer ${backing.key}` };
    const load = { paths, headers, folder: backing.folder };
    const pods: ServiceProcess[] = [];
    const gateways: Gateway[] = [];
    await addPod(backing, pods);
    for (let index = 0; index < gatewaysMax; index++) gateways.push(await startGateway(backing, `gateway-${index}`));
    await warmUp(wrk, load, gateways);

    const run = (scene: Scene) => runScene(backing, wrk, load, gateways.slice(0, scene.gateways), pods, scene);
    const table = new Map<string, Measured[]>();
    const runAll = async (scenes: readonly Scene[]) => {
      for (let round = 0; round < rounds; round++) {
        for (const scene of scenes) {
          const name = `${scene.gateways} × ${pods.length}, ${scene.name}`;
          table.set(name, [...(table.get(name) ?? []), await run(scene)]);
        }
      }
    };
    await runAll([...curve, ...sharedScenes([1, 2, 4]), ...besideOthers, ...ownScenes([4]), ...slowScenes]);
    await addPod(backing, pods);
    await runAll([...sharedScenes([1, 2, 4])]);
    await addPod(backing, pods);
    await runAll([...sharedScenes([1, 2, 4]), ...ownScenes([4]), ...slowScenes]);

    const medians = [...table].map(([name, results]) => [name, medianOf(results)] as const);
    printScenes(medians);
    printGrowth(medians);
    printP18(medians);
    await memoryOfConnections(backing, load);
    const mongodb = await operationsOfMongodb(backing, paths);
    const one = medians.find(([name]) => name === `1 × 1, ${planned}`)?.[1] as Measured;
    const costs: MeasuredCosts = {
      gatewayUs: one.gatewayUs,
      podUs: one.podUs,
      natsUs: one.natsUs,
      natsBytes: one.natsBytes,
      natsMessages: one.natsMessages,
      storeOperationsPerKey: mongodb.perKey,
      storeOperationsPerGateway: mongodb.perGateway,
    };
    console.log(`\n${planTable(costs)}`);
    console.log(JSON.stringify({ bench: "capacity plan", costs, scenes: Object.fromEntries(medians) }));
  });
}

/** What the plan counts with: about four requests share a frame, as at a gateway that is half used. */
const planned = "4 connections";
/** More and more requests share a turn of the event loop, and so a frame. */
const curve: readonly Scene[] = [1, 4, 16, 256].map((connections) => ({ name: `${connections} connections`, gateways: 1, connections }));
/** What the want of processors does by itself: nothing of Netfacts is beside. */
const besideOthers: readonly Scene[] = [3, 6].map((burners) => ({
  name: `64 connections, beside ${burners} others`,
  gateways: 1,
  connections: 64,
  burners,
}));
const belowSaturation = "1,000 requests/s over 64 connections";
const slowScenes: readonly Scene[] = [
  { name: belowSaturation, gateways: 1, connections: 64, requestsPerSecond: 1_000 },
  { name: belowSaturation, gateways: gatewaysMax, connections: 64, requestsPerSecond: 1_000 },
  { name: "100 requests/s for each gateway", gateways: 1, connections: 16, requestsPerSecond: 100 },
  { name: "100 requests/s for each gateway", gateways: gatewaysMax, connections: 64, requestsPerSecond: 400 },
];
function sharedScenes(gateways: readonly number[]): Scene[] {
  return gateways.map((count) => ({ name: "64 connections", gateways: count, connections: 64 }));
}
function ownScenes(gateways: readonly number[]): Scene[] {
  return gateways.map((count) => ({ name: "64 connections for each gateway", gateways: count, connections: 64 * count }));
}

interface Load {
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly folder: string;
}
type Wrk = Extract<Awaited<ReturnType<typeof findWrk>>, { found: true }>;

async function startGateway(backing: Backing, name: string, more: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const port = await freePort();
  const { url, process } = await backing.startGateway(name, [], { TELEMETRY_PORT: `${port}`, ...more });
  return { url, metricsUrl: `http://127.0.0.1:${port}/metrics`, process };
}

async function addPod({ startPod }: Backing, pods: ServiceProcess[]): Promise<void> {
  const pod = startPod("ip-routing", `ip-routing-${pods.length}`);
  await pod.logged(/ready for requests/);
  pods.push(pod);
}

/** Code is compiled in each gateway before anything counts. */
async function warmUp(wrk: Wrk, load: Load, gateways: readonly Gateway[]): Promise<void> {
  for (const { url } of gateways) {
    // A gateway learns from its first answers that somebody serves.
    for (let tries = 0; tries < 100 && (await statusOf(`${url}${load.paths[0]}`, load.headers)) !== 200; tries++) await sleep(100);
    await runWrk(wrk, { ...load, url, connections: 64, seconds: 2 * seconds });
  }
}

async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

async function runScene(
  backing: Backing,
  wrk: Wrk,
  load: Load,
  gateways: readonly Gateway[],
  pods: readonly ServiceProcess[],
  scene: Scene,
): Promise<Measured> {
  const look = async () => ({
    at: performance.now(),
    gateways: gateways.map(({ process }) => useOf(process.pid)),
    pods: pods.map(({ pid }) => useOf(pid)),
    nats: useOf(backing.natsPid),
    varz: await natsFigures(backing.natsMonitorUrl),
    frames: await framesOf(gateways),
  });
  const each = { ...load, connections: Math.max(1, scene.connections / gateways.length), seconds };
  const others = Array.from({ length: scene.burners ?? 0 }, (_, index) =>
    startProcess("bench/support/burner.ts", { name: `burner-${index}`, folder: load.folder, args: ["1", `${seconds + 1}`] }),
  );
  if (others.length > 0) await sleep(500);
  const before = await look();
  const results = await Promise.all(
    gateways.map(async ({ url }, index): Promise<Pick<LoadResult, "answered" | "failed">> => {
      const rate = scene.requestsPerSecond;
      if (rate !== undefined) return runOpenLoad({ ...each, url, requestsPerSecond: rate / gateways.length });
      return runWrk(wrk, { ...each, url, folder: await scriptFolder(load.folder, index) });
    }),
  );
  const after = await look();
  await Promise.all(others.map((other) => other.stop()));
  const answered = results.reduce((sum, result) => sum + result.answered, 0);
  const elapsedUs = (after.at - before.at) * 1_000;
  const sum = (from: readonly ProcessUse[], to: readonly ProcessUse[]) => to.map((use, index) => useSince(from[index] as ProcessUse, use));
  const total = (uses: readonly ProcessUse[], of: keyof ProcessUse) => uses.reduce((all, use) => all + use[of], 0);
  const ofGateways = sum(before.gateways, after.gateways);
  const ofPods = sum(before.pods, after.pods);
  const ofNats = useSince(before.nats, after.nats);
  const ranUs = total(ofGateways, "ranUs");
  return {
    requestsPerSecond: answered / (elapsedUs / 1e6),
    failed: results.reduce((all, result) => all + result.failed, 0),
    gatewayUs: ranUs / answered,
    podUs: total(ofPods, "ranUs") / answered,
    natsUs: ofNats.ranUs / answered,
    coresUsed: (ranUs + total(ofPods, "ranUs") + ofNats.ranUs) / elapsedUs,
    waited: total(ofGateways, "waitedUs") / ranUs,
    gatewayWakes: total(ofGateways, "switches") / answered,
    podWakes: total(ofPods, "switches") / answered,
    itemsPerFrame: (after.frames.items - before.frames.items) / (after.frames.frames - before.frames.frames),
    natsBytes: (after.varz.bytes - before.varz.bytes) / answered,
    natsMessages: (after.varz.messages - before.varz.messages) / answered,
  };
}

/** Each load generator writes a script of its own. */
async function scriptFolder(folder: string, index: number): Promise<string> {
  const path = `${folder}/wrk-${index}`;
  await mkdir(path, { recursive: true });
  return path;
}

async function natsFigures(monitorUrl: string): Promise<{ readonly bytes: number; readonly messages: number }> {
  const varz = (await (await fetch(`${monitorUrl}/varz`)).json()) as Record<string, number>;
  const of = (name: string) => varz[name] ?? 0;
  return { bytes: of("in_bytes") + of("out_bytes"), messages: of("in_msgs") + of("out_msgs") };
}

async function framesOf(gateways: readonly Gateway[]): Promise<{ readonly items: number; readonly frames: number }> {
  let items = 0;
  let frames = 0;
  for (const { metricsUrl } of gateways) {
    const text = await (await fetch(metricsUrl)).text();
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "gm"))].reduce((all, [, value]) => all + Number(value), 0);
    items += sum("netfacts_items_sent_total");
    frames += sum("netfacts_frames_sent_total");
  }
  return { items, frames };
}

function medianOf(results: readonly Measured[]): Measured {
  const names = Object.keys(results[0] as Measured) as (keyof Measured)[];
  return Object.fromEntries(names.map((name) => [name, median(results.map((result) => result[name]))])) as unknown as Measured;
}

function printScenes(scenes: readonly (readonly [string, Measured])[]): void {
  console.log(`\ngateways × pods of ip-routing, GET /ip; processor time in µs per request; medians of ${rounds} rounds of ${seconds} s`);
  const heads = [
    "requests/s",
    "failed",
    "items/frame",
    "gateway",
    "pod",
    "nats",
    "sum",
    "cores",
    "waited",
    "wakes gw",
    "wakes pod",
    "bytes",
    "messages",
  ];
  console.log(`${"".padEnd(46)}${heads.map((head) => head.padStart(12)).join("")}`);
  for (const [name, measured] of scenes) {
    const { gatewayUs, podUs, natsUs } = measured;
    const cells = [
      measured.requestsPerSecond.toFixed(0),
      measured.failed.toFixed(0),
      measured.itemsPerFrame.toFixed(1),
      ...[gatewayUs, podUs, natsUs, gatewayUs + podUs + natsUs].map((us) => us.toFixed(0)),
      measured.coresUsed.toFixed(2),
      measured.waited.toFixed(2),
      measured.gatewayWakes.toFixed(2),
      measured.podWakes.toFixed(2),
      measured.natsBytes.toFixed(0),
      measured.natsMessages.toFixed(2),
    ];
    console.log(`${name.padEnd(46)}${cells.map((cell) => cell.padStart(12)).join("")}`);
  }
}

/**
 * How much of the growth from one gateway and pod is that fewer requests share a frame: a line through the scenes of one gateway and pod,
 * over 1 / (requests in a frame). The rest of the growth is that processes wait for processors, and find their caches cold.
 */
function printGrowth(scenes: readonly (readonly [string, Measured])[]): void {
  const sum = ({ gatewayUs, podUs, natsUs }: Measured) => gatewayUs + podUs + natsUs;
  const points = scenes
    .filter(([name, { itemsPerFrame }]) => /^1 × 1, \d+ connections$/.test(name) && itemsPerFrame > 2)
    .map(([, measured]) => ({ x: 1 / measured.itemsPerFrame, y: sum(measured) }));
  const mean = (of: (point: { x: number; y: number }) => number) => points.reduce((all, point) => all + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const slope = mean(({ x, y }) => (x - meanX) * (y - meanY)) / mean(({ x }) => (x - meanX) ** 2);
  const expected = (items: number) => meanY + slope * (1 / items - meanX);
  const base = scenes.find(([name]) => name === "1 × 1, 64 connections")?.[1];
  if (base === undefined) return;
  console.log(
    `\nµs per request of all processes: ${(meanY - slope * meanX).toFixed(0)} + ${slope.toFixed(0)} / requests in a frame, at 1 × 1`,
  );
  for (const [name, measured] of scenes) {
    if (!name.includes("64 connections") || measured === base) continue;
    const growth = sum(measured) - sum(base);
    const shared = expected(measured.itemsPerFrame) - expected(base.itemsPerFrame);
    const rest = growth - shared;
    console.log(
      `${name.padEnd(46)} ${sum(measured).toFixed(0)} µs: ${sum(base).toFixed(0)} + ${shared.toFixed(0)} by frames + ${rest.toFixed(0)} by processors`,
    );
  }
}

/** P18: the same rate over more copies, while processors are idle. */
function printP18(scenes: readonly (readonly [string, Measured])[]): void {
  const table = new Map(scenes);
  const [one, many] = ["1 × 1", `${gatewaysMax} × 3`].map((copies) => {
    const { gatewayUs, podUs, natsUs } = table.get(`${copies}, ${belowSaturation}`) as Measured;
    return gatewayUs + podUs + natsUs;
  }) as [number, number];
  console.log(
    `\nP18, ${belowSaturation}: ${many.toFixed(0)} µs at ${gatewaysMax} × 3, ${one.toFixed(0)} at 1 × 1: ${(many / one).toFixed(2)} ×`,
  );
}

const idleConnections = 1_000;

/** Resident memory that connections take at a gateway of their own: idle ones beside none, and then all of them with a request now and then. */
async function memoryOfConnections(backing: Backing, load: Load): Promise<void> {
  const { url, process } = await startGateway(backing, "gateway-memory");
  const request = { ...load, url, connections: 64, requestsPerSecond: 500, seconds: 20 };
  await runOpenLoad(request);
  await sleep(2_000);
  const few = residentMib(process.pid).now;
  const sockets = await Promise.all(Array.from({ length: idleConnections }, () => askedOnce(url, load)));
  await sleep(2_000);
  const idle = residentMib(process.pid).now;
  for (const socket of sockets) socket.destroy();
  await sleep(2_000);
  const between = residentMib(process.pid).now;
  await runOpenLoad({ ...request, connections: idleConnections });
  const busy = residentMib(process.pid).now;
  console.log(
    `\na gateway: ${few} MiB with 64 connections; ${idle} MiB with ${idleConnections} idle ones; ${between} MiB after these; ${busy} MiB with ${idleConnections} busy ones`,
  );
}

/** A connection that has had one answer, and stays open. */
async function askedOnce(url: string, { paths, headers }: Load): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  await new Promise((resolve) => {
    socket.once("data", resolve).once("close", resolve);
    socket.write(`GET ${paths[0]} HTTP/1.1\r\nhost: ${hostname}\r\n${head.join("")}\r\n`);
  });
  return socket;
}

/** Commands that a gateway sends to MongoDB in a second: without requests, and with 1 and 20 keys that ask ten times a second each. */
async function operationsOfMongodb(backing: Backing, paths: readonly string[]): Promise<{ perGateway: number; perKey: number }> {
  const uri = new URL(backing.env.MONGODB_URI as string);
  const proxy = await startMongodbProxy(Number(uri.port));
  const store = await openMongoStore(backing.env.MONGODB_URI as string, { appName: "bench" });
  const keys: string[] = [];
  for (let index = 0; index < 20; index++) {
    const spec = {
      label: `bench-${index}`,
      scopes: ["ip" as const],
      rate: { limit: 1_200, windowSeconds: 60 },
      month: { limit: 1_000_000 },
    };
    keys.push((await createKey(store, spec)).secret);
  }
  await store.close();
  uri.port = new URL(proxy.url).port;
  const { url } = await startGateway(backing, "gateway-store", { MONGODB_URI: uri.href });
  const counted = async (count: number): Promise<number> => {
    const ask = () =>
      Promise.all(
        keys
          .slice(0, count)
          .map((key) =>
            runOpenLoad({ url, paths, headers: { authorization: `Bearer ${key}` }, connections: 2, requestsPerSecond: 10, seconds: 15 }),
          ),
      );
    await (count === 0 ? sleep(5_000) : ask());
    const before = proxy.commands.length;
    const started = performance.now();
    await (count === 0 ? sleep(15_000) : ask());
    const names = new Map<string, number>();
    for (const command of proxy.commands.slice(before)) {
      const name = `${Object.keys(command)[0]} ${Object.values(command)[0]}`;
      names.set(name, (names.get(name) ?? 0) + 1);
    }
    console.log(`${count} keys, 10 requests/s each: ${[...names].map(([name, times]) => `${times} ${name}`).join(", ") || "nothing"}`);
    return (proxy.commands.length - before) / ((performance.now() - started) / 1_000);
  };
  console.log("\ncommands of one gateway at MongoDB in 15 s");
  const [none, one, twenty] = [await counted(0), await counted(1), await counted(20)];
  await proxy.stop();
  const perKey = (twenty - one) / 19;
  return { perKey, perGateway: Math.max(none, one - perKey) };
}

if (values.plan) console.log(planTable(measuredCosts));
else await measure();
