/** MMDB files, as an independent reader finds them. */

import { describe, expect, test } from "@jest/globals";
import { formatAddress } from "@netfacts/address";
import { Reader } from "mmdb-lib";
import { address } from "../../../libs/snapshot/test/support/text.ts";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { MmdbWriter, writeNode } from "../src/export/mmdb.ts";
import { MmdbData, MmdbDouble, type MmdbMap, MmdbUint16 } from "../src/export/mmdb-data.ts";

const about = { databaseType: "Made", description: "made for a test", builtAt: 1_795_000_000 };
const ipv4 = (w0: number) => ({ version: 4, w0, w1: 0, w2: 0, w3: 0 }) as const;

type Range = readonly [first: string, last: string, record: MmdbMap];

function readerOf(...ranges: Range[]) {
  const writer = new MmdbWriter();
  for (const [first, last, record] of ranges) writer.add(address(first), address(last), record);
  return new Reader<never>(Buffer.concat([...writer.file(about)]) as never);
}

test("says what it is", () => {
  const { metadata } = readerOf(["192.0.2.0", "192.0.2.255", { a: 1 }]);
  expect(metadata).toMatchObject({
    binaryFormatMajorVersion: 2,
    binaryFormatMinorVersion: 0,
    buildEpoch: new Date(1_795_000_000_000),
    databaseType: "Made",
    description: { en: "made for a test" },
    ipVersion: 6,
    languages: ["en"],
    recordSize: 24,
  });
});

test("values come back as they were, whatever their length and however often they repeat", () => {
  const text = (length: number) => "é".repeat(Math.floor(length / 2)) + "x".repeat(length % 2);
  const records = [0, 1, 28, 29, 284, 285, 65_820, 65_821, 700_000].map(
    (length, index): MmdbMap => ({
      text: text(length),
      number: index === 0 ? 0 : (2 ** (4 * index) - 1) % 2 ** 32,
      double: new MmdbDouble(index - 3.5),
      whole: new MmdbDouble(50),
      list: [{ iso_code: "X" }, text(40), index],
      [`name ${text(length % 1_000)}`]: { deep: { deeper: text(300) } },
    }),
  );
  const reader = readerOf(...records.map((record, index): Range => [`192.0.2.${index}`, `192.0.2.${index}`, record]));
  for (const [index, record] of records.entries()) {
    const { double, whole, ...others } = record;
    expect(reader.get(`192.0.2.${index}`)).toEqual({ ...others, double: index - 3.5, whole: 50 });
  }
});

test("numbers of different types are not shared, in records and inside them", () => {
  const data = new MmdbData();
  for (const radius of [new MmdbDouble(10), new MmdbUint16(10)]) data.record({ radius });
  data.record({ latitude: new MmdbDouble(50), radius: new MmdbUint16(50) });
  // A double has control byte 0x68 and 8 bytes; a small unsigned integer of 16 bits has 0xa1 and one byte.
  expect(data.bytes.toString("hex").match(/68(4024|4049)0{12}|a1(0a|32)/g)).toEqual([
    "684024000000000000",
    "a10a",
    "684049000000000000",
    "a132",
  ]);
});

test("what is no unsigned integer of 32 bits is refused", () => {
  for (const number of [-1, 0.5, 2 ** 32, Number.NaN])
    expect(() => readerOf(["192.0.2.0", "192.0.2.0", { number }])).toThrow("not an unsigned integer of 32 bits");
});

test("IPv4 addresses are found as such and as mapped ones, and hide no IPv6 address", () => {
  const reader = readerOf(
    ["0.0.0.0", "0.0.0.255", { is: "ipv4" }],
    ["255.255.255.255", "255.255.255.255", { is: "last" }],
    ["::1:0:0", "::1:0:0", { is: "next" }],
    ["ffff::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", { is: "end" }],
  );
  const found = (text: string) => (reader.get(text) as { is: string } | null)?.is ?? null;
  expect(["0.0.0.7", "::ffff:0.0.0.7", "0.0.1.0", "255.255.255.255", "::1:0:0", "::1:0:1", "fffe::", "ffff::1"].map(found)).toEqual([
    "ipv4",
    "ipv4",
    null,
    "last",
    "next",
    null,
    null,
    "end",
  ]);
});

test("any ranges in order are found at each of their ends and nowhere else", () => {
  const ranges = fc
    .uniqueArray(fc.oneof(fc.nat(0xffff_ffff), fc.nat(300), fc.constantFrom(0, 0xffff_ffff)), { minLength: 2, maxLength: 40 })
    .map((points) => points.sort((a, b) => a - b));
  fc.assert(
    fc.property(ranges, (points) => {
      const writer = new MmdbWriter();
      // Every other gap is a range.
      for (let at = 0; at + 1 < points.length; at += 2)
        writer.add(ipv4(points[at] as number), ipv4(points[at + 1] as number), { at, twice: at % 4 });
      const reader = new Reader<never>(Buffer.concat([...writer.file(about)]) as never);
      for (const point of points.flatMap((value) => [value - 1, value, value + 1])) {
        if (point < 0 || point > 0xffff_ffff) continue;
        const at = points.findIndex((first, index) => index % 2 === 0 && first <= point && point <= (points[index + 1] ?? -1));
        expect((reader.get(formatAddress(ipv4(point))) as { at: number } | null)?.at ?? null).toBe(at < 0 ? null : at);
      }
    }),
    { seed: seed(4_711), numRuns: runs(200, 40) },
  );
});

describe("nodes of", () => {
  test.each([24, 28, 32] as const)("%d bits", (recordSize) => {
    const bytes = Buffer.alloc(recordSize / 4);
    const largest = 2 ** recordSize - 1;
    for (const [left, right] of [
      [0, largest],
      [largest, 0],
      [0x123_456, 0x654_321],
      [largest - 0xabc, largest - 0xcba],
    ] as const) {
      writeNode(bytes, 0, recordSize, left, right);
      const text = bytes.toString("hex");
      const hex = (value: number) => value.toString(16).padStart(recordSize / 4, "0");
      // In 28 bits the upper half-bytes of both sides stand together in the middle.
      const sides =
        recordSize === 28
          ? [text[6] + text.slice(0, 6), text[7] + text.slice(8)]
          : [text.slice(0, recordSize / 4), text.slice(recordSize / 4)];
      expect(sides).toEqual([hex(left), hex(right)]);
    }
  });
});
