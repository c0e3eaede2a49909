/**
 * P14: the first page of the AS with the most prefixes, in process: our record as JSON, against the obvious reading, a Map of prefix texts
 * by AS and Maps of VRPs and origins by prefix text, from which the same numbers are computed and compared. Milliseconds by the clock and
 * of processor time. `scripts/run.sh bench/asn-page.ts`
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatPrefix, makePrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { AnswerNotes, asnRecord } from "@netfacts/records";
import { type Generation, LoaderThreads, openDataFolder, SnapshotFollower, snapshotsFolder } from "@netfacts/snapshot";
import { requireData } from "./support/data.ts";
import { importModern } from "./support/modern.ts";
import { median } from "./support/rounds.ts";

const rounds = 30;
const limit = 100;

/** What a page tells in numbers. */
interface PageNumbers {
  readonly prefixes: number;
  readonly aggregated: number;
  readonly addresses: number;
  readonly valid: number;
  readonly invalid: number;
  readonly moas: number;
  /** The texts of the first prefixes. */
  readonly shown: readonly string[];
}

/** The dataset as texts in Maps. */
class ObviousTable {
  readonly prefixesByAs = new Map<number, string[]>();
  readonly #originsOf = new Map<string, number>();
  readonly #vrpsOf = new Map<string, { asn: number; maxLength: number }[]>();

  constructor({ routes, vrps }: Generation) {
    for (let entry = 0; entry < (routes?.prefixes.base.size ?? 0); entry++) {
      const prefix = routes?.prefixes.prefixAt(entry) as Prefix;
      const text = formatPrefix(prefix);
      const origins = routes?.origins(entry).filter(({ asSet }) => asSet === null) ?? [];
      this.#originsOf.set(text, origins.length);
      if (prefix.length > 0) for (const { asn, full } of origins) if (asn !== null && full > 0) append(this.prefixesByAs, asn, text);
    }
    for (const whole of [makePrefix(4, 0, 0, 0, 0, 0), makePrefix(6, 0, 0, 0, 0, 0)])
      for (const { prefix, asn, maxLength } of vrps?.moreSpecifics(whole) ?? [])
        append(this.#vrpsOf, formatPrefix(prefix), { asn, maxLength });
  }

  page(asn: number): PageNumbers {
    const texts = this.prefixesByAs.get(asn) ?? [];
    const states = texts.map((text) => this.#state(text, asn));
    const merged = merge(texts);
    return {
      prefixes: texts.length,
      aggregated: merged.length,
      addresses: merged.reduce((sum, { version, length }) => sum + (version === 4 ? 2 ** (32 - length) : 0), 0),
      valid: states.filter((state) => state === "valid").length,
      invalid: states.filter((state) => state === "invalid").length,
      moas: texts.filter((text) => (this.#originsOf.get(text) ?? 0) > 1).length,
      shown: texts.slice(0, limit),
    };
  }

  #state(text: string, asn: number): "valid" | "invalid" | "not-found" {
    const prefix = read(text);
    let state: "invalid" | "not-found" = "not-found";
    for (let length = prefix.length; length >= 0; length--)
      for (const vrp of this.#vrpsOf.get(formatPrefix(cut(prefix, length))) ?? []) {
        if (vrp.asn === asn && asn !== 0 && prefix.length <= vrp.maxLength) return "valid";
        state = "invalid";
      }
    return state;
  }
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function read(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(`no prefix: ${text}`);
  return reading.prefix;
}

function cut({ version, w0, w1, w2, w3 }: Prefix, length: number): Prefix {
  return makePrefix(version, w0, w1, w2, w3, length);
}

/** The fewest prefixes of the same space: those inside another go, and two halves become one, from the longest on. */
function merge(texts: readonly string[]): Prefix[] {
  const left = new Map(texts.map((text) => [text, read(text)]));
  for (const [text, prefix] of left)
    for (let length = 0; length < prefix.length; length++)
      if (left.has(formatPrefix(cut(prefix, length)))) {
        left.delete(text);
        break;
      }
  for (let length = 128; length > 0; length--)
    for (const [text, prefix] of [...left]) {
      if (prefix.length !== length || !left.has(text)) continue;
      const flipped = { ...prefix, [`w${(length - 1) >> 5}`]: bitFlipped(prefix, length - 1) };
      const other = formatPrefix(flipped);
      if (!left.delete(other)) continue;
      left.delete(text);
      const whole = cut(prefix, length - 1);
      left.set(formatPrefix(whole), whole);
    }
  return [...left.values()];
}

function bitFlipped({ w0, w1, w2, w3 }: Prefix, bit: number): number {
  const word = [w0, w1, w2, w3][bit >> 5] as number;
  return (word ^ (1 << (31 - (bit & 31)))) >>> 0;
}

/** Our page, as a responder makes it. */
function ourPage(generation: Generation, asn: number): string {
  const notes = new AnswerNotes(generation, Date.now());
  const record = asnRecord({ asn, family: null, rpki: null, aggregate: false, limit }, notes);
  return JSON.stringify({ ...record, meta: notes.meta("bench") });
}

function numbersOf(page: string): PageNumbers {
  const { counts, rpki, prefixes } = JSON.parse(page) as ReturnType<typeof asnRecord>;
  return {
    prefixes: (counts?.ipv4.prefixes ?? 0) + (counts?.ipv6.prefixes ?? 0),
    aggregated: (counts?.ipv4.prefixes_aggregated ?? 0) + (counts?.ipv6.prefixes_aggregated ?? 0),
    addresses: counts?.ipv4.addresses ?? 0,
    valid: rpki?.valid ?? 0,
    invalid: rpki?.invalid ?? 0,
    moas: counts?.moas_prefixes ?? 0,
    shown: prefixes.items.map(({ prefix }) => prefix),
  };
}

interface Took {
  readonly ms: number;
  readonly cpuMs: number;
}

function timed(run: () => unknown): Took {
  const before = process.cpuUsage();
  const started = performance.now();
  run();
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1000 };
}

async function load(folder: string): Promise<Generation> {
  const follower = new SnapshotFollower(openDataFolder(folder), new LoaderThreads({ kind: "folder", path: join(folder, snapshotsFolder) }));
  await follower.start();
  follower.stop();
  const generation = follower.current();
  if (generation === null) throw new Error(`no snapshot in ${folder}`);
  return generation;
}

const made = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
try {
  await importModern(requireData(), made);
  const generation = await load(made);
  const table = new ObviousTable(generation);
  const [[asn]] = [...table.prefixesByAs].sort(([, a], [, b]) => b.length - a.length) as [[number, string[]]];
  const sides = { record: () => ourPage(generation, asn), "Maps of texts": () => table.page(asn) };
  const first = timed(sides.record);
  const [ours, theirs] = [numbersOf(sides.record()), sides["Maps of texts"]()];
  if (JSON.stringify(ours) !== JSON.stringify(theirs))
    throw new Error(`the sides differ:\n${JSON.stringify(ours)}\n${JSON.stringify(theirs)}`);
  const took: Record<string, Took[]> = { record: [], "Maps of texts": [] };
  for (let round = 0; round < rounds; round++) for (const [name, run] of Object.entries(sides)) took[name]?.push(timed(run));
  console.log(`\nP14: AS${asn}, ${ours.prefixes} prefixes, ${ours.aggregated} aggregated; ${rounds} rounds, both sides in turn`);
  for (const [name, list] of Object.entries(took)) {
    const [ms, cpuMs] = [median(list.map((one) => one.ms)), median(list.map((one) => one.cpuMs))];
    const least = Math.min(...list.map((one) => one.ms));
    console.log(`${name.padEnd(14)} median ${ms.toFixed(2)} ms, least ${least.toFixed(2)} ms, processor ${cpuMs.toFixed(2)} ms`);
  }
  console.log(`the very first of a new process: ${first.ms.toFixed(1)} ms, processor ${first.cpuMs.toFixed(1)} ms`);
  console.log(JSON.stringify({ bench: "P14", asn, numbers: { ...ours, shown: ours.shown.length }, first, took }));
} finally {
  await rm(made, { recursive: true, force: true });
}
