/**
 * What answers cost beside their price: processor time and bytes of records at full size, by operation, list length and prefix length, in
 * process, with JSON. A unit should buy about the same work everywhere. `scripts/run.sh bench/price-of-work.ts [--folder DIR]`:
 * DIR keeps the imported data for the next run.
 */

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makePrefix, type Prefix, parseAddress } from "@netfacts/address";
import { encodeQuestion, operations, type Questions } from "@netfacts/contracts";
import { recordHandler, type SnapshotOperation } from "@netfacts/records";
import { type Generation, LoaderThreads, openDataFolder, SnapshotFollower, snapshotsFolder } from "@netfacts/snapshot";
import { addressTexts } from "./support/addresses.ts";
import { requireData } from "./support/data.ts";
import { importModern } from "./support/modern.ts";
import { seededRandom } from "./support/random.ts";
import { median } from "./support/rounds.ts";

const { values } = parseArgs({ options: { folder: { type: "string" } } });
const data = requireData();
const rounds = 7;

/** Questions of one kind; each once in a round. */
interface Kind {
  readonly name: string;
  readonly op: SnapshotOperation;
  readonly questions: readonly { readonly query: string; readonly units: number }[];
}

const folder = values.folder ?? (await mkdtemp(join(tmpdir(), "netfacts-bench-")));
try {
  if (!existsSync(join(folder, snapshotsFolder))) {
    await mkdir(folder, { recursive: true });
    await importModern(data, folder);
  }
  const generation = await load(folder);
  const kinds = kindsOf(generation);
  const took = new Map(kinds.map((kind) => [kind, { us: [] as number[], bytes: 0 }]));
  for (let round = -2; round < rounds; round++) {
    for (const kind of kinds) {
      const { us, bytes } = answerAll(kind, generation);
      const of = took.get(kind) as { us: number[]; bytes: number };
      of.bytes = bytes;
      if (round >= 0) of.us.push(us);
    }
  }
  console.log(`\n${"answers".padEnd(46)}${["units", "µs", "kB", "µs/unit", "kB/unit"].map((head) => head.padStart(10)).join("")}`);
  for (const [{ name, questions }, { us, bytes }] of took) {
    const units = questions.reduce((sum, question) => sum + question.units, 0) / questions.length;
    const [each, kb] = [median(us), bytes / 1_000];
    const figures = [units, each, kb, each / units, kb / units].map((figure) => figure.toFixed(figure < 10 ? 2 : 0).padStart(10));
    console.log(name.padEnd(46) + figures.join(""));
  }
} finally {
  if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
}

function answerAll({ op, questions }: Kind, generation: Generation): { us: number; bytes: number } {
  const answer = recordHandler(op);
  const nowMs = Date.now();
  let bytes = 0;
  const startedAt = performance.now();
  for (const { query } of questions) bytes += answer({ query, requestId: "bench" }, { generation, nowMs }).body.length;
  return { us: ((performance.now() - startedAt) * 1_000) / questions.length, bytes: bytes / questions.length };
}

function kindsOf(generation: Generation): Kind[] {
  const random = seededRandom(12);
  const addresses = addressTexts(data, 500).flatMap((text) => parseAddress(text) ?? []);
  const kind = <O extends SnapshotOperation>(name: string, op: O, questions: readonly Questions[O][]): Kind => ({
    name,
    op,
    questions: questions.map((question) => ({ query: encodeQuestion(op, question), units: operations[op].units(question as never) })),
  });
  const inside = (length: number, version: 4 | 6, first: number, last: number): Prefix[] =>
    Array.from({ length: 60 }, () => {
      const bits = Math.floor((first + random() * (last - first)) * 2 ** 24) * 256;
      return makePrefix(version, mask(bits, length), 0, 0, 0, length);
    });
  const { prefixesOf, all } = originators(generation);
  const asns = (from: number, to: number) => prefixesOf.slice(from, to);
  const everything = { family: null, rpki: null, aggregate: false } as const;
  const limits = [1, 100, 1_000];
  return [
    kind(
      "ip",
      "ip",
      addresses.map((ip) => ({ ip })),
    ),
    kind(
      "routing",
      "routing",
      addresses.map((ip) => ({ ip, moreSpecifics: false, upstreams: false, limit: 100 })),
    ),
    kind(
      "routing, upstreams",
      "routing",
      addresses.map((ip) => ({ ip, moreSpecifics: false, upstreams: true, limit: 100 })),
    ),
    ...limits.map((limit) =>
      kind(
        `routing, more_specifics, limit=${limit}`,
        "routing",
        addresses.map((ip) => ({ ip, moreSpecifics: true, upstreams: false, limit })),
      ),
    ),
    kind(
      "validity",
      "validity",
      addresses.map((ip) => ({ asn: 3_333, prefix: makePrefix(ip.version, ip.w0, ip.w1, 0, 0, 24) })).map(cut24),
    ),
    ...limits.map((limit) =>
      kind(
        `asn, any, limit=${limit}`,
        "asn",
        all.map((asn) => ({ asn, ...everything, limit })),
      ),
    ),
    ...limits.map((limit) =>
      kind(
        `asn, the 20 with most prefixes, limit=${limit}`,
        "asn",
        asns(0, 20).map((asn) => ({ asn, ...everything, limit })),
      ),
    ),
    ...limits.flatMap((limit) => [
      kind(
        `asn_vrps, any, limit=${limit}`,
        "asn_vrps",
        all.map((asn) => ({ asn, family: null, announced: null, loose: null, limit })),
      ),
      kind(
        `asn_vrps, the 20 with most VRPs, limit=${limit}`,
        "asn_vrps",
        mostVrps(generation).map((asn) => ({ asn, family: null, announced: null, loose: null, limit })),
      ),
    ]),
    ...[0, 4, 8, 10, 12, 16, 20, 24].flatMap((length) =>
      limits.map((limit) =>
        kind(
          `prefix, IPv4 /${length}, limit=${limit}`,
          "prefix",
          inside(length, 4, 1, 223).map((prefix) => ({ prefix, limit })),
        ),
      ),
    ),
    ...[0, 3, 8, 12, 16, 20, 32, 48].flatMap((length) =>
      limits.map((limit) =>
        kind(
          `prefix, IPv6 /${length}, limit=${limit}`,
          "prefix",
          inside(length, 6, 32, 48).map((prefix) => ({ prefix, limit })),
        ),
      ),
    ),
  ];
}

function mostVrps({ vrpCountByAs }: Generation): number[] {
  const { asn, count } = vrpCountByAs as NonNullable<Generation["vrpCountByAs"]>;
  const rows = [...asn.keys()].sort((a, b) => (count[b] as number) - (count[a] as number));
  return rows.slice(0, 20).map((row) => asn[row] as number);
}

function cut24({ asn, prefix }: Questions["validity"]): Questions["validity"] {
  return { asn, prefix: { ...prefix, w0: mask(prefix.w0, 24), w1: 0 } };
}

function mask(word: number, length: number): number {
  return length === 0 ? 0 : (word & (0xffff_ffff << (32 - Math.min(32, length)))) >>> 0;
}

/** ASes by the number of prefixes that they originate, most first; and 500 of them drawn evenly. */
function originators({ routes }: Generation): { prefixesOf: readonly number[]; all: readonly number[] } {
  const counts = new Map<number, number>();
  for (let entry = 0; entry < (routes?.prefixes.base.size ?? 0); entry++)
    for (const { asn } of routes?.origins(entry) ?? []) if (asn !== null) counts.set(asn, (counts.get(asn) ?? 0) + 1);
  const prefixesOf = [...counts].sort(([, a], [, b]) => b - a).map(([asn]) => asn);
  const step = Math.max(1, Math.floor(prefixesOf.length / 500));
  return { prefixesOf, all: prefixesOf.filter((_, index) => index % step === 0) };
}

async function load(from: string): Promise<Generation> {
  const follower = new SnapshotFollower(openDataFolder(from), new LoaderThreads({ kind: "folder", path: join(from, snapshotsFolder) }));
  await follower.start();
  follower.stop();
  const generation = follower.current();
  if (generation === null) throw new Error(`no snapshot in ${from}`);
  return generation;
}
