/** `netfacts mrt cat` beside bgpdump: every file that breaks parsers, two real ones, and made ones of every kind, line for line. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, expect, jest, test } from "@jest/globals";
import { ContentError, openContent } from "@netfacts/content";
import { LineBuffer, MrtError, readRecords, writeBgpdumpLines } from "@netfacts/mrt";
import { Chance, madePeerIndex, madeRecord } from "../../libs/mrt/test/support/made-records.ts";
import { bgpdumpLines, bgpdumpOutput, findBgpdump } from "../support/bgpdump.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { isLong } from "../support/runs.ts";
import { compareLines } from "./support/compare-lines.ts";
import { testDataOrNotRun } from "./support/test-data.ts";
import { thinnedMrt } from "./support/thinned-mrt.ts";

// The largest file has half a million routes, for which bgpdump takes some ten seconds where nothing else runs.
jest.setTimeout(240_000);

const folder = mkdtempSync(join(tmpdir(), "netfacts-mrt-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Told {
  /** Bytes of the records that were refused. */
  readonly bad: number[];
  /** What ended the reading early: a code of ours. */
  ending: string | null;
}

/** The text of a file as `netfacts mrt cat` prints it; what else it would tell goes into `told`. */
async function* ourText(path: string, told: Told): AsyncGenerator<Uint8Array, void, undefined> {
  const out = new LineBuffer();
  try {
    for await (const batch of readRecords(openContent(path).stream, { name: path })) {
      for (const reading of batch) {
        if ("fault" in reading) told.bad.push(reading.header.offset);
        else for (const _ of writeBgpdumpLines(reading, out)) yield out.take();
      }
      yield out.take();
    }
  } catch (error) {
    if (!(error instanceof MrtError || error instanceof ContentError)) throw error;
    told.ending = error.code;
  }
  yield out.take();
}

async function ours(path: string): Promise<Told & { lines: string[] }> {
  const told: Told = { bad: [], ending: null };
  const pieces: Uint8Array[] = [];
  for await (const piece of ourText(path, told)) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("latin1");
  return { ...told, lines: text === "" ? [] : text.slice(0, -1).split("\n") };
}

/** Files that both read the same, with their lines, the records refused, and how the reading ends. */
const same: readonly (readonly [file: string, lines: number, ending: string | null])[] = [
  ["bgpdump-testdata.bview.64k_stream_overflow.gz", 23, null],
  ["bgpdump-testdata.bview.ipv4_unicast_add_path.gz", 62, null],
  ["bgpdump-testdata.bview.ipv6_unicast_add_path.gz", 62, null],
  ["bgpdump-testdata.updates.20071015.1505.gz", 10_496, null],
  ["bgpdump-testdata.updates.20160811.1600.gz", 41_234, null],
  ["bgpdump-testdata.updates.long_withdrawal.gz", 4_096, null],
  ["bird-mrtdump_bgp", 24, null],
  ["bird-mrtdump_rib", 18, null],
  ["bird6-mrtdump_bgp", 24, null],
  ["bird6-mrtdump_rib", 10, null],
  ["openbgpd_bgp", 109, null],
  ["openbgpd_rib_table-mp", 0, null],
  ["openbgpd_rib_table-v2", 31, null],
  ["pyasn.truncated.rib.20140523.0600_firstMB.bz2", 270_005, "truncated"],
  ["quagga_bgp", 38, null],
  ["quagga_rib", 9, null],
  ["ris-live-sample.json", 0, "bad-header"],
  ["ris.bview.20020722.2337.gz", 115_521, null],
  ["ris.rrc01.updates.20001104.0124.gz", 883, null],
  ["ris.rrc03.updates.20100227.1600.first-796-records.gz", 1_363, null],
];

test.each(same)("%s has the %d lines that bgpdump prints", async (file, count, ending) => {
  const paths = testDataOrNotRun(`the lines of ${file}`, [`mrt-edge/${file}`]);
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (paths === null || tool === null) return;
  const told: Told = { bad: [], ending: null };
  const compared = await compareLines(ourText(paths[0], told), bgpdumpOutput(tool, paths[0]));
  expect({ ...compared, ...told }).toEqual({ lines: count, difference: null, bad: [], ending });
});

test.each([
  "bview.20020722.2337.gz",
  "bview.64k_stream_overflow.gz",
  "bview.ipv4_unicast_add_path.gz",
  "bview.ipv6_unicast_add_path.gz",
  "updates.20071015.1505.gz",
  "updates.20160811.1600.gz",
  "updates.long_withdrawal.gz",
  "updates.nlri_mask_trailing_bits.gz",
])("%s has the lines that bgpdump's authors recorded", async (name) => {
  const file = name === "bview.20020722.2337.gz" ? `ris.${name}` : `bgpdump-testdata.${name}`;
  const paths = testDataOrNotRun(`the recorded lines of ${name}`, [`mrt-edge/${file}`, `mrt-edge/bgpdump-expected/${name}.bgp.gz`]);
  if (paths === null) return;
  const recorded = gunzipSync(readFileSync(paths[1]));
  const told: Told = { bad: [], ending: null };
  const compared = await compareLines(ourText(paths[0], told), [recorded].values());
  expect({ ...compared, ...told }).toEqual({
    lines: recorded.toString("latin1").split("\n").length - 1,
    difference: null,
    bad: [],
    ending: null,
  });
});

/** Both columns of the lines that differ, in order. */
async function differing(path: string): Promise<{ told: Told; pairs: (readonly [string | undefined, string | undefined])[] } | null> {
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (tool === null) return null;
  const { lines, bad, ending } = await ours(path);
  const theirs: string[] = [];
  for await (const line of bgpdumpLines(tool, path)) theirs.push(line);
  const length = Math.max(lines.length, theirs.length);
  const pairs = Array.from({ length }, (_, at) => [lines[at], theirs[at]] as const).filter(([mine, other]) => mine !== other);
  return { told: { bad, ending }, pairs };
}

test("where bgpdump prints the bits past a prefix's length, they are cleared", async () => {
  const paths = testDataOrNotRun("masked prefixes", ["mrt-edge/bgpdump-testdata.updates.nlri_mask_trailing_bits.gz"]);
  const result = paths === null ? null : await differing(paths[0]);
  if (result === null) return;
  expect(result.pairs).toEqual([[expect.stringContaining("|11.8.0.0/13|"), expect.stringContaining("|11.13.0.0/13|")]]);
});

test("the aggregator of eight bytes that OpenBGPD writes into TABLE_DUMP is read as what it is", async () => {
  const paths = testDataOrNotRun("OpenBGPD's aggregator", ["mrt-edge/openbgpd_rib_table"]);
  const result = paths === null ? null : await differing(paths[0]);
  if (result === null) return;
  expect(result.told).toEqual({ bad: [], ending: null });
  expect(result.pairs).toEqual([
    [expect.stringMatching(/\|NAG\|65000 192\.168\.0\.15\|$/), expect.stringMatching(/\|NAG\|0 253\.232\.192\.168\|$/)],
  ]);
});

test("prefixes withdrawn in records of the old type are their own, not the peer's address", async () => {
  const paths = testDataOrNotRun("withdrawals of the old type", ["mrt-edge/ris.rrc00.updates.19991214.1621.gz"]);
  const result = paths === null ? null : await differing(paths[0]);
  if (result === null) return;
  expect(result.told).toEqual({ bad: [], ending: null });
  expect(result.pairs).toHaveLength(1_363);
  const columns = (line: string | undefined) => (line ?? "").split("|");
  const [mine, others] = [0, 1].map((side) => result.pairs.map((pair) => columns(pair[side])));
  expect(mine?.map((line) => line.slice(0, 5).join("|"))).toEqual(others?.map((line) => line.slice(0, 5).join("|")));
  // bgpdump's prefix is the peer's address with the prefix's length.
  expect(others?.map((line) => line[5])).toEqual(mine?.map((line) => `${line[3]}/${(line[5] ?? "").split("/")[1]}`));
});

test.each([
  ["bird_bgp", [390, 552, 769, 1582, 1744, 1961]],
  ["bird6_bgp", [506, 741, 1062, 2198, 2433, 2754]],
])("path identifiers in messages that are not marked as such (%s) are refused, and no line is made of them", async (file, bad) => {
  const paths = testDataOrNotRun("unmarked path identifiers", [`mrt-edge/${file}`]);
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (paths === null || tool === null) return;
  const told = await ours(paths[0]);
  expect({ bad: told.bad, ending: told.ending }).toEqual({ bad, ending: null });
  const theirs = new Set<string>();
  for await (const line of bgpdumpLines(tool, paths[0])) theirs.add(line);
  expect(told.lines.filter((line) => !theirs.has(line))).toEqual([]);
  expect(told.lines.filter((line) => /\|(0\.0\.0\.0|::)\/0\|/.test(line))).toEqual([]);
});

test("a record that lost a part of its header is refused with its byte, and what stood before it is printed", async () => {
  const paths = testDataOrNotRun("a damaged file of 2000", ["mrt-edge/ris.rrc00.updates.20000325.0345.gz"]);
  if (paths === null) return;
  const { lines, bad, ending } = await ours(paths[0]);
  expect({ bad, ending }).toEqual({ bad: [188], ending: "bad-header" });
  expect(lines.map((line) => line.split("|")[5])).toEqual(["24.216.16.0/24", "203.18.151.0/24", "204.92.84.0/24", "194.141.31.0/24"]);
});

test("every file of the folder is in one of these tests", async () => {
  const paths = testDataOrNotRun("the list of edge files", ["mrt-edge"]);
  if (paths === null) return;
  const { readdirSync } = await import("node:fs");
  const others = [
    "bgpdump-expected",
    "bgpdump-testdata.updates.et-header.2015.gz",
    "bgpdump-testdata.updates.nlri_mask_trailing_bits.gz",
    "bird_bgp",
    "bird6_bgp",
    "openbgpd_rib_table",
    "ris.rrc00.updates.19991214.1621.gz",
    "ris.rrc00.updates.20000325.0345.gz",
  ];
  expect(readdirSync(paths[0]).sort()).toEqual([...same.map(([file]) => basename(file)), ...others].sort());
});

/** With the lines of the whole file, and of a tenth of its records. */
const large: readonly (readonly [path: string, lines: number, linesOfTenth: number])[] = [
  ["mrt-edge/bgpdump-testdata.updates.et-header.2015.gz", 577_744, 58_665],
  ["real-2014/routeviews.route-views.jinx.ribs.1401487200.bz2", 503_590, 50_361],
];

test.each(large)(`%s, ${isLong ? "all of it" : "a tenth of its records"}, is as bgpdump prints it`, async (file, lines, linesOfTenth) => {
  const paths = testDataOrNotRun(`the lines of ${file}`, [file]);
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (paths === null || tool === null) return;
  const path = await thinnedMrt(paths[0], folder);
  const told: Told = { bad: [], ending: null };
  const compared = await compareLines(ourText(path, told), bgpdumpOutput(tool, path));
  expect({ ...compared, ...told }).toEqual({ lines: isLong ? lines : linesOfTenth, difference: null, bad: [], ending: null });
});

test("all of routeviews.route-views.jinx.updates.1401493500.bz2 is as bgpdump prints it", async () => {
  const file = "routeviews.route-views.jinx.updates.1401493500.bz2";
  const paths = testDataOrNotRun(`the lines of ${file}`, [`real-2014/${file}`]);
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (paths === null || tool === null) return;
  const told: Told = { bad: [], ending: null };
  const compared = await compareLines(ourText(paths[0], told), bgpdumpOutput(tool, paths[0]));
  expect({ ...compared, ...told }).toEqual({ lines: 1_354, difference: null, bad: [], ending: null });
});

test("10,000 made records of every kind, with every attribute, are as bgpdump prints them", async () => {
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (tool === null) return;
  const path = join(folder, "made");
  const records = Array.from({ length: 10_000 }, (_, seed) => madeRecord(new Chance(seed + 1), { asBgpdumpReads: true }));
  writeFileSync(path, Buffer.concat([madePeerIndex(), ...records]));
  const told: Told = { bad: [], ending: null };
  const compared = await compareLines(ourText(path, told), bgpdumpOutput(tool, path));
  expect({ difference: compared.difference, ...told }).toEqual({ difference: null, bad: [], ending: null });
  expect(compared.lines).toBeGreaterThan(15_000);
});

test("of messages that a collector cut off with their header, the prefixes that are there are printed as bgpdump prints them", async () => {
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (tool === null) return;
  const attributes = Buffer.from("4001010040020602010000fde8400304c0000201", "hex");
  const body = Buffer.concat([
    Buffer.alloc(2),
    Buffer.of(0, attributes.length),
    attributes,
    Buffer.from("080a180a0001180a0002100a03", "hex"),
  ]);
  const message = Buffer.concat([Buffer.alloc(16, 255), Buffer.of(0, 19 + body.length, 2), body]);
  const session = Buffer.from("0000fde80000fde900000001c0000201c0000202", "hex");
  const cuts = Array.from({ length: 14 }, (_, missing) => {
    const record = Buffer.concat([session, message.subarray(0, message.length - missing)]);
    return Buffer.concat([Buffer.from("6553f10000100004000000", "hex"), Buffer.of(record.length), record]);
  });
  const path = join(folder, "cut");
  writeFileSync(path, Buffer.concat(cuts));
  const told: Told = { bad: [], ending: null };
  const compared = await compareLines(ourText(path, told), bgpdumpOutput(tool, path));
  expect({ ...compared, ...told }).toEqual({ lines: 25, difference: null, bad: [], ending: null });
});

test("one changed character, a missing line and one too many are found, however the text comes", async () => {
  const text = (changed: number) => Array.from({ length: 25_000 }, (_, at) => (at === changed ? "x\n" : `line ${at}\n`)).join("");
  const pieces = (all: string, length: number) =>
    Array.from({ length: Math.ceil(all.length / length) }, (_, at) => Buffer.from(all.slice(at * length, (at + 1) * length))).values();
  const whole = text(-1);
  expect(await compareLines(pieces(whole, 1_000), pieces(whole, 777))).toEqual({ lines: 25_000, difference: null });
  expect((await compareLines(pieces(text(24_999), 777), pieces(whole, 1_000))).difference).toBe("line 25000: x where line 24999 is right");
  expect((await compareLines(pieces(text(0), 1_000), pieces(whole, 777))).difference).toBe("line 1: x where line 0 is right");
  const shorter = whole.slice(0, whole.lastIndexOf("line"));
  expect((await compareLines(pieces(shorter, 777), pieces(whole, 1_000))).difference).toBe("line 25000: (end) where line 24999 is right");
  expect((await compareLines(pieces(whole, 777), pieces(shorter, 1_000))).difference).toBe("line 25000: line 24999 where (end) is right");
});
