/**
 * Every block edge of all registries' real files, and random addresses and AS numbers, against a sweep over the files' records.
 *
 * @large It reads every real file twice.
 */

import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import type { Address } from "@netfacts/address";
import { PrefixTrie, type PrefixTrieParts } from "@netfacts/prefix-trie";
import { AllocationTable, allocationsFormat, decodeColumns, encodeColumns, loadSection } from "@netfacts/snapshot";
import { seeded } from "../../../../test/support/random.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { buildAllocations, type DelegatedFile } from "../../src/assembly/allocations.ts";
import { type DelegationRecord, readDelegated } from "../../src/readers/delegated.ts";
import { contentOfFile } from "../readers/content.ts";
import { fullSizeData } from "../support/full-size-data.ts";

/** An address or AS number; of IPv6, which a number cannot hold, a bigint. */
type Point = number | bigint;

/** A record as the oracle has it. That records are what the lines say is for the tests of the reader. */
interface Line {
  readonly kind: DelegationRecord["kind"];
  readonly first: Point;
  readonly last: Point;
  /** What an answer tells: registry, country, status, date, holder's id and its AS numbers. */
  readonly told: string;
  /** In the order of docs/design/semantics.md#registration; what is smaller wins. */
  readonly rules: readonly (Point | string)[];
}

const samples = resolve(import.meta.dirname, "../../../../samples/data");

/** Some holders have thousands of AS numbers: too long a text to compare at every point. */
const digest = (text: string) => createHash("sha1").update(text).digest("base64");

function pointOf({ version, w0, w1, w2, w3 }: Address): Point {
  return version === 4 ? w0 : (BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);
}

function linesOf({ records, asOf }: DelegatedFile): Line[] {
  const held = (status: string) => status === "allocated" || status === "assigned";
  const numbers = new Map<string, number[]>();
  for (const record of records) {
    if (record.kind !== "asn" || record.opaqueId === null || !held(record.status)) continue;
    const list = numbers.get(record.opaqueId) ?? [];
    numbers.set(record.opaqueId, list);
    for (let asn = record.start; asn <= record.end; asn++) list.push(asn);
  }
  const listed = new Map([...numbers].map(([id, asns]) => [id, digest(asns.sort((a, b) => a - b).join())]));
  return records.map((record) => {
    const { kind, registry, country, status, date, opaqueId: id } = record;
    const [first, last] = kind === "asn" ? [record.start, record.end] : [pointOf(record.start), pointOf(record.end)];
    const width = typeof last === "bigint" ? last - (first as bigint) : last - (first as number);
    return {
      kind,
      first,
      last,
      told: [registry, country ?? "", status, date ?? "", id ?? "", id === null ? "" : (listed.get(id) ?? digest(""))].join("|"),
      rules: [held(status) ? 0 : 1, -(asOf ?? 0), width, -(date ?? 0), registry],
    };
  });
}

function before(a: Line, b: Line): number {
  for (const [rule, left] of a.rules.entries()) {
    const right = b.rules[rule] as typeof left;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

/** What may be told at each point, points ascending: of the lines that hold it those that no rule puts behind another. */
function* sweep(lines: readonly Line[], points: readonly Point[]): Generator<[point: Point, told: readonly string[]]> {
  const sorted = lines.toSorted((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)));
  let next = 0;
  let open: Line[] = [];
  for (const point of points) {
    for (; next < sorted.length && (sorted[next] as Line).first <= point; next++) open.push(sorted[next] as Line);
    if (open.some(({ last }) => last < point)) open = open.filter(({ last }) => last >= point);
    const best = open.length < 2 ? open : open.toSorted(before);
    yield [point, best.filter((one) => before(one, best[0] as Line) === 0).map(({ told }) => told)];
  }
}

/** Edges of all lines, what follows each, and so many random ones, ascending, each once. */
function pointsOf(lines: readonly Line[], kind: Line["kind"]): Point[] {
  const random = seeded(seed(1930));
  const edges = lines.flatMap(({ first, last }): Point[] => [first, last, typeof last === "bigint" ? last + 1n : last + 1]);
  const most: Point = kind === "ipv6" ? 2n ** 128n - 1n : 0xffff_ffff;
  const others = Array.from({ length: runs(10_000) }, (): Point => {
    const [w0, w1] = [random(2 ** 32), random(2 ** 32)];
    return kind === "ipv6" ? pointOf({ version: 6, w0: 0x2000_0000 + (w0 >>> 3), w1, w2: random(2), w3: w1 }) : w0;
  });
  const ascending = [...edges, ...others].filter((point) => point <= most).sort((a, b) => (a < b ? -1 : Number(a > b)));
  return ascending.filter((point, index) => index === 0 || point !== ascending[index - 1]);
}

function addressOf(point: Point): Address {
  if (typeof point === "number") return { version: 4, w0: point, w1: 0, w2: 0, w3: 0 };
  const word = (shift: bigint) => Number((point >> shift) & 0xffff_ffffn);
  return { version: 6, w0: word(96n), w1: word(64n), w2: word(32n), w3: word(0n) };
}

async function fileOf(path: string): Promise<DelegatedFile> {
  const records: DelegationRecord[] = [];
  const { asOf } = await readDelegated(contentOfFile(path), (record) => records.push(record));
  return { records, asOf };
}

function tableOf(files: readonly DelegatedFile[]): AllocationTable {
  const object = encodeColumns(allocationsFormat, buildAllocations(files).columns);
  const bytes = new Uint8Array(new SharedArrayBuffer(object.length));
  bytes.set(object);
  const { trie } = loadSection("allocations", bytes);
  return new AllocationTable(decodeColumns(allocationsFormat, bytes), PrefixTrie.fromParts(trie as PrefixTrieParts));
}

type Entry = NonNullable<ReturnType<AllocationTable["asn"]>>;

async function compare(paths: readonly string[]): Promise<number> {
  const files = await Promise.all(paths.map(fileOf));
  const lines = files.flatMap(linesOf);
  const table = tableOf(files);
  const holders = new Map<number, string>();
  const told = ({ registry, country, status, date, holder }: Entry): string => {
    if (holder !== null && !holders.has(holder)) {
      const { id, asns } = table.holder(holder);
      holders.set(holder, `${id}|${digest(asns.join())}`);
    }
    return [registry, country ?? "", status, date?.replaceAll("-", "") ?? "", holder === null ? "|" : holders.get(holder)].join("|");
  };
  let asked = 0;
  for (const kind of ["ipv4", "ipv6", "asn"] as const) {
    const own = lines.filter((line) => line.kind === kind);
    for (const [point, expected] of sweep(own, pointsOf(own, kind))) {
      const record = kind === "asn" ? table.asn(Number(point)) : table.recordsAt(addressOf(point))[0];
      const answer = record === null || record === undefined ? null : told(typeof record === "number" ? table.entry(record) : record);
      if (answer === null ? expected.length > 0 : !expected.includes(answer))
        throw new Error(`${kind} ${point}: ${answer}; the files say ${JSON.stringify(expected)}`);
      asked++;
    }
  }
  return asked;
}

const delegatedOf = (folder: string, of: RegExp) =>
  readdirSync(folder)
    .filter((name) => of.test(name))
    .sort()
    .map((name) => join(folder, name));

test("the files of 2014, with AFRINIC's of later", async () => {
  const folder = fullSizeData("real-2014")?.[0];
  if (folder === undefined) return;
  const paths = [...delegatedOf(folder, /^delegated-/), ...delegatedOf(samples, /^delegated-afrinic/)];
  expect(paths).toHaveLength(5);
  expect(await compare(paths)).toBeGreaterThan(250_000);
});

test("plain and extended files of one registry, years apart", async () => {
  const folder = fullSizeData("modern")?.[0];
  if (folder === undefined) return;
  expect(await compare(delegatedOf(folder, /^delegated-(afrinic|lacnic)/))).toBeGreaterThan(100_000);
});
