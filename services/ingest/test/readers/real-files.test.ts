/**
 * The readers over the whole real files, each against a reading that is slow and obvious.
 *
 * @large It reads every real file twice.
 */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { type Address, formatPrefix } from "@netfacts/address";
import { openContent } from "@netfacts/content";
import { isLong, runs } from "../../../../test/support/runs.ts";
import { type AsNameRecord, readAutnums, readNameList } from "../../src/readers/as-names.ts";
import { type DelegationRecord, readDelegated } from "../../src/readers/delegated.ts";
import { readGeofeed } from "../../src/readers/geofeed.ts";
import { readRpkiClientJson } from "../../src/readers/rpki-client-json.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";
import { obviousReading } from "./delegated-oracle.ts";

const data = process.env.NETFACTS_TEST_DATA ?? resolve(import.meta.dirname, "../../../../../shared/data");
const samples = resolve(import.meta.dirname, "../../../../samples/data");

/** Runs the check with the file, or tells that it was not run. */
async function withFile(path: string, check: (path: string) => Promise<void>): Promise<void> {
  if (existsSync(path)) await check(path);
  else console.log(`not run: ${path} is not there`);
}

function decimal({ version, w0, w1, w2, w3 }: Address): bigint {
  return version === 4 ? BigInt(w0) : (BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);
}

describe("delegated statistics", () => {
  test.each([
    [samples, "delegated-ripencc-latest.20140522.gz", 85_536],
    [samples, "delegated-apnic-latest.20140522.gz", 32_556],
    [samples, "delegated-lacnic-latest.20140522.gz", 15_118],
    [samples, "delegated-arin-latest.20130813.gz", 72_419],
    [samples, "delegated-afrinic-extended-latest.20260505.gz", 19_286],
    [join(data, "real-2014"), "delegated-lacnic-latest.20140522.gz", 15_118],
    [join(data, "modern"), "delegated-apnic-latest.20250721.gz", 82_289],
    [join(data, "modern"), "delegated-lacnic-latest.20250721.gz", 46_766],
    [join(data, "modern"), "delegated-afrinic-latest.20250721.gz", 9_217],
    [join(data, "modern"), "delegated-lacnic-extended-latest.20181012.gz", 57_841],
  ])("every record of %s/%s is read as it stands", async (folder, file, count) => {
    await withFile(join(folder, file), async (path) => {
      const records: string[] = [];
      const report = await readDelegated(contentOfFile(path), (record: DelegationRecord) => {
        const [start, end] = record.kind === "asn" ? [record.start, record.end] : [decimal(record.start), decimal(record.end)];
        records.push(
          [record.registry, record.country ?? "", record.kind, start, end, record.date ?? "", record.status, record.opaqueId ?? ""].join(
            "|",
          ),
        );
      });
      const expected = obviousReading(gunzipSync(readFileSync(path)), 0.01, file.includes("lacnic") ? 0.15 : 0);
      expect(records).toHaveLength(count);
      expect(records.join("\n") === expected?.records.join("\n")).toBe(true);
      expect(report).toMatchObject({ read: count, accepted: count, skipped: [] });
      expect(report.asOf).toBe(Date.parse((expected?.asOf ?? "").replace(/^(....)(..)(..)$/, "$1-$2-$3T00:00:00Z")) / 1000);
    });
  });
});

/** Places in a text: so many line ends, and so many bytes within lines, each file's own. */
function cutsOf(text: Buffer, count: number): { atLineEnd: number[]; withinLine: number[] } {
  const atLineEnd: number[] = [];
  const withinLine: number[] = [];
  for (let cut = 1; cut <= count; cut++) {
    // The last cut takes the last line.
    const at = cut === count ? text.length - 2 : Math.floor((text.length * (cut + count)) / (2 * count + 1));
    const end = text.lastIndexOf("\n", at) + 1;
    atLineEnd.push(end);
    if (at > end) withinLine.push(at);
  }
  return { atLineEnd, withinLine };
}

const cuts = runs(20, 2);

test.each([
  [samples, "delegated-ripencc-latest.20140522.gz"],
  [samples, "delegated-apnic-latest.20140522.gz"],
  [samples, "delegated-arin-latest.20130813.gz"],
  [samples, "delegated-afrinic-extended-latest.20260505.gz"],
  [join(data, "modern"), "delegated-afrinic-latest.20250721.gz"],
])(`%s/%s cut at any of ${cuts} line ends or within a line is refused, with what is missing`, async (folder, file) => {
  await withFile(join(folder, file), async (path) => {
    const text = gunzipSync(readFileSync(path));
    const { atLineEnd, withinLine } = cutsOf(text, cuts);
    for (const at of atLineEnd)
      expect((await failureOf(readDelegated(contentOf(text.subarray(0, at)), () => {}))).message).toMatch(
        /differs from the counts in it: claims \d+ \w+ and has \d+/,
      );
    for (const at of withinLine)
      expect((await failureOf(readDelegated(contentOf(text.subarray(0, at)), () => {}))).message).toMatch(
        at < text.lastIndexOf("\n", text.length - 2)
          ? /the last line has no line break; it claims/
          : /the last line has no line break; if the file is complete/,
      );
  });
});

interface Roa {
  asn: number;
  prefix: string;
  maxLength: number;
  ta: string;
  expires: number;
}

/** Every VRP of the file against JSON.parse of the whole of it. */
async function compareExport(path: string): Promise<number> {
  const content = await readRpkiClientJson(contentOfFile(path));
  const pieces: Uint8Array[] = [];
  for await (const piece of openContent(path).stream) pieces.push(Uint8Array.from(piece));
  const { roas, aspas, metadata } = JSON.parse(Buffer.concat(pieces).toString()) as {
    roas: Roa[];
    aspas: unknown[];
    metadata: { buildtime: string };
  };
  expect(content.report).toMatchObject({
    read: roas.length,
    accepted: roas.length,
    skipped: [],
    asOf: Date.parse(metadata.buildtime) / 1000,
  });
  expect(
    content.aspas?.records.map(({ customer, providers, expiresAt }) => ({ customer_asid: customer, expires: expiresAt, providers })),
  ).toEqual(aspas);
  let index = 0;
  for (const { asn, prefix, maxLength, ta, expiresAt } of content.vrps) {
    const roa = roas[index++] as Roa;
    if (asn !== roa.asn || maxLength !== roa.maxLength || ta !== roa.ta || expiresAt !== roa.expires || formatPrefix(prefix) !== roa.prefix)
      throw new Error(`VRP ${index} differs from ${JSON.stringify(roa)}`);
  }
  return index;
}

describe("rpki-client exports", () => {
  test("every VRP of the sample's slice is read as JSON.parse has it", async () => {
    expect(await compareExport(join(samples, "rpki-client.20250720T0931.slice.json.gz"))).toBe(142_135);
  });

  // An ordinary run reads a part of it in test/truth/rpki-states.test.ts, against another reading.
  if (isLong)
    test("every VRP of a whole export of 75 MB is read as JSON.parse has it", async () => {
      await withFile(join(data, "modern/rpki-client.20250720T0931.json.bz2"), async (path) =>
        expect(await compareExport(path)).toBe(723_521),
      );
    });
});

describe("AS names", () => {
  async function namesOf(path: string, reader: typeof readAutnums): Promise<Map<number, string>> {
    const names = new Map<number, string>();
    const countries = new Set<string | null>();
    await reader(contentOfFile(path), ({ asn, name, country }: AsNameRecord) => {
      countries.add(country);
      names.set(asn, name);
    });
    expect([...countries]).toEqual([null]);
    return names;
  }

  test("every name of potaroo's file of 2014 is read as it stands", async () => {
    const path = join(samples, "autnums-potaroo.20140524.txt.gz");
    const expected = new Map<number, string>();
    for (const line of gunzipSync(readFileSync(path)).toString().split("\r\n")) {
      const [number = "", ...words] = line.split(/[ \t]/).filter((word) => word !== "");
      const [high, low] = number.slice(2).split(".");
      if (!words.join(" ").startsWith("-"))
        expected.set(low === undefined ? Number(high) : Number(high) * 65_536 + Number(low), words.join(" "));
    }
    // Encoded three times, and the only one.
    expect(expected.get(39254)).toContain("\u00c3\u00a2");
    expected.set(39254, "ICBE Investment Commercial Bank Evropeisky\u2019s AS");
    const names = await namesOf(path, readAutnums);
    expect(names.get(1945)).toBe("FR-LYRES Lyon Recherche et Enseignement Supérieur (LyRES)");
    expect(names.size).toBe(39_188);
    expect([...names].join("\n") === [...expected].join("\n")).toBe(true);
  });

  test("every name of today's list is read as it stands", async () => {
    await withFile(join(data, "modern/as-names.20260527.tsv.gz"), async (path) => {
      const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split("\n");
      const named = lines
        .map((line) => line.split("\t") as [string, string])
        .filter(([asn, name]) => name !== `AS${asn}` && !/^-.*-$/.test(name));
      const names = await namesOf(path, readNameList);
      expect([...names].join("\n") === named.map(([asn, name]) => [asn, name.replace(/ +/g, " ").trim()]).join("\n")).toBe(true);
    });
  });
});

describe("a geofeed", () => {
  test("every entry of AWS's is read as it stands, and its 82 short lines are reported", async () => {
    await withFile(join(data, "modern/geofeed-aws.20260822.csv.gz"), async (path) => {
      const { records, report } = await readGeofeed(contentOfFile(path));
      const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split("\n");
      const rows = lines.filter((line) => !line.startsWith("#")).map((line) => line.split(","));
      const expected = rows.map(([prefix, country, region, city]) => [prefix, country, region || null, city].join(" | "));
      const told = records.map(({ prefix, place }) =>
        [formatPrefix(prefix), place?.country, place?.region ?? null, place?.city].join(" | "),
      );
      expect(told).toHaveLength(10_661);
      expect(told.join("\n") === expected.join("\n")).toBe(true);
      const short = rows.filter((row) => row.length < 5);
      const first = lines.findIndex((line) => line.split(",").length === 4 && !line.startsWith("#")) + 1;
      expect(short).toHaveLength(82);
      expect(report).toMatchObject({ read: 10_661, accepted: 10_661, skipped: [], asOf: Date.parse("2026-08-22T16:53:12Z") / 1000 });
      expect(report.notes).toEqual([
        expect.stringMatching(new RegExp(`^lines with fewer than five fields, the others read as empty: 82 \\(line ${first}, `)),
      ]);
      expect(report.kinds).toEqual({ "IPv4 prefixes": 7_635, "IPv6 prefixes": 3_026, "prefixes with a location": 10_661 });
    });
  });

  test(`cut within any of ${cuts} lines is refused`, async () => {
    await withFile(join(data, "modern/geofeed-aws.20260822.csv.gz"), async (path) => {
      const text = gunzipSync(readFileSync(path));
      const { withinLine } = cutsOf(text, cuts);
      for (const at of withinLine)
        expect((await failureOf(readGeofeed(contentOf(text.subarray(0, at))))).message).toMatch(/the last line has no line break/);
    });
  });
});
