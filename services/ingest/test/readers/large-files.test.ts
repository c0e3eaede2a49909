/**
 * Files at the bounds of what the readers take.
 *
 * @large Each has some hundred thousand lines and more.
 */

import { expect, test } from "@jest/globals";
import { collectGarbage } from "../../src/pipeline/collect-garbage.ts";
import { readGeofeed } from "../../src/readers/geofeed.ts";
import { readObservations, readObservationsCsv } from "../../src/readers/observations.ts";
import { readPrefixList } from "../../src/readers/prefix-list.ts";
import { readAwsRanges } from "../../src/readers/provider-ranges.ts";
import { rangesMax } from "../../src/readers/range-list.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { readGeofeedReferences } from "../../src/readers/rpsl-references.ts";
import { contentOf, failureOf } from "./content.ts";

const latestTime = Date.parse("2026-11-21T00:00:00Z") / 1000;

/** So many lines, each of an address of its own, of the 256 blocks that have other addresses. */
function linesOf(count: number, rest: string): (block: number) => string {
  const first = Array.from({ length: count }, (_, at) => `11.0.${at >> 8}.${at & 255}${rest}\n`).join("");
  return (block) => first.replaceAll("11.0.", `11.${block}.`);
}

test("a geofeed of more than two million entries is refused", async () => {
  const block = linesOf(10_001, "/32,NL,,,");
  async function* pieces() {
    for (let at = 0; at < 200; at++) yield Buffer.from(block(at));
  }
  const source = { file: "made-up", chunks: pieces(), bytesMax: 1e9, secondsMax: 600, badRecordsMax: 1 };
  expect((await failureOf(readGeofeed(source))).message).toBe("made-up:2000001: has more than 2000000 entries");
}, 120_000);

test("a list of more than a million prefixes is refused, with the line", async () => {
  const block = linesOf(10_000, "/32");
  const lines = Array.from({ length: rangesMax / 10_000 }, (_, at) => block(at));
  const error = await failureOf(readPrefixList(contentOf(`${lines.join("")}12.0.0.0/24\n`)));
  expect(error.message).toBe("made-up:1000001: has more than 1000000 prefixes");
}, 60_000);

test.each<[string, number, (index: number) => { city?: string; method?: string }]>([
  ["200000 distinct places (country, region and city)", 200_000, (index) => ({ city: `City ${index}` })],
  ["1000 distinct methods", 1_000, (index) => ({ method: `m${index}` })],
])(
  "observations of more than %s are refused, as JSON and as CSV",
  async (what, max, names) => {
    // The second to last is known and has room; the last one is new.
    const all = [...Array.from({ length: max }, (_, index) => names(index)), names(0), names(max)];
    const lines = all.map((one) => `${JSON.stringify({ ip: "192.0.2.1", country: "NL", ...one, observed_at: "2026-11-20T22:14:05Z" })}\n`);
    const error = await failureOf(readObservations(contentOf(lines.join(""), 65_536, { latestTime })));
    expect(error).toBeInstanceOf(SourceError);
    expect(error.message).toBe(`made-up:${max + 2}: has more than ${what}`);
    const rows = all.map(({ city = "", method = "" }) => `192.0.2.1,NL,${city},${method},2026-11-20T22:14:05Z\n`);
    const csv = contentOf(`ip,country,city,method,observed_at\n${rows.join("")}`, 65_536, { latestTime });
    expect((await failureOf(readObservationsCsv(csv))).message).toBe(`made-up:${max + 3}: has more than ${what}`);
  },
  60_000,
);

test("memory stays flat over a registry dump of many objects", async () => {
  const block = `${`inetnum:        198.51.100.0 - 198.51.100.255\nnetname: X\n${`remarks:        ${"words and more words ".repeat(8)}\n`.repeat(5)}\n`.repeat(1_000)}`;
  async function* many(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(block);
    for (let at = 0; at < 100; at++) yield bytes;
  }
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const { objects } = await readGeofeedReferences({ file: "dump", bytesMax: 1 << 30, secondsMax: 60, badRecordsMax: 0.05, chunks: many() });
  expect(objects.ipv4).toBe(100_000);
  collectGarbage();
  // All of the texts are 100 MiB.
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(20);
}, 60_000);

test("a region of 100,000 letters, which comes in pieces of a few, is invalid", async () => {
  const prefixes = [{ ip_prefix: "13.0.0.0/24" }, { ip_prefix: "11.0.0.0/16", region: "x".repeat(100_000) }];
  const text = JSON.stringify({ createDate: "2025-11-21-08-50-12", prefixes });
  const { report } = await readAwsRanges(contentOf(text, 7, { badRecordsMax: 0.6 }));
  expect(report.skipped).toMatchObject([{ reason: "region is not a text of at most 64 letters", bad: true, count: 1 }]);
});
