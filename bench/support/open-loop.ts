/**
 * A load with a fixed rate: requests are due by the clock, whether or not earlier ones were answered. Latency is measured from the time at which a
 * request was due, so that it includes the wait for a server that is blocked (no coordinated omission).
 */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface OpenLoad {
  readonly url: string;
  /** Paths that are requested in a cycle. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Number of connections, with one request at a time on each. Due requests wait while all are busy. */
  readonly connections: number;
  readonly requestsPerSecond: number;
  readonly seconds: number;
}

export interface Latency {
  readonly answered: number;
  /** Number of requests that were not answered with 200 in time. */
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Median delay of this side's timers, which have a resolution of 1 ms. It is a part of the latency. */
  readonly lateMs: number;
}

/** Longest wait for missing answers at the end, in ms. */
const patienceMs = 5_000;

export async function runOpenLoad(load: OpenLoad): Promise<Latency> {
  const { hostname, port } = new URL(load.url);
  const head = Object.entries({ host: hostname, ...load.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const requests = load.paths.map((path) => `GET ${path} HTTP/1.1\r\n${head.join("")}\r\n`);
  const total = Math.floor(load.requestsPerSecond * load.seconds);
  const latencies: number[] = [];
  const lateness: number[] = [];
  let failed = 0;
  /** Times at which requests were due; the first `sent` of them were sent. */
  const waiting: number[] = [];
  let sent = 0;
  /** Free connections, which are used in turn, because the server closes a long idle one. */
  const free: Connection[] = [];
  const send = () => {
    while (waiting.length > sent && free.length > 0)
      free.shift()?.ask(requests[sent % requests.length] as string, waiting[sent++] as number);
  };
  const connections = await Promise.all(
    Array.from({ length: load.connections }, () =>
      Connection.open(hostname, Number(port), (connection, isOk, dueAt) => {
        if (isOk) latencies.push(performance.now() - dueAt);
        else failed += 1;
        free.push(connection);
        send();
      }),
    ),
  );
  free.push(...connections);

  const startedAt = performance.now();
  const dueAt = (index: number) => startedAt + (index / load.requestsPerSecond) * 1_000;
  while (waiting.length < total) {
    const now = performance.now();
    while (waiting.length < total && dueAt(waiting.length) <= now) {
      lateness.push(now - dueAt(waiting.length));
      waiting.push(dueAt(waiting.length));
    }
    send();
    await sleep(1);
  }
  const givenUpAt = performance.now() + patienceMs;
  while (latencies.length + failed < total && performance.now() < givenUpAt) await sleep(5);
  for (const connection of connections) connection.close();
  const answered = latencies.length;
  return {
    answered,
    failed: total - answered,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    lateMs: quantile(lateness, 0.5),
  };
}

type Answered = (connection: Connection, isOk: boolean, dueAt: number) => void;

/** A connection that reads answers with a Content-Length. */
class Connection {
  readonly #socket: Socket;
  readonly #answered: Answered;
  #dueAt = 0;
  #read = "";

  static async open(host: string, port: number, answered: Answered): Promise<Connection> {
    const socket = connect({ host, port, noDelay: true });
    await once(socket, "connect");
    return new Connection(socket, answered);
  }

  private constructor(socket: Socket, answered: Answered) {
    this.#socket = socket;
    this.#answered = answered;
    // Lost requests are counted at the end.
    socket.on("error", () => {});
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#receive(text));
  }

  ask(request: string, dueAt: number): void {
    this.#dueAt = dueAt;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#read += text;
    const headEnd = this.#read.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#read)?.[1]);
    if (this.#read.length < headEnd + 4 + length) return;
    const isOk = this.#read.startsWith("HTTP/1.1 200 ");
    this.#read = "";
    this.#answered(this, isOk, this.#dueAt);
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
