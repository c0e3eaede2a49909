/** Delegated statistics: golden small files, every rule once. */

import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { formatAddress } from "@netfacts/address";
import { type DelegationRecord, readDelegated } from "../../src/readers/delegated.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";
import { expectGolden } from "./golden.ts";

const fixtures = join(import.meta.dirname, "../fixtures");

async function readAll(content: Parameters<typeof readDelegated>[0]) {
  const records: DelegationRecord[] = [];
  const report = await readDelegated(content, (record) => records.push(record));
  return { records, report };
}

/** The counts in the header are of no matter, unless a test says so. */
function read(lines: string[], bounds = {}) {
  return readAll(contentOf(`${lines.join("\n")}\n`, 7, { countErrorMax: 1_000, ...bounds }));
}

function shown(record: DelegationRecord): string {
  const [start, end] = record.kind === "asn" ? [record.start, record.end] : [formatAddress(record.start), formatAddress(record.end)];
  return [
    record.registry,
    record.country ?? "-",
    record.kind,
    `${start}-${end}`,
    record.date ?? "-",
    record.status,
    record.opaqueId ?? "-",
  ].join(" ");
}

const header = "2|ripencc|20260105|1|19830705|20260104|+0100";

describe("golden files", () => {
  for (const file of ["delegated-plain.txt", "delegated-extended.txt"]) {
    test(`reads ${file} as its golden file says`, async () => {
      const { records, report } = await readAll({ ...contentOfFile(join(fixtures, file)), badRecordsMax: 0.5, countErrorMax: 0.25 });
      expectGolden(join(fixtures, `${file}.golden.json`), { records: records.map(shown), report: { ...report, seconds: 0 } });
    });
  }
});

describe("the version line", () => {
  test("may have a byte order mark before it, which is noted", async () => {
    const { report } = await read([`\ufeff${header}`, "ripencc|NL|asn|3333|1|19930901|allocated"]);
    expect(report).toMatchObject({ accepted: 1, notes: ["begins with a byte order mark"] });
  });

  test.each([
    ["2|apnic|20260105|1|19830705|20260104|+1000", 1767484800],
    ["2.3|lacnic|20260105|1|19870101|20260104|-0300", 1767484800],
    ["2|ripencc|1767571199|1|19830705|00000000|+0100", 1767571199],
    ["2|ripencc|1767571199123|1|19830705||+0100", 1767571199],
    ["2|afrinic|20260105|1|00000000|20260230|00000", 1767571200],
  ])("%s gives the time %d", async (line, asOf) => {
    const registry = line.split("|")[1];
    const { report } = await read([line, `${registry}|NL|asn|3333|1|19930901|allocated`]);
    expect(report.asOf).toBe(asOf);
  });

  test.each([
    ["3|ripencc|20260105|1|19830705|20260104|+0100", /version 3/],
    ["2|nobody|20260105|1|19830705|20260104|+0100", /unknown registry "nobody"/],
    ["2|ripencc|x|1|19830705|y|+0100", /neither the end date nor the serial/],
    ["2|ripencc|20260105|many|19830705|20260104|+0100", /no record count/],
    ["<html><head><title>404</title>", /not a delegated statistics file; .*; found "<html><head><title>404<\/title>"$/],
    ["ripencc|NL|asn|3333|1|19930901|allocated", /not a delegated statistics file/],
  ])("%s is refused", async (line, why) => {
    const error = (await failureOf(read([line, "ripencc|NL|asn|3333|1|19930901|allocated"]))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.line).toBe(1);
    expect(error.message).toMatch(why);
  });
});

test("keeps a count that is no power of two as the range it is", async () => {
  const { records } = await read([header, "ripencc|NL|ipv4|192.0.2.0|768|20200229|assigned"]);
  expect(records.map(shown)).toEqual(["ripencc NL ipv4 192.0.2.0-192.0.4.255 20200229 assigned -"]);
});

test("reads ZZ and none as no country, EU and AP as they are, and no date as none", async () => {
  const lines = ["ZZ", "", "EU", "AP"].map(
    (country, index) => `ripencc|${country}|asn|${index + 1}|1|${index % 2 === 0 ? "" : "00000000"}|reserved|`,
  );
  const { records } = await read([header, ...lines]);
  expect(records.map(({ country, date, opaqueId }) => [country, date, opaqueId])).toEqual([
    [null, null, null],
    [null, null, null],
    ["EU", null, null],
    ["AP", null, null],
  ]);
});

test.each([
  ["ripencc|NL|ipv4|192.0.2.0|256|20200101", "fewer than seven fields"],
  ["apnic|NL|ipv4|192.0.2.0|256|20200101|allocated", "not a registry of this file"],
  ["ripencc|nl|ipv4|192.0.2.0|256|20200101|allocated", "not a country code"],
  ["ripencc|NL|ipv5|192.0.2.0|256|20200101|allocated", "not a resource type"],
  ["ripencc|NL|ipv4|192.0.2.256|256|20200101|allocated", "not a range of IPv4 addresses"],
  ["ripencc|NL|ipv4|255.255.255.0|257|20200101|allocated", "not a range of IPv4 addresses"],
  ["ripencc|NL|ipv4|192.0.2.0|0|20200101|allocated", "not a range of IPv4 addresses"],
  ["ripencc|NL|ipv6|2001:db8::1|32|20200101|allocated", "not a range of IPv6 addresses"],
  ["ripencc|NL|ipv6|2001:db8::|0|20200101|allocated", "not a range of IPv6 addresses"],
  ["ripencc|NL|asn|4294967295|2|20200101|allocated", "not a range of AS numbers"],
  ["ripencc|NL|ipv4|0.0.0.0|4294967296|20200101|allocated", "IPv4 addresses that no registry has (0/8, 10/8, 127/8 or 224/3)"],
  ["ripencc|NL|ipv4|9.0.0.0|33554432|20200101|allocated", "IPv4 addresses that no registry has (0/8, 10/8, 127/8 or 224/3)"],
  ["ripencc|NL|ipv4|223.0.0.0|16777217|20200101|available", "IPv4 addresses that no registry has (0/8, 10/8, 127/8 or 224/3)"],
  ["ripencc|NL|ipv4|64.0.0.0|33554433|20200101|reserved", "more IPv4 addresses than a /7, which no record of a registry has"],
  ["ripencc|NL|ipv6|::|1|20200101|allocated", "IPv6 addresses that no registry has (outside 2000::/3)"],
  ["ripencc|NL|ipv6|fc00::|32|20200101|allocated", "IPv6 addresses that no registry has (outside 2000::/3)"],
  ["ripencc|NL|ipv6|2000::|3|20200101|allocated", "more IPv6 addresses than a /11, which no record of a registry has"],
  ["ripencc|NL|asn|0|4294967296|20200101|allocated", "more than 65536 AS numbers, which no record of a registry has"],
  ["ripencc|NL|asn|1|1|20200230|allocated", "not a date"],
  ["ripencc|NL|asn|1|1|20260106|allocated", "a date later than the file's own"],
  ["ripencc|NL|asn|1|1|20200101|legacy", "not a status"],
  ["ripencc|NL|asn|1|1|20200101|allocated|caf\u00e9", "not an opaque id"],
])("counts and keeps %s as bad", async (line, reason) => {
  const { records, report } = await read([header, "ripencc|NL|asn|3333|1|19930901|allocated", line], { badRecordsMax: 0.5 });
  expect(records).toHaveLength(1);
  expect(report.skipped).toEqual([
    {
      reason,
      bad: true,
      count: 1,
      examples: [
        {
          line: 3,
          text: Buffer.from(line)
            .toString("latin1")
            .replace(/[\x80-\x9f]/g, "\ufffd"),
        },
      ],
    },
  ]);
});

test("keeps the largest ranges that a registry can have, and any of IANA's in the combined file", async () => {
  const largest = ["ripencc|NL|ipv4|62.0.0.0|33554432", "ripencc|NL|ipv6|2a00::|11", "ripencc|NL|asn|131072|65536"];
  const ianas = ["iana|ZZ|ipv4|224.0.0.0|536870912", "iana|ZZ|ipv6|4000::|3", "iana|ZZ|asn|401309|4199598691"];
  const lines = [...largest, ...ianas].map((line) => `${line}|20200101|reserved`);
  const { report } = await read([header.replace("ripencc", "nro"), ...lines]);
  expect(report).toMatchObject({ accepted: 6, skipped: [] });
});

test("refuses a file with more bad lines than allowed, naming the commonest and its first line", async () => {
  const good = Array.from({ length: 98 }, (_, index) => `ripencc|NL|asn|${index + 1}|1|20200101|allocated`);
  const bad = ["ripencc|NL|asn|x|1|20200101|allocated", "ripencc|NL|asn|y|1|20200101|allocated"];
  const error = (await failureOf(read([header, ...bad, ...good]))) as SourceError;
  expect(error.message).toBe(
    'made-up:2: 2 of 100 records (2.00 %) are invalid; bad_records_max allows 1 %; most common reason: not a range of AS numbers, first in "ripencc|NL|asn|x|1|20200101|allocated"',
  );
});

/** A file of a registry that claims one number of AS numbers and has another. */
const counted = (registry: string, claims: number, has: number) => [
  header.replace("ripencc", registry).replace("|1|", `|${claims + 1}|`),
  `${registry}|*|ipv4|*|1|summary`,
  `${registry}|*|asn|*|${claims}|summary`,
  `${registry}|NL|ipv4|192.0.2.0|256|20200101|allocated`,
  ...Array.from({ length: has }, (_, index) => `${registry}|NL|asn|${index + 1}|1|20200101|allocated`),
];
const byRegistry = { countErrorMax: null };

test.each(["afrinic", "apnic", "arin", "ripencc"])(
  "holds a file of %s to its own counts: one record less is refused, by kind",
  async (registry) => {
    await read(counted(registry, 40, 40), byRegistry);
    const error = await failureOf(read(counted(registry, 40, 39), byRegistry));
    expect(error.message).toBe(
      "made-up:43: differs from the counts in it: claims 40 asn and has 39, claims 41 records and has 40; it is truncated or damaged. If the registry counted wrongly, count_error_max allows a share",
    );
    expect((await failureOf(read(counted(registry, 40, 41), byRegistry))).message).toMatch(/claims 40 asn and has 41/);
  },
);

test("takes a file of LACNIC that claims a tenth more AS numbers than it has, as a note, and no more, nor more blocks", async () => {
  const { report } = await read(counted("lacnic", 44, 40), byRegistry);
  expect(report.notes).toEqual(["claims 44 asn and has 40", "claims 45 records and has 41"]);
  expect((await failureOf(read(counted("lacnic", 44, 36), byRegistry))).message).toMatch(/claims 44 asn and has 36/);
  const withoutBlock = counted("lacnic", 40, 40).filter((line) => !line.includes("192.0.2.0"));
  expect((await failureOf(read(withoutBlock, byRegistry))).message).toMatch(/counts in it: claims 1 ipv4 and has 0; it/);
});

test("count_error_max takes the place of what is known of a registry", async () => {
  const { report } = await read(counted("apnic", 44, 40), { countErrorMax: 0.1 });
  expect(report.notes).toHaveLength(2);
  expect((await failureOf(read(counted("lacnic", 44, 40), { countErrorMax: 0 }))).message).toMatch(/claims 44 asn and has 40/);
});

test("refuses a file that ends within a line, however right its counts, and says what else is missing", async () => {
  const lines = counted("ripencc", 3, 3);
  const whole = await failureOf(readAll(contentOf(lines.join("\n"))));
  expect(whole.message).toBe("made-up:7: is truncated: the last line has no line break; if the file is complete, add one");
  const cut = await failureOf(readAll(contentOf(lines.slice(0, 6).join("\n"))));
  expect(cut.message).toBe(
    "made-up:6: is truncated: the last line has no line break; it claims 3 asn and has 2, claims 4 records and has 3",
  );
});

test.each([
  ["nothing", ""],
  ["comments only", "# nothing\n# here\n"],
  ["a header only", `${header}\n`],
  ["binary garbage", Uint8Array.from({ length: 50_000 }, (_, index) => (index * 7919 + (index >> 3)) & 0xff)],
  ["one huge line", `${header}\n${"x".repeat(100_000)}`],
  ["a huge first line", "2".repeat(100_000)],
])("refuses %s, with the line", async (_name, text) => {
  const error = (await failureOf(readAll(contentOf(text, 1_000)))) as SourceError;
  expect(error).toBeInstanceOf(SourceError);
  expect(error.line).toBeGreaterThanOrEqual(1);
});

describe("an address in many records", () => {
  const nested = (kind: "ipv4" | "ipv6", count: number) =>
    Array.from({ length: count }, (_, at) =>
      kind === "ipv4"
        ? `ripencc|NL|ipv4|193.0.0.0|${4096 - at}|20100101|allocated`
        : `ripencc|NL|ipv6|2001:600::|${29 + at}|20100101|allocated`,
    );

  test.each(["ipv4", "ipv6"] as const)("%s: 16 are read, and a file with one more is refused", async (kind) => {
    const others = ["ripencc|NL|ipv4|194.0.0.0|256|20100101|allocated", "ripencc|NL|ipv6|2001:700::|32|20100101|allocated"];
    const { report } = await read([header, ...others, ...nested(kind, 16)]);
    expect(report.accepted).toBe(18);
    const error = (await failureOf(read([header, ...others, ...nested(kind, 17)]))) as SourceError;
    expect(error.reason).toBe(`has 17 ${kind} records of one address, and a registry delegates an address once; it is damaged`);
  });

  test("records that touch do not overlap", async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `ripencc|NL|ipv4|193.0.${at}.0|256|20100101|allocated`);
    expect((await read([header, ...lines])).report.accepted).toBe(40);
  });
});
