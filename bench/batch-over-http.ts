/**
 * P4 with its HTTP edge: batches of 1,000 addresses by `POST /api/v1/batch`, as documents and as streams of lines, through gateway, NATS and
 * `ip-routing`, each a process of its own; beside the same addresses asked within one process, without HTTP.
 * `scripts/run.sh bench/batch-over-http.ts [--rounds 5]`
 */

import { Agent, request } from "node:http";
import { parseArgs } from "node:util";
import { buildApp } from "@netfacts/ip-routing/app";
import { createInProcessMessaging } from "@netfacts/messaging";
import { Generation, loadSnapshot } from "@netfacts/snapshot";
import { addressTexts } from "./support/addresses.ts";
import { askOne } from "./support/ask-one.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { importModern } from "./support/modern.ts";
import { interleave, median, printResults } from "./support/rounds.ts";
import { cpuSeconds, residentMib } from "./support/service-process.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });
const batchAddresses = 1_000;
/** Batches that are asked at the same time, as by as many callers. */
const batchesAtOnce = 3;
const batchesPerRound = 60;
const streamAddresses = 20_000;
const warmUp = 2;
const data = requireData();
await withBacking(compare);

async function compare(backing: Backing): Promise<void> {
  const { snapshot } = await importModern(data, backing.folder, { store: backing.store });
  await backing.store.activate(snapshot as string);
  const pod = backing.startPod("ip-routing");
  await pod.logged(/ready for requests/);
  const gateway = await backing.startGateway();
  const texts = addressTexts(data, 100_000);
  const agent = new Agent({ keepAlive: true, maxSockets: batchesAtOnce });

  const inProcess = createInProcessMessaging();
  const generation = Generation.of(await loadSnapshot(backing.store, await backing.store.getManifest(snapshot as string)));
  const dataset = { current: () => generation, at: () => generation };
  const onFailure = (_item: unknown, cause: unknown) => console.error(cause);
  await buildApp({ messaging: inProcess, dataset, clock: { now: () => Date.now() }, onFailure }).start();

  /** Sends a batch, reads its answer without keeping it, and looks at its end. */
  const post = (type: string, body: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${backing.key}`, "content-type": type };
      const sent = request(`${gateway.url}/api/v1/batch`, { method: "POST", agent, headers }, (response) => {
        let end = "";
        response.on("data", (piece: Buffer) => {
          // The last piece may be a few bytes.
          end = (end + piece.toString("latin1", Math.max(0, piece.length - 400))).slice(-400);
        });
        response.once("end", () => (end.includes('"failed_count":0') ? resolve() : reject(new Error(`${response.statusCode} ${end}`))));
        response.once("error", reject);
      });
      sent.once("error", reject);
      sent.end(body);
    });
  const slices = (size: number): string[][] =>
    Array.from({ length: texts.length / size }, (_, index) => texts.slice(index * size, (index + 1) * size));
  const itemOf = (value: string) => `{"kind":"ip","value":"${value}"}`;
  const documents = slices(batchAddresses).map((slice) => `{"questions":[${slice.map(itemOf).join()}]}`);
  const streams = slices(streamAddresses).map((slice) => `${slice.map(itemOf).join("\n")}\n`);

  /** So many at a time until all were asked. */
  const all = async (count: number, ask: (index: number) => Promise<unknown>): Promise<void> => {
    let next = 0;
    const asking = async () => {
      while (next < count) await ask(next++);
    };
    await Promise.all(Array.from({ length: batchesAtOnce }, asking));
  };
  const addressesPerRound = batchesPerRound * batchAddresses;
  const batches = slices(batchAddresses);
  const sides = {
    "in process, without HTTP": () =>
      all(batchesPerRound, (index) => Promise.all((batches[index % batches.length] as string[]).map((query) => askOne(inProcess, query)))),
    "by HTTP, documents of 1,000": () =>
      all(batchesPerRound, (index) => post("application/json", documents[index % documents.length] as string)),
    "by HTTP, streams of 20,000 lines": () =>
      all(addressesPerRound / streamAddresses, (index) => post("application/x-ndjson", streams[index % streams.length] as string)),
  };

  /** Microseconds of processor time per address: this process, gateway, pod, nats-server. */
  const pids = [process.pid, gateway.process.pid, pod.pid, backing.natsPid];
  const processorTime = new Map<string, number[][]>();
  const measured = Object.entries(sides).map(([name, run]) => {
    const of: number[][] = [];
    processorTime.set(name, of);
    return {
      name,
      async run() {
        const before = pids.map(cpuSeconds);
        await run();
        of.push(pids.map((pid, index) => ((cpuSeconds(pid) - (before[index] as number)) * 1e6) / addressesPerRound));
        return addressesPerRound;
      },
    };
  });
  const results = await interleave(measured, Number(values.rounds), warmUp);
  const microseconds = Object.fromEntries(
    [...processorTime].map(([name, rounds]) => [
      name,
      pids.map((_, index) => median(rounds.slice(warmUp).map((times) => times[index] as number))),
    ]),
  );
  console.log("\nµs of processor time per address: this process (client, or all), gateway, pod, nats-server");
  for (const [name, times] of Object.entries(microseconds)) console.log(name.padEnd(34), times.map((time) => time.toFixed(2)).join(", "));
  printResults("P4 by HTTP, batches of addresses", "addresses/s", results, { microseconds, gatewayMib: residentMib(gateway.process.pid) });
  agent.destroy();
  await inProcess.close();
}
