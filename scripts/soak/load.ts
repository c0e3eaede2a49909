/** Load in which nothing repeats: addresses, keys, cursors, wrong keys, batches, and callers who go away. */

import { randomBytes } from "node:crypto";

export interface SoakTarget {
  readonly urls: readonly string[];
  readonly operatorUrl: string;
  readonly adminKey: string;
  readonly key: string;
}

/** Answers by kind and status; `gone`: the caller went away, as it meant to. */
export type Tally = Map<string, number>;

interface Step {
  readonly name: string;
  /** Of a hundred steps. */
  readonly share: number;
  run(target: SoakTarget, url: string): Promise<number | "gone">;
}

const ask = async (url: string, key: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers }, signal: AbortSignal.timeout(60_000) });

async function drained(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.arrayBuffer();
  return response.status;
}

let addresses = Math.floor(Math.random() * 2 ** 24);
/** Another one each time, all over the unicast space. */
function nextAddress(): string {
  addresses = (addresses + 1) % 2 ** 32;
  const mixed = Math.imul(addresses, 0x9e3779b1) >>> 0;
  return [1 + ((mixed >>> 24) % 222), (mixed >>> 16) & 255, (mixed >>> 8) & 255, mixed & 255].join(".");
}

const steps: readonly Step[] = [
  { name: "ip", share: 35, run: ({ key }, url) => drained(ask(`${url}/api/v1/ip/${nextAddress()}`, key)) },
  {
    name: "routing",
    share: 15,
    run: ({ key }, url) => drained(ask(`${url}/api/v1/routing/${nextAddress()}?include=more_specifics,upstreams`, key)),
  },
  { name: "prefix", share: 10, run: ({ key }, url) => drained(ask(`${url}/api/v1/prefix/${nextAddress()}/32`, key)) },
  { name: "reverse dns", share: 5, run: ({ key }, url) => drained(ask(`${url}/api/v1/reverse-dns/${nextAddress()}`, key)) },
  { name: "wrong key", share: 5, run: (_, url) => drained(ask(`${url}/api/v1/me`, `nf_live_${randomBytes(8).toString("hex")}`)) },
  { name: "pages", share: 10, run: pages },
  { name: "batch", share: 5, run: ({ key }, url) => drained(ask(`${url}/api/v1/batch`, key, batchOf(200))) },
  { name: "gone", share: 10, run: goesAway },
  { name: "new key", share: 5, run: newKey },
];

async function pages({ key }: SoakTarget, url: string): Promise<number> {
  let cursor: string | null = "";
  for (let page = 0; page < 5 && cursor !== null; page++) {
    const answer: Response = await ask(`${url}/api/v1/asn/AS3741?limit=${5 + (addresses % 20)}&cursor=${cursor}`, key);
    if (answer.status !== 200) return drained(Promise.resolve(answer));
    const { prefixes } = (await answer.json()) as { prefixes: { next_cursor: string | null } };
    cursor = prefixes.next_cursor;
  }
  return 200;
}

function batchOf(count: number): RequestInit {
  const lines = Array.from({ length: count }, () => `${JSON.stringify({ kind: "ip", value: nextAddress() })}\n`);
  return { method: "POST", headers: { "content-type": "application/x-ndjson" }, body: lines.join("") };
}

async function goesAway({ key }: SoakTarget, url: string): Promise<"gone" | number> {
  const away = new AbortController();
  setTimeout(() => away.abort(), Math.random() * 10);
  const headers = { authorization: `Bearer ${key}` };
  try {
    return await drained(
      fetch(`${url}/api/v1/batch`, {
        ...batchOf(500),
        headers: { ...headers, "content-type": "application/x-ndjson" },
        signal: away.signal,
      }),
    );
  } catch (error) {
    if (away.signal.aborted) return "gone";
    throw error;
  }
}

/** A key that lives for one question. */
async function newKey({ operatorUrl, adminKey }: SoakTarget, url: string): Promise<number> {
  const body = JSON.stringify({ label: "soak", scopes: ["ip"] });
  const made = await ask(`${operatorUrl}/admin/v1/keys`, adminKey, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  if (made.status !== 201) return drained(Promise.resolve(made));
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  const status = await drained(ask(`${url}/api/v1/ip/${nextAddress()}`, secret));
  await drained(ask(`${operatorUrl}/admin/v1/keys/${id}/revoke`, adminKey, { method: "POST" }));
  return status;
}

/** Asks until the time is over or the signal ends it, at most so many steps a second. Rejects with the first failure of a connection. */
export async function soakLoad(
  target: SoakTarget,
  untilMs: number,
  stepsPerSecond: number,
  workers: number,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const paceMs = (1_000 * workers) / stepsPerSecond;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let count = worker; performance.now() < untilMs && !signal.aborted; count++) {
        const began = performance.now();
        const { name, run } = pickStep();
        const outcome = await run(target, target.urls[count % target.urls.length] as string);
        const line = `${name} ${outcome}`;
        tally.set(line, (tally.get(line) ?? 0) + 1);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, paceMs - (performance.now() - began))));
      }
    }),
  );
}

const shares = steps.flatMap((step) => Array.from({ length: step.share }, () => step));

function pickStep(): Step {
  return shares[Math.floor(Math.random() * shares.length)] as Step;
}
