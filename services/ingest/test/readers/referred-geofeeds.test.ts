/** Locations of geofeeds that a dump refers to, against a search through all ranges and entries for each address. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Address, containsAddress, formatAddress, formatPrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { type ReferredFeed, readReferredGeofeeds } from "../../src/readers/referred-geofeeds.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-feeds-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Reference {
  readonly start: string;
  readonly end: string;
  readonly url: string;
  readonly modified?: string;
}

function feed(url: string, text: string | null, error: string | null = null): ReferredFeed {
  const path = join(folder, `${url.replaceAll(/\W/g, "-")}`);
  if (text !== null) writeFileSync(path, text);
  return { url, path: text === null ? null : path, sha256: text === null ? null : "0", error };
}

async function read(
  references: readonly Reference[],
  feeds: readonly ReferredFeed[],
  covers: readonly string[] | null = null,
  recordsMax?: number,
) {
  const dump = references
    .map(({ start, end, url, modified }) => {
      const range = start.includes(":") ? `inet6num: ${start}` : `inetnum: ${start} - ${end}`;
      return `${range}\ngeofeed: ${url}\n${modified === undefined ? "" : `last-modified: ${modified}\n`}`;
    })
    .join("\n");
  async function* chunks() {
    yield Buffer.from(dump);
  }
  const prefixes = covers?.map((text) => prefix(text)) ?? null;
  return readReferredGeofeeds(
    { file: "dump", chunks: chunks(), bytesMax: 1 << 30, secondsMax: 60, badRecordsMax: 0, covers: prefixes },
    feeds,
    recordsMax,
  );
}

function prefix(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(text);
  return reading.prefix;
}

function address(text: string): Address {
  const found = parseAddress(text);
  if (found === null) throw new Error(text);
  return found;
}

/** City by prefix. */
async function shown(...args: Parameters<typeof read>): Promise<Record<string, string | null>> {
  const { records } = await read(...args);
  return Object.fromEntries(records.map(({ prefix: one, place }) => [formatPrefix(one), place?.city ?? null]));
}

const a = "https://a.example/";
const b = "https://b.example/";
const whole = { start: "192.0.2.0", end: "192.0.2.255", url: a };

describe("an entry counts", () => {
  test("only within the range that refers to its geofeed", async () => {
    const text = "192.0.2.0/25,NL,,One,\n198.51.100.0/24,NL,,Elsewhere,\n192.0.0.0/16,NL,,Around,\n";
    expect(await shown([whole], [feed(a, text)])).toEqual({ "192.0.2.0/24": "Around", "192.0.2.0/25": "One" });
    const { report } = await read([whole], [feed(a, text)]);
    expect(report.skipped).toMatchObject([{ reason: "is outside of the ranges for which the geofeed counts", count: 1, bad: false }]);
    expect(report.skipped[0]?.examples[0]?.text).toContain(a);
  });

  test("not where a more specific range refers to another geofeed, be it silent there or away", async () => {
    const inner = { start: "192.0.2.64", end: "192.0.2.127", url: b };
    const outer = feed(a, "192.0.2.0/24,NL,,Outer,\n192.0.2.96/27,NL,,Hidden,\n");
    const expected = { "192.0.2.0/26": "Outer", "192.0.2.128/25": "Outer" };
    expect(await shown([whole, inner], [outer, feed(b, "192.0.2.64/27,DE,,Inner,\n")])).toEqual({ ...expected, "192.0.2.64/27": "Inner" });
    expect(await shown([inner, whole], [outer, feed(b, null, "is away")])).toEqual(expected);
  });

  test("of equal ranges, where that was modified last", async () => {
    const old = { ...whole, modified: "2020-01-01T00:00:00Z" };
    const young = { ...whole, url: b, modified: "2021-01-01T00:00:00Z" };
    const feeds = [feed(a, "192.0.2.0/24,NL,,A,\n"), feed(b, "192.0.2.0/24,NL,,B,\n")];
    for (const order of [
      [old, young],
      [young, old],
    ])
      expect(await shown(order, feeds)).toEqual({ "192.0.2.0/24": "B" });
  });

  test("within covers only", async () => {
    const feeds = [feed(a, "192.0.2.0/26,NL,,A,\n192.0.2.128/26,NL,,B,\n")];
    expect(await shown([whole], feeds, ["192.0.2.128/25"])).toEqual({ "192.0.2.128/26": "B" });
  });
});

test("faults of a geofeed are told and cost only what is wrong", async () => {
  const signed = `${"# RPKI Signature: 192.0.2.0 - 192.0.2.255\n# MIIGlwYJKoZIhvcNAQcCoIIGiDCCBoQCAQMxDTALBglghkgBZQMEAgEwDQYLKoZI\n"}# End Signature: 192.0.2.0 - 192.0.2.255\n`;
  const urls = ["a", "b", "c", "d", "e"].map((name) => `https://${name}.example/`) as [string, string, string, string, string];
  const references = urls.map((url, at) => ({ start: `192.0.2.${at * 16}`, end: `192.0.2.${at * 16 + 15}`, url }));
  const { records, report } = await read(references, [
    feed(urls[0], `192.0.2.0/28,NL,,Signed,\r\nnonsense\r\n192.0.2.1,NL,,Host,1234\r\n${signed}`),
    feed(urls[1], "<!DOCTYPE html>\n<html></html>\n"),
    // A last line without a break counts if it is complete.
    feed(urls[2], "192.0.2.32/28,NL,NL-NH,Whole,"),
    feed(urls[3], "192.0.2.48/29,NL,,Whole,\n192.0.2.56/29,NL,NL-NH,Amst"),
    feed(urls[4], "192.0.2.64/28,NL,,Kept,\n", "the server returned status 500"),
  ]);
  expect(records.map(({ prefix: one, place }) => [formatPrefix(one), place?.city])).toEqual([
    ["192.0.2.0/28", "Signed"],
    ["192.0.2.1/32", "Host"],
    ["192.0.2.32/28", "Whole"],
    ["192.0.2.48/29", "Whole"],
    ["192.0.2.64/28", "Kept"],
  ]);
  expect(report).toMatchObject({ read: 7, accepted: 5, kinds: { "inetnum objects": 5, "inet6num objects": 0, "IPv4 prefixes": 5 } });
  expect(report.skipped.map(({ reason, bad }) => [reason, bad])).toEqual([
    ["has no comma: a geofeed has prefix,country,region,city,postal code", true],
    ["is truncated: the last line has no line break, and fewer than five fields", true],
  ]);
  expect(report.notes).toEqual([
    "references to geofeeds: 5, to 5 URLs, of which 4 are used",
    "signed geofeeds, whose signatures were not verified: 1",
    expect.stringMatching(
      /^geofeeds without a usable newest version: 2: https:\/\/b\.example\/: is no geofeed: 2 of 2 lines .*; https:\/\/e\.example\/: the server returned status 500$/,
    ),
  ]);
});

describe("if there is no room for all geofeeds", () => {
  const own = (count: number, from: number) => Array.from({ length: count }, (_, at) => `192.0.2.${from + at}/32,NL,,City,\n`).join("");
  const greedy = ["https://a.example/1", "https://a.example/2", "https://a.example/3"];
  const honest = ["https://x.example/", "https://y.example/"];
  const references = [...greedy, ...honest].map((url, at) => ({ start: `192.0.2.${at * 32}`, end: `192.0.2.${at * 32 + 31}`, url }));
  const small = () => honest.map((url, at) => ({ ...feed(url, own(4, 96 + at * 32)), entries: 4, effort: 1 }));

  test("the largest of the largest hosts are left out, and the report names them", async () => {
    const large = greedy.map((url, at) => ({ ...feed(url, own(16, at * 32)), entries: 16, effort: 4 }));
    const { records, report } = await read(references, [...large, ...small()], null, 30);
    expect(records).toHaveLength(16 + 8);
    expect(report.notes[1]).toMatch(
      /newest version: 2: https:\/\/a\.example\/2: is left out: .* room for 30 prefixes.*; https:\/\/a\.example\/3: /,
    );
  });

  test("those that are mostly comments take as much as it costs to read them", async () => {
    const junk = greedy.map((url, at) => ({ ...feed(url, own(1, at * 32) + "#\n".repeat(80)), entries: 1, effort: 21 }));
    const { records, report } = await read(references, [...junk, ...small()], null, 30);
    expect(records).toHaveLength(1 + 8);
    expect(report.notes[1]).toMatch(/newest version: 2: /);
  });
});

const bases = { 4: (at: number) => `11.0.0.${at}`, 6: (at: number) => `2001:db8::${at.toString(16)}` };

test("each address has the most specific entry of the geofeed of the most specific range", async () => {
  const aFamily = fc.constantFrom<4 | 6>(4, 6);
  // Ranges of inet6num objects are prefixes; those of IPv4 begin and end anywhere.
  const aReference = fc
    .record({
      family: aFamily,
      one: fc.nat(63),
      other: fc.nat(63),
      length: fc.integer({ min: 0, max: 6 }),
      url: fc.nat(3),
      year: fc.integer({ min: 2000, max: 2020 }),
    })
    .map(({ family, one, other, length, url, year }) => {
      const size = 2 ** length;
      const first = family === 4 ? Math.min(one, other) : Math.floor(one / size) * size;
      const last = family === 4 ? Math.max(one, other) : first + size - 1;
      return {
        family,
        first,
        last,
        url: `https://${url}.example/`,
        year,
        text: family === 4 ? bases[4](first) : `${bases[6](first)}/${128 - length}`,
      };
    });
  const anEntry = fc.record({
    family: aFamily,
    at: fc.nat(63),
    length: fc.integer({ min: 0, max: 6 }),
    city: fc.constantFrom("A", "B", "C", ""),
  });
  const world = fc.record({
    references: fc.array(aReference, { minLength: 1, maxLength: 8 }),
    feeds: fc.array(fc.array(anEntry, { minLength: 1, maxLength: 6 }), { minLength: 4, maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ references, feeds }) => {
      const lines = feeds.map((entries) => {
        const known = new Map<string, { prefix: Prefix; city: string }>();
        for (const { family, at, length, city } of entries) {
          const text = `${bases[family](Math.floor(at / 2 ** length) * 2 ** length)}/${(family === 4 ? 32 : 128) - length}`;
          if (!known.has(text)) known.set(text, { prefix: prefix(text), city });
        }
        return known;
      });
      const files = lines.map((known, at) =>
        feed(`https://${at}.example/`, [...known].map(([text, { city }]) => `${text},${city === "" ? "" : "NL"},,${city},\n`).join("")),
      );
      const { records } = await read(
        references.map(({ family, text, last, url, year }) => ({
          start: text,
          end: bases[family](last),
          url,
          modified: `${year}-01-01T00:00:00Z`,
        })),
        files,
      );
      for (const family of [4, 6] as const)
        for (let at = 0; at < 64; at++) {
          const asked = address(bases[family](at));
          const around = references.filter((one) => one.family === family && one.first <= at && at <= one.last);
          const [best] = around.sort(
            (x, y) => x.last - x.first - (y.last - y.first) || y.year - x.year || references.indexOf(x) - references.indexOf(y),
          );
          const entries = best === undefined ? [] : [...(lines[Number(best.url.slice(8, 9))]?.values() ?? [])];
          const [entry] = entries.filter((one) => containsAddress(one.prefix, asked)).sort((x, y) => y.prefix.length - x.prefix.length);
          const [found] = records.filter((one) => containsAddress(one.prefix, asked)).sort((x, y) => y.prefix.length - x.prefix.length);
          expect([formatAddress(asked), found === undefined ? "none" : (found.place?.city ?? "")]).toEqual([
            formatAddress(asked),
            entry === undefined ? "none" : entry.city,
          ]);
        }
      expect(new Set(records.map((one) => formatPrefix(one.prefix))).size).toBe(records.length);
    }),
    { seed: seed(9632), numRuns: runs(300) },
  );
}, 60_000);
