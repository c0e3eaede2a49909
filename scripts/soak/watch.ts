/** What processes and nats-server tell of themselves over time: memory, open files, timers, sockets, subscriptions. */

/** Figures by name, at one time; always the same names of the same source. */
export type Sample = Readonly<Record<FigureName, number>>;
type FigureName = keyof typeof figures;

const mebibyte = 1 << 20;

/** What is more than noise, beside a tenth. The floor of the heap counts, as what lies above it is garbage that nobody has collected yet. */
const figures = {
  heap: { slack: 8 * mebibyte, of: (values: readonly number[]) => Math.min(...values) },
  "resident memory": { slack: 32 * mebibyte, of: median },
  "open files": { slack: 16, of: median },
  "timers and sockets": { slack: 16, of: median },
  connections: { slack: 2, of: median },
  subscriptions: { slack: 8, of: median },
  consumers: { slack: 4, of: median },
};

/** Of a service, from its operations port. Rejects where the process does not answer, or without the figures. */
export async function sampleOfService(url: string): Promise<Partial<Sample>> {
  const text = await read(`${url}/metrics`).then((answer) => answer.text());
  const sum = (name: string): number => {
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)$`, "gm"))].map(([, value]) => Number(value));
    if (values.length === 0) throw new Error(`${url}/metrics has no ${name}`);
    return values.reduce((total, value) => total + value, 0);
  };
  return {
    heap: sum("nodejs_heap_size_used_bytes"),
    "resident memory": sum("process_resident_memory_bytes"),
    "open files": sum("process_open_fds"),
    "timers and sockets": sum("nodejs_active_resources"),
  };
}

/** Of nats-server, from its monitoring port. */
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

function read(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(30_000) });
}

export interface Growth {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  /** More than noise: something is kept that should not be. */
  readonly isLeak: boolean;
}

/** Compares the last third with the one before it; the first is for caches to fill. Throws where there are too few samples to tell. */
export function growthOf(samples: readonly Partial<Sample>[]): Growth[] {
  const third = Math.floor(samples.length / 3);
  if (third === 0) throw new Error(`${samples.length} samples are too few; increase MINUTES`);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  return (Object.keys(samples[0] ?? {}) as FigureName[]).map((name) => {
    const { slack, of } = figures[name];
    const [before, after] = [middle, last].map((part) => of(part.map((sample) => sample[name] ?? Number.NaN))) as [number, number];
    return { name, before, after, isLeak: !(after <= before * 1.1 + slack) };
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
