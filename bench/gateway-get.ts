/**
 * P1 and P2: GET /api/v1/ip/{address} with a key and limits, through gateway, NATS and `ip-routing`, each a process of its own, beside
 * a bare Fastify handler that returns the same bytes, nginx with Lua before such a handler (`support/nginx-lua.ts`), and the obvious design
 * (`support/obvious-design.ts`). P1 compares processor time with nginx, P2 throughput with the obvious design. Then the latency of the
 * first two at a fixed rate: each at half of what it did, and the bare handler also at half of what the gateway did.
 * `scripts/run.sh bench/gateway-get.ts [--rounds 5] [--seconds 4] [--connections 64,256]`
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { importModern } from "./support/modern.ts";
import { findNginxLua, startNginxLua } from "./support/nginx-lua.ts";
import { type Latency, runOpenLoad } from "./support/open-loop.ts";
import { median, printResults, type SideResult } from "./support/rounds.ts";
import { cpuSeconds, type ServiceProcess, startProcess } from "./support/service-process.ts";
import { findWrk, type LoadResult, runWrk } from "./support/wrk.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    connections: { type: "string", default: "64,256" },
    sides: { type: "string", default: "" },
  },
});
const addresses = 2_000;
const data = requireData();
const wrk = await findWrk();
if (wrk.found) await withBacking(compare);
else console.log(`not run: ${wrk.remedy}`);

interface HttpSide {
  readonly name: string;
  readonly url: string;
  /** All processes that work for an answer, nats-server and the load generator apart. */
  readonly processes: readonly ServiceProcess[];
}

async function compare(backing: Backing): Promise<void> {
  const { id } = await importedAndActive(backing);
  const paths = addressTexts(data, addresses).map((ip) => `/api/v1/ip/${ip}`);
  const headers = { authorization: `Bearer ${backing.key}` };
  const sides = (await startSides(backing, paths, headers)).filter(({ name }) => name.includes(values.sides));

  for (const connections of values.connections.split(",").map(Number)) {
    const load = { paths, headers, folder: backing.folder, connections };
    const results = sides.map(() => [] as (LoadResult & { cpuUs: number })[]);
    for (let round = -1; round < Number(values.rounds); round++) {
      for (const [index, { url, processes }] of sides.entries()) {
        const usedBefore = cpuOf(processes);
        const result = await runWrk(wrk as Extract<typeof wrk, { found: true }>, { ...load, url, seconds: Number(values.seconds) });
        if (result.failed > 0) console.log(`${sides[index]?.name}: ${result.failed} failed`);
        if (round >= 0) results[index]?.push({ ...result, cpuUs: ((cpuOf(processes) - usedBefore) / result.answered) * 1e6 });
      }
    }
    const first = (results[0] as LoadResult[]).map(({ requestsPerSecond }) => requestsPerSecond);
    printResults(
      `P1 and P2, GET /ip, ${connections} connections`,
      "requests/s",
      sides.map(({ name }, index) => sideResult(name, results[index] as LoadResult[], first)),
      {
        connections,
        snapshot: id,
        latencyMs: Object.fromEntries(
          sides.map(({ name }, index) => [
            name,
            { p50: medianOf(results[index], ({ p50Ms }) => p50Ms), p99: medianOf(results[index], ({ p99Ms }) => p99Ms) },
          ]),
        ),
        cpuMicrosecondsPerRequest: Object.fromEntries(
          sides.map(({ name }, index) => [name, Math.round(medianOf(results[index], ({ cpuUs }) => cpuUs))]),
        ),
      },
    );
    console.log("P1, processor time of all processes but nats-server, µs a request, median of rounds");
    for (const [index, { name }] of sides.entries())
      console.log(
        `${name.padEnd(34)}${medianOf(results[index], ({ cpuUs }) => cpuUs)
          .toFixed(1)
          .padStart(14)}`,
      );
    const [bare, gateway] = sides.map((side, index) => ({
      side,
      half: medianOf(results[index], ({ requestsPerSecond }) => requestsPerSecond) / 2,
    }));
    if (values.sides === "" && bare !== undefined && gateway !== undefined) {
      const asBusy = { side: bare.side, half: gateway.half };
      await compareLatency([bare, gateway, asBusy], { paths, headers, connections });
    }
  }
}

/** At half of a load; rounds in turn. */
async function compareLatency(
  loads: readonly { readonly side: HttpSide; readonly half: number }[],
  load: { readonly paths: readonly string[]; readonly headers: Readonly<Record<string, string>>; readonly connections: number },
): Promise<void> {
  const results = loads.map(() => [] as Latency[]);
  for (let round = -1; round < Number(values.rounds); round++) {
    for (const [index, { side, half }] of loads.entries()) {
      const latency = await runOpenLoad({ ...load, url: side.url, requestsPerSecond: half, seconds: Number(values.seconds) });
      if (latency.failed > 0) console.log(`${side.name}: ${latency.failed} failed`);
      if (round >= 0) results[index]?.push(latency);
    }
  }
  const rows = loads.map(({ side, half }, index) => ({
    name: side.name,
    requestsPerSecond: Math.round(half),
    p50Ms: medianOf(results[index], ({ p50Ms }) => p50Ms),
    p99Ms: medianOf(results[index], ({ p99Ms }) => p99Ms),
    lateMs: medianOf(results[index], ({ lateMs }) => lateMs),
  }));
  console.log(`\nP1, latency at half load, ${load.connections} connections (ms from when a request was due; median of rounds)`);
  console.log(`${"side".padEnd(34)}${"requests/s".padStart(14)}${"p50".padStart(10)}${"p99".padStart(10)}${"own late".padStart(10)}`);
  for (const { name, requestsPerSecond, ...ms } of rows)
    console.log(
      `${name.padEnd(34)}${String(requestsPerSecond).padStart(14)}${Object.values(ms)
        .map((value) => value.toFixed(2).padStart(10))
        .join("")}`,
    );
  console.log(JSON.stringify({ bench: "P1 latency", connections: load.connections, rows }));
}

async function importedAndActive({ folder, store }: Backing): Promise<{ readonly id: string }> {
  const { snapshot } = await importModern(data, folder, { store });
  await store.activate(snapshot as string);
  return { id: snapshot as string };
}

async function startSides(backing: Backing, paths: readonly string[], headers: Readonly<Record<string, string>>): Promise<HttpSide[]> {
  const { folder, env, own } = backing;
  const pod = backing.startPod("ip-routing");
  await pod.logged(/ready for requests/);
  const gateway = await backing.startGateway();
  const answers: Record<string, string> = {};
  let seen = new Headers();
  for (const path of paths) {
    const response = await fetch(`${gateway.url}${path}`, { headers });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    seen = response.headers;
    answers[path.slice(path.lastIndexOf("/") + 1)] = await response.text();
  }
  const file = join(folder, "answers.json");
  await writeFile(file, JSON.stringify(answers));

  const listening = async (process: ServiceProcess) => (await process.logged(/listening at (\S+)/))[1] as string;
  const bare = own(startProcess("bench/support/bare-fastify.ts", { name: "bare", folder, args: [file] }));
  const obvious = "bench/support/obvious-design.ts";
  const obviousPod = own(startProcess(obvious, { name: "obvious-pod", folder, env, args: ["pod", file] }));
  await obviousPod.logged(/ready for requests/);
  const [memory, mongo] = ["memory", "mongo"].map((kind) =>
    own(startProcess(obvious, { name: `obvious-${kind}`, folder, env, args: ["gateway", kind, backing.key] })),
  ) as [ServiceProcess, ServiceProcess];
  const nginx: HttpSide[] = [];
  const tool = await findNginxLua();
  if (tool.found) {
    const pod = own(startProcess("bench/support/bare-fastify.ts", { name: "nginx-pod", folder, args: [file] }));
    const started = await startNginxLua(tool, { folder, pod: await listening(pod), key: backing.key, headers: seen });
    nginx.push({ name: "nginx with Lua, bare Fastify", url: started.url, processes: [own(started.process), pod] });
  } else console.log(`nginx with Lua is not measured: ${tool.remedy}`);
  return [
    { name: "bare Fastify, same bytes", url: await listening(bare), processes: [bare] },
    { name: "gateway, NATS, ip-routing", url: gateway.url, processes: [gateway.process, pod] },
    ...nginx,
    { name: "obvious design, limits in memory", url: await listening(memory), processes: [memory, obviousPod] },
    { name: "obvious design, limits in MongoDB", url: await listening(mongo), processes: [mongo, obviousPod] },
  ];
}

function cpuOf(processes: readonly ServiceProcess[]): number {
  return processes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
}

function medianOf<T>(results: readonly T[] | undefined, of: (result: T) => number): number {
  return median((results ?? []).map(of));
}

function sideResult(name: string, results: readonly LoadResult[], first: readonly number[]): SideResult {
  const rates = results.map(({ requestsPerSecond }) => requestsPerSecond);
  return {
    name,
    median: median(rates),
    min: Math.min(...rates),
    max: Math.max(...rates),
    ratio: median(rates.map((rate, round) => rate / (first[round] as number))),
  };
}
