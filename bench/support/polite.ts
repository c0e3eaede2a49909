/**
 * The polite caller as a separate process: 50 requests/s, half of them `/ip`, the others `/asn`, `/prefix` and batches of five lines. The process
 * keeps running, so that its code is warm. Each message to it starts a measurement.
 */

import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export const requestsPerSecond = 50;
const requestMsMax = 10_000;

export interface Measurement {
  readonly urls: readonly string[];
  readonly key: string;
  readonly addresses: readonly string[];
  readonly seconds: number;
}

export interface Seen {
  /** Latencies of answered requests in ms, from the time at which each was due. */
  readonly latencies: readonly number[];
  /** The part in which the gateway waited for services, for answers that report it. */
  readonly upstream: readonly number[];
  /** Number of failed requests, by status or error code. */
  readonly refused: Readonly<Record<string, number>>;
}

if (process.send !== undefined) process.on("message", async (wanted: Measurement) => process.send?.(await measure(wanted)));

/** Sends requests when they are due by the clock, whether or not earlier ones were answered. */
async function measure({ urls, key, addresses, seconds }: Measurement): Promise<Seen> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const latencies: number[] = [];
  const upstream: number[] = [];
  const refused: Record<string, number> = {};
  const startedAt = performance.now();
  const all: Promise<void>[] = [];
  for (let index = 0; index < requestsPerSecond * seconds; index++) {
    const dueAt = startedAt + (index / requestsPerSecond) * 1_000;
    await sleep(Math.max(0, dueAt - performance.now()));
    const outcome = askOnce(urls[index % urls.length] as string, key, agent, index, addresses);
    all.push(
      outcome.then((answered) => {
        if (typeof answered === "string") refused[answered] = (refused[answered] ?? 0) + 1;
        else {
          latencies.push(performance.now() - dueAt);
          if (answered !== null) upstream.push(answered);
        }
      }),
    );
  }
  await Promise.all(all);
  agent.destroy();
  return { latencies, upstream, refused };
}

/** @returns the status or error code of a failure; else the time of the services in ms, or null if it is not reported. */
function askOnce(url: string, key: string, agent: Agent, index: number, addresses: readonly string[]): Promise<string | number | null> {
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
    const fail = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/x-ndjson" }) };
    const sent = request(url + path, { agent, headers, method: body === undefined ? "GET" : "POST", timeout: requestMsMax }, (response) => {
      const told = /upstream;dur=([\d.]+)/.exec(`${response.headers["server-timing"]}`)?.[1];
      response.resume();
      response.once("end", () =>
        resolve(response.statusCode !== 200 ? `${response.statusCode}` : told === undefined ? null : Number(told)),
      );
      response.once("error", fail);
    });
    sent.once("timeout", () => sent.destroy(Object.assign(new Error("no answer"), { code: "no answer" })));
    sent.once("error", fail);
    sent.end(body);
  });
}
