/** Samples the use of resources by processes and nats-server: memory, open files, timers, sockets, subscriptions, disk, logs. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Figures by name, at one time. A source always has the same names. */
export type Sample = Readonly<Record<FigureName, number>>;
type FigureName = keyof typeof figures;

const kibibyte = 1 << 10;
const mebibyte = 1 << 20;

/**
 * Growth of each figure that is still noise, in addition to a tenth. For memory, the lowest value counts, because caches are filled and emptied every
 * minute, and because a gateway under abuse has up to 150 MiB of garbage that the engine collects at any time.
 */
const figures = {
  "live heap": { slack: 8 * mebibyte, of: floor },
  "live buffers": { slack: 16 * mebibyte, of: floor },
  "resident memory": { slack: 32 * mebibyte, of: floor },
  "open files": { slack: 16, of: median },
  sockets: { slack: 16, of: median },
  timers: { slack: 16, of: median },
  connections: { slack: 2, of: median },
  subscriptions: { slack: 8, of: median },
  consumers: { slack: 4, of: median },
  // Logs and the store's write-ahead log grow up to their limits, and start again.
  disk: { slack: 8 * mebibyte, of: (values: readonly number[]) => Math.max(...values) },
  // A less busy machine answers and logs more requests. A flood of logs has megabytes a second.
  "log a second": { slack: 128 * kibibyte, of: median },
};

/** Sample of a service, from its telemetry port. Rejects if the process does not answer, or if figures are missing. */
export async function sampleOfService(url: string): Promise<Partial<Sample>> {
  const text = await read(`${url}/metrics`).then((answer) => answer.text());
  const sum = (name: string, labels = "[^}]*"): number => {
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{${labels}\\})? ([\\d.e+-]+)$`, "gm"))].map(([, value]) => Number(value));
    if (values.length === 0) throw new Error(`${url}/metrics has no ${name}`);
    return values.reduce((total, value) => total + value, 0);
  };
  const resources = sum("nodejs_active_resources");
  const sockets = sum("nodejs_active_resources", '[^}]*type="(?:TCP|UDP|Pipe)[^"]*"[^}]*');
  return {
    "resident memory": sum("process_resident_memory_bytes"),
    "open files": sum("process_open_fds"),
    sockets,
    timers: resources - sockets,
  };
}

/** Sample of nats-server, from its monitoring port. */
export async function sampleOfNats(url: string): Promise<Partial<Sample>> {
  const [server, jetstream] = (await Promise.all(
    ["varz", "jsz"].map((path) => read(`${url}/${path}`).then((answer) => answer.json())),
  )) as [{ mem: number; connections: number; subscriptions: number }, { consumers: number }];
  return {
    "resident memory": server.mem,
    connections: server.connections,
    subscriptions: server.subscriptions,
    consumers: jetstream.consumers,
  };
}

/** Size of a folder with its content. */
export function sampleOfFolder(folder: string): Partial<Sample> {
  return { disk: bytesIn(folder) };
}

function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    try {
      bytes += entry.isDirectory() ? bytesIn(path) : lstatSync(path).size;
    } catch (error) {
      // It was removed meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return bytes;
}

/** Makes a sampler of bytes per second from a growing count of bytes. */
export function logRate(bytes: () => number): () => Partial<Sample> {
  let before = { bytes: bytes(), at: performance.now() };
  return () => {
    const now = { bytes: bytes(), at: performance.now() };
    const rate = (now.bytes - before.bytes) / Math.max(1, (now.at - before.at) / 1_000);
    before = now;
    return { "log a second": rate };
  };
}

function read(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(30_000) });
}

export interface Growth {
  readonly name: FigureName;
  /** Values of the first third (in which caches fill), the second and the last. */
  readonly start: number;
  readonly before: number;
  readonly after: number;
  /** Largest value of the last third that is not a leak. */
  readonly bound: number;
  /** Whether the last third is above the bound. */
  readonly isLeak: boolean;
}

/** Compares the last third with the second; caches fill in the first one. Throws if there are too few samples. */
export function growthOf(samples: readonly Partial<Sample>[]): Growth[] {
  const third = Math.floor(samples.length / 3);
  if (third === 0) throw new Error(`${samples.length} samples are too few; increase MINUTES`);
  const parts = [samples.slice(0, third), samples.slice(third, 2 * third), samples.slice(2 * third)];
  return (Object.keys(samples[0] ?? {}) as FigureName[]).map((name) => {
    const { slack, of } = figures[name];
    const [start, before, after] = parts.map((part) => of(part.map((sample) => sample[name] ?? Number.NaN))) as [number, number, number];
    const bound = before * 1.1 + slack;
    return { name, start, before, after, bound, isLeak: !(after <= bound) };
  });
}

function floor(values: readonly number[]): number {
  return Math.min(...values);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
