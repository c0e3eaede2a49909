/**
 * P15: a polite key at 50 requests/s, mixed single questions and small batches, alone and beside a caller who does his worst in one way
 * after the other: p50 and p99 of the polite key and how much of it was refused. Each is a process of its own; all share this machine, so
 * that a part of what the abuse costs is processor time that any neighbour would take.
 * `node --conditions=source bench/fairness.ts [--gateways 1] [--seconds 12] [--abuse NAME]`
 */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createKey } from "@netfacts/keys";
import { openMongoStore } from "@netfacts/storage/mongo";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { type Backing, withBacking } from "./support/distributed.ts";
import { importModern } from "./support/modern.ts";

const { values } = parseArgs({
  options: {
    gateways: { type: "string", default: "1" },
    seconds: { type: "string", default: "12" },
    abuse: { type: "string", default: "" },
  },
});
const requestsPerSecond = 50;
const seconds = Number(values.seconds);
/** Before it is measured, so that abuse is under way. */
const leadMs = 2_000;
const requestMsMax = 10_000;
const abuser = join(import.meta.dirname, "support/abuser.ts");
const nodeArgs = ["--conditions=source", "--no-warnings", abuser];

interface Seen {
  readonly p50: number;
  readonly p99: number;
  readonly refused: number;
  /** Why, by status or code of the error. */
  readonly reasons: Readonly<Record<string, number>>;
}

const data = requireData();
await withBacking(compare);

async function compare(backing: Backing): Promise<void> {
  const { snapshot } = await importModern(data, backing.folder, { store: backing.store });
  await backing.store.activate(snapshot as string);
  const pods = [backing.startPod("ip-routing"), backing.startPod("asn-prefix")];
  for (const pod of pods) await pod.logged(/ready for requests/);
  const gateways = [];
  for (let index = 0; index < Number(values.gateways); index++) gateways.push(await backing.startGateway());
  const urls = gateways.map(({ url }) => url);
  const store = await openMongoStore(backing.env.MONGODB_URI as string, { appName: "bench" });
  const limits = { rate: { limit: 1_000_000, windowSeconds: 60 }, month: { limit: 1_000_000_000 } };
  const scopes = ["ip", "routing", "asn", "prefix", "batch"] as const;
  const { secret: polite } = await createKey(store, { label: "polite", scopes: [...scopes], ...limits });
  const { secret: greedy } = await createKey(store, { label: "greedy", scopes: [...scopes], ...limits });
  await store.close();
  const addresses = addressTexts(data, 5_000);

  await measure(urls, polite, addresses, 5);
  const rows: [string, Seen][] = [["quiet", await measure(urls, polite, addresses, seconds)]];
  const abuses = execFileSync(process.execPath, nodeArgs, { encoding: "utf8" }).trim().split("\n");
  for (const abuse of abuses.filter((name) => name.includes(values.abuse))) {
    const worst = spawn(process.execPath, [...nodeArgs, abuse, String(seconds + leadMs / 1_000), greedy, ...urls], { stdio: "inherit" });
    const ended = once(worst, "exit");
    await sleep(leadMs);
    rows.push([abuse, await measure(urls, polite, addresses, seconds)]);
    await ended;
    await sleep(leadMs);
  }
  rows.push(["quiet again", await measure(urls, polite, addresses, seconds)]);

  const quiet = rows[0]?.[1].p99 ?? Number.NaN;
  console.log(
    `\nP15, ${urls.length} gateways: a polite key at ${requestsPerSecond} requests/s beside`.padEnd(60),
    "p50 ms   p99 ms   × quiet   refused",
  );
  for (const [name, { p50, p99, refused, reasons }] of rows) {
    const why = Object.entries(reasons).map(([reason, count]) => `${count} × ${reason}`);
    const figures = [p50.toFixed(1), p99.toFixed(1), (p99 / quiet).toFixed(1), `${refused}`].map((figure) => figure.padStart(9));
    console.log(name.padEnd(58), figures.join(""), why.length === 0 ? "" : `(${why.join(", ")})`);
  }
}

/** Requests are due by the clock, whether or not earlier ones were answered; latency counts from the moment at which one was due. */
async function measure(urls: readonly string[], key: string, addresses: readonly string[], lasts: number): Promise<Seen> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const latencies: number[] = [];
  const reasons: Record<string, number> = {};
  const total = requestsPerSecond * lasts;
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  for (let index = 0; index < total; index++) {
    const dueAt = startedAt + (index / requestsPerSecond) * 1_000;
    await sleep(Math.max(0, dueAt - performance.now()));
    const outcome = askOnce(`${urls[index % urls.length]}`, key, agent, index, addresses);
    all.push(
      outcome.then((reason) => {
        if (reason === null) latencies.push(performance.now() - dueAt);
        else reasons[reason] = (reasons[reason] ?? 0) + 1;
      }),
    );
  }
  await Promise.all(all);
  agent.destroy();
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), refused: total - latencies.length, reasons };
}

/** @returns why it was not answered; null when it was. */
function askOnce(url: string, key: string, agent: Agent, index: number, addresses: readonly string[]): Promise<string | null> {
  const address = addresses[index % addresses.length] as string;
  const kind = index % 10;
  const path =
    kind === 0
      ? "/api/v1/batch"
      : kind < 6
        ? `/api/v1/ip/${address}`
        : kind < 8
          ? `/api/v1/asn/AS${(index * 7) % 60_000}`
          : "/api/v1/prefix/193.0.0.0/21";
  const body = kind === 0 ? `${JSON.stringify({ kind: "ip", value: address })}\n`.repeat(5) : undefined;
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/x-ndjson" }) };
    const sent = request(url + path, { agent, headers, method: body === undefined ? "GET" : "POST", timeout: requestMsMax }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode === 200 ? null : `${response.statusCode}`));
      response.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    sent.once("timeout", () => sent.destroy(Object.assign(new Error("no answer"), { code: "no answer" })));
    sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}
