/** Polite load that never repeats: addresses, keys, cursors, batches, whois, wrong keys, and callers who disconnect. Each answer is checked. */

import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { generateKeyText } from "@netfacts/keys";

/** An installation that gets the load. */
export interface SoakTarget {
  readonly url: string;
  readonly key: string;
  /** Operator API that creates keys for a single request; null: no keys are created. */
  readonly operator: { readonly url: string; readonly key: string } | null;
  /** Port of the whois listener on 127.0.0.1. */
  readonly whoisPort: number;
}

export interface Tally {
  /** Number of answers by step and outcome; `gone`: the caller disconnected on purpose. */
  readonly answers: Map<string, number>;
  /** The unexpected ones among them, such as 429, 503, or no answer within a minute. */
  readonly refused: Map<string, number>;
  /** The first wrong answer of each step. */
  readonly wrong: Map<string, string>;
  /** Durations of answered single requests, in ms, in order. */
  readonly latencies: number[];
}

export interface Sums {
  readonly steps: number;
  readonly refused: number;
}

export function sumsOf({ answers, refused }: Pick<Tally, "answers" | "refused">): Sums {
  const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
  return { steps: sum(answers), refused: sum(refused) };
}

/** Most refused steps of a thousand under abuse, in addition to three times the share that was refused without abuse. */
const refusedOfThousandMax = 1;

/** Whether abuse makes polite callers lose answers. A shared machine refuses some requests even without abuse. */
export function isUnfair(quiet: Sums, abused: Sums): boolean {
  const quietShare = quiet.steps === 0 ? 0 : quiet.refused / quiet.steps;
  return abused.refused > abused.steps * (refusedOfThousandMax / 1_000 + 3 * quietShare);
}

/** Quantile of the durations of answered single requests, in ms. */
export function quantileOf({ latencies }: Pick<Tally, "latencies">, share: number): number {
  const sorted = latencies.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 10) / 10;
}

export function emptyTally(): Tally {
  return { answers: new Map(), refused: new Map(), wrong: new Map(), latencies: [] };
}

interface Step {
  readonly name: string;
  /** Number of these steps in a hundred. */
  readonly share: number;
  /** Expected outcomes. */
  readonly expected: readonly Outcome[];
  /** Whether it is a single request whose duration counts. */
  readonly isTimed?: boolean;
  /** @throws WrongAnswer */
  run(target: SoakTarget): Promise<Outcome>;
}

class WrongAnswer extends Error {
  override readonly name = "WrongAnswer";
}

const ask = async (url: string, key: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers }, signal: AbortSignal.timeout(60_000) });

/** The status, with the code of a problem: `503 temporarily_overloaded`. */
type Outcome = number | `${number} ${string}` | "gone";

async function drained(answer: Promise<Response>): Promise<Outcome> {
  const response = await answer;
  const text = await response.text();
  if (response.headers.get("content-type")?.startsWith("application/problem+json") !== true) return response.status;
  return `${response.status} ${(JSON.parse(text) as { code: string }).code}`;
}

/** Requests one record, and checks that it is about the requested subject. */
async function record(target: SoakTarget, path: string, member: string, value: string): Promise<Outcome> {
  const response = await ask(`${target.url}/api/v1/${path}`, target.key);
  if (response.status !== 200) return drained(Promise.resolve(response));
  const text = await response.text();
  const found = (JSON.parse(text) as Record<string, unknown>)[member];
  if (found !== value) throw new WrongAnswer(`${path}: ${member} is ${JSON.stringify(found)}: ${text.slice(0, 200)}`);
  return 200;
}

let addresses = Math.floor(Math.random() * 2 ** 24);
/** A new address each time, from the whole unicast space. */
function nextAddress(): string {
  addresses = (addresses + 1) % 2 ** 32;
  const mixed = Math.imul(addresses, 0x9e3779b1) >>> 0;
  return [1 + ((mixed >>> 24) % 222), (mixed >>> 16) & 255, (mixed >>> 8) & 255, mixed & 255].join(".");
}

const steps: readonly Step[] = [
  {
    name: "ip",
    share: 37,
    expected: [200],
    isTimed: true,
    run: (target, address = nextAddress()) => record(target, `ip/${address}`, "ip", address),
  },
  {
    name: "routing",
    share: 15,
    expected: [200],
    isTimed: true,
    run: (target, address = nextAddress()) => record(target, `routing/${address}?include=more_specifics,upstreams`, "ip", address),
  },
  {
    name: "prefix",
    share: 10,
    expected: [200],
    isTimed: true,
    run: (target, address = nextAddress()) => record(target, `prefix/${address}/32`, "prefix", `${address}/32`),
  },
  {
    name: "reverse dns",
    share: 5,
    expected: [200],
    run: (target, address = nextAddress()) => record(target, `reverse-dns/${address}`, "ip", address),
  },
  // A caller with a wrong key, at the same address as callers with valid keys.
  {
    name: "wrong key",
    share: 1,
    expected: ["401 invalid_api_key", "429 too_many_failed_keys"],
    run: ({ url }) => drained(ask(`${url}/api/v1/me`, generateKeyText("live").text)),
  },
  { name: "pages", share: 10, expected: [200], run: pages },
  { name: "batch", share: 5, expected: [200], run: batch },
  { name: "whois", share: 3, expected: [200], run: whois },
  { name: "gone", share: 9, expected: ["gone", 200], run: goesAway },
  { name: "new key", share: 5, expected: [200], run: newKey },
];

async function pages({ url, key }: SoakTarget): Promise<Outcome> {
  const seen = new Set<string>();
  let cursor: string | null = "";
  for (let page = 0; page < 5 && cursor !== null; page++) {
    const answer: Response = await ask(`${url}/api/v1/asn/AS3741?limit=${5 + (addresses % 20)}&cursor=${cursor}`, key);
    if (answer.status !== 200) return drained(Promise.resolve(answer));
    const { asn, prefixes } = (await answer.json()) as {
      asn: number;
      prefixes: { items: { prefix: string }[]; next_cursor: string | null };
    };
    if (asn !== 3741) throw new WrongAnswer(`asn/AS3741: asn is ${asn}`);
    for (const { prefix } of prefixes.items) {
      if (seen.has(prefix)) throw new WrongAnswer(`asn/AS3741: ${prefix} is on two pages`);
      seen.add(prefix);
    }
    cursor = prefixes.next_cursor;
  }
  return 200;
}

function batchOf(values: readonly string[]): RequestInit {
  const body = values.map((value) => `${JSON.stringify({ kind: "ip", value })}\n`).join("");
  return { method: "POST", headers: { "content-type": "application/x-ndjson" }, body };
}

async function batch({ url, key }: SoakTarget): Promise<Outcome> {
  const values = Array.from({ length: 200 }, nextAddress);
  const answer = await ask(`${url}/api/v1/batch`, key, batchOf(values));
  if (answer.status !== 200) return drained(Promise.resolve(answer));
  const lines = (await answer.text()).trimEnd().split("\n");
  const results = lines
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { index: number; record?: { ip: string }; problem?: { code: string } });
  // If a batch is refused midway, its lines have the problem.
  const refusal = results.find(({ problem }) => problem !== undefined)?.problem?.code;
  if (refusal !== undefined) return `200 ${refusal}`;
  const bad = values.findIndex((value, index) => results[index]?.index !== index || results[index]?.record?.ip !== value);
  if (bad >= 0 || results.length !== values.length)
    throw new WrongAnswer(`batch: ${results.length} results, item ${bad} is ${lines[bad]?.slice(0, 200)}`);
  return 200;
}

/** A bulk, of which each line is a request. */
async function whois({ whoisPort }: SoakTarget): Promise<Outcome> {
  const values = Array.from({ length: 50 }, nextAddress);
  const socket = connect({ port: whoisPort, host: "127.0.0.1", signal: AbortSignal.timeout(60_000) });
  socket.end(`begin\n${values.join("\n")}\nend\n`);
  const [, ...lines] = (await text(socket)).trimEnd().split("\n");
  const bad = values.findIndex((value, index) => lines[index]?.split("|")[1]?.trim() !== value);
  if (bad >= 0 || lines.length !== values.length)
    throw new WrongAnswer(`whois: ${lines.length} lines, that of ${values[bad]} is ${lines[bad]}`);
  return 200;
}

async function goesAway({ url, key }: SoakTarget): Promise<Outcome> {
  const away = new AbortController();
  setTimeout(() => away.abort(), Math.random() * 10);
  const { headers, ...init } = batchOf(Array.from({ length: 500 }, nextAddress));
  try {
    return await drained(
      fetch(`${url}/api/v1/batch`, { ...init, headers: { ...headers, authorization: `Bearer ${key}` }, signal: away.signal }),
    );
  } catch (error) {
    if (away.signal.aborted) return "gone";
    throw error;
  }
}

/** Creates a key, uses it for one request, and revokes it. */
async function newKey(target: SoakTarget): Promise<Outcome> {
  const { operator } = target;
  const address = nextAddress();
  if (operator === null) return record(target, `ip/${address}`, "ip", address);
  const made = await ask(`${operator.url}/admin/v1/keys`, operator.key, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ label: "soak", scopes: ["ip"] }),
  });
  if (made.status !== 201) return `${made.status} at creation: ${await drained(Promise.resolve(made))}`;
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  const status = await record({ ...target, key: secret }, `ip/${address}`, "ip", address);
  await drained(ask(`${operator.url}/admin/v1/keys/${id}/revoke`, operator.key, { method: "POST" }));
  return status;
}

/** Runs steps until a time or until the signal aborts, at most `stepsPerSecond`. */
export async function soakLoad(
  targets: readonly SoakTarget[],
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
        await take(pickStep(), targets[count % targets.length] as SoakTarget, tally);
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, paceMs - (performance.now() - began))));
      }
    }),
  );
}

async function take(step: Step, target: SoakTarget, { answers, refused, wrong, latencies }: Tally): Promise<void> {
  const { name, expected, isTimed = false, run } = step;
  const began = performance.now();
  const outcome = await run(target).catch((error: Error) => {
    if (error instanceof WrongAnswer && !wrong.has(name)) wrong.set(name, error.message);
    return faultOf(error);
  });
  const line = `${name} ${outcome}`;
  answers.set(line, (answers.get(line) ?? 0) + 1);
  if (!(expected as readonly unknown[]).includes(outcome)) refused.set(line, (refused.get(line) ?? 0) + 1);
  else if (isTimed) latencies.push(performance.now() - began);
}

/** Name of the error: `WrongAnswer`, `TimeoutError`; for a failed connection, the code of the system. */
function faultOf({ name, cause }: Error): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
}

const shares = steps.flatMap((step) => Array.from({ length: step.share }, () => step));

function pickStep(): Step {
  return shares[Math.floor(Math.random() * shares.length)] as Step;
}
