/** rpki-client exports: golden small file, every rule once. */

import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { SourceError } from "../../src/readers/reader-report.ts";
import { readRpkiClientJson } from "../../src/readers/rpki-client-json.ts";
import type { VrpExport } from "../../src/readers/vrp-export.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";
import { expectGolden } from "./golden.ts";

const fixture = join(import.meta.dirname, "../fixtures/rpki-client.json");
const metadata = '"metadata": {"buildtime": "2026-01-05T09:31:33Z"}';
const buildTime = 1767605493;

function exportOf(roas: unknown[], rest = ""): string {
  return `{${metadata}, "roas": ${JSON.stringify(roas)}${rest}}`;
}

function read(text: string | Uint8Array, badRecordsMax = 0.9): Promise<VrpExport> {
  return readRpkiClientJson(contentOf(text, 11, { badRecordsMax }));
}

function shown({ vrps }: VrpExport): string[] {
  return Array.from(
    vrps,
    ({ asn, prefix, maxLength, ta, expiresAt }) => `${formatPrefix(prefix)}-${maxLength} AS${asn} ${ta} ${expiresAt}`,
  );
}

test("reads a small export as its golden file says", async () => {
  const content = await readRpkiClientJson({ ...contentOfFile(fixture), badRecordsMax: 0.9 });
  expectGolden(`${fixture}.golden.json`, {
    vrps: shown(content),
    aspas: content.aspas?.records,
    report: { ...content.report, seconds: 0 },
  });
});

test("reads members in any order, skips unknown ones, and takes AS numbers as text", async () => {
  const text = `{"future": [{"roas": [1, {"asn": 1}]}, "x"], "aspas": [], "roas": [{"expires": 1767605494, "ta": "ripe", "note": {"asn": 9}, "maxLength": 24, "prefix": "192.0.2.0/24", "\\u0061sn": "AS64496"}], ${metadata}}`;
  expect(shown(await read(text))).toEqual(["192.0.2.0/24-24 AS64496 ripe 1767605494"]);
});

test("takes null where no anchor or expiry is told", async () => {
  expect(shown(await read(exportOf([{ asn: 0, prefix: "2001:db8::/32", maxLength: 32 }])))).toEqual(["2001:db8::/32-32 AS0 null null"]);
});

test("a VRP or an ASPA with a member twice is invalid: where a part of the file is missing, it may be made of two", async () => {
  const good = '{"asn": 9, "prefix": "192.0.2.0/24", "maxLength": 24}';
  const torn = '{"asn": 1, "prefix": "192.0.2.0/24", "\\u0061sn": 2, "prefix": "198.51.100.0/24", "maxLength": 24}';
  const aspas = '[{"customer_asid": 1, "providers": [2]}, {"customer_asid": 1, "providers": [2], "customer_asid": 3}]';
  const reading = await read(`{${metadata}, "roas": [${torn}, ${good}], "aspas": ${aspas}}`);
  expect(shown(reading)).toEqual(["192.0.2.0/24-24 AS9 null null"]);
  expect(reading.report.skipped).toMatchObject([{ reason: "asn appears twice", bad: true, count: 1 }]);
  expect(reading.aspas).toMatchObject({ records: [{ customer: 1, providers: [2] }], read: 2, bad: 1 });
  expect(reading.report.notes.join()).toContain("customer_asid appears twice");
  const twoTimes = `{"metadata": {"buildtime": "2026-01-05T09:31:33Z", "buildtime": "2026-01-06T09:31:33Z"}, "roas": [${good}]}`;
  expect(await failureOf(read(twoTimes))).toMatchObject({ reason: '"buildtime" appears twice in "metadata"' });
});

test("an export that has other numbers of VRPs and ASPAs than it claims is noted", async () => {
  const roas = [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24 }];
  const claiming = (vrps: unknown, vaps: unknown) =>
    JSON.stringify({ metadata: { buildtime: "2026-01-05T09:31:33Z", uniquevrps: vrps, uniquevaps: vaps }, roas, aspas: [] });
  expect((await read(claiming(3, 2))).report.notes).toEqual([
    '"metadata" claims 3 VRPs, and the export has 1: check that it is complete',
    '"metadata" claims 2 ASPAs, and the export has 0: check that it is complete',
    "ASPAs: 0; expired at the build time: 0; invalid: 0",
  ]);
  for (const [vrps, vaps] of [
    [1, 0],
    ["3", null],
  ])
    expect((await read(claiming(vrps, vaps))).report.notes).toEqual(["ASPAs: 0; expired at the build time: 0; invalid: 0"]);
});

test("counts the VRPs of each family and of each trust anchor, whose name may be in upper or lower case", async () => {
  const roas = ["ripe", "RIPE", "lacnic", undefined].map((ta, asn) => ({ asn, prefix: "192.0.2.0/24", maxLength: 24, ta }));
  const { report } = await read(
    exportOf([...roas, { asn: 1, prefix: "2001:db8::/32", maxLength: 32, ta: "ri\u202epe", expires: buildTime - 1 }]),
  );
  expect(report.kinds).toEqual({
    "IPv4 VRPs": 4,
    "IPv6 VRPs": 0,
    "VRPs of ripe": 2,
    "VRPs of lacnic": 1,
    "VRPs of ri\ufffdpe": 0,
  });
});

test("keeps the latest expiry of duplicates, drops what expired before the build time, and counts both", async () => {
  const roa = { asn: 1, prefix: "192.0.2.0/24", maxLength: 24, ta: "ripe" };
  const content = await read(
    exportOf([
      { ...roa, expires: buildTime - 5 },
      { ...roa, ta: "arin", expires: buildTime + 9 },
      { ...roa, expires: buildTime + 3 },
      { ...roa, maxLength: 25, expires: buildTime - 1 },
      { ...roa, asn: 2, expires: buildTime },
    ]),
  );
  expect(shown(content)).toEqual([`192.0.2.0/24-24 AS1 arin ${buildTime + 9}`, `192.0.2.0/24-24 AS2 ripe ${buildTime}`]);
  expect(content.report.skipped.map(({ reason, bad, count }) => [reason, bad, count])).toEqual([
    ["duplicate; the latest expiry was kept", false, 2],
    ["expired at the build time", false, 1],
  ]);
  expect(content.report).toMatchObject({ read: 5, accepted: 2, asOf: buildTime });
});

test.each([
  [{ prefix: "192.0.2.0/24" }, "asn is not an AS number"],
  [{ asn: 4294967296, prefix: "192.0.2.0/24" }, "asn is not an AS number"],
  [{ asn: 1.5, prefix: "192.0.2.0/24" }, "asn is not an AS number"],
  [{ asn: [1], prefix: "192.0.2.0/24" }, "asn is not an AS number"],
  [{ asn: "ASX", prefix: "192.0.2.0/24" }, "asn is not an AS number"],
  [{ asn: 1 }, "prefix is not an IP prefix"],
  [{ asn: 1, prefix: "192.0.2.0" }, "prefix is not an IP prefix"],
  [{ asn: 1, prefix: "192.0.2.1/24" }, "prefix has host bits set"],
  [{ asn: 1, prefix: "192.0.2.0/24" }, "has no maxLength"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: null }, "has no maxLength"],
  [{ asn: 1, prefix: "192.0.2.0/24", MaxLength: 24 }, "has no maxLength"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: "" }, "maxLength does not fit the prefix"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 23 }, "maxLength does not fit the prefix"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 33 }, "maxLength does not fit the prefix"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24, expires: "2026-01-01" }, "expires is not a time in seconds"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24, ta: 5 }, "ta is not the name of a trust anchor"],
  [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24, ta: "ripe\t0\n1.1.1.0/24\t24\t666" }, "ta is not the name of a trust anchor"],
  ["a string", "not an object"],
  [[1, { asn: 1 }], "not an object"],
  [null, "not an object"],
])("counts %j as bad and keeps where it stands", async (item, reason) => {
  const good = { asn: 1, prefix: "198.51.100.0/24", maxLength: 24 };
  const text = exportOf([good, item]);
  const { report } = await read(text);
  expect(report).toMatchObject({ read: 2, accepted: 1, skipped: [{ reason, bad: true, count: 1 }] });
  expect(report.skipped[0]?.examples[0]).toMatchObject({ offset: text.indexOf(JSON.stringify(item), text.indexOf("198.51.100")) });
});

describe("refuses, with the byte and the cause", () => {
  test.each([
    ["nothing", "", /the document is empty/],
    ["binary garbage", Uint8Array.from({ length: 5_000 }, (_, index) => (index * 7919) & 0xff), /not JSON: byte 0x00/],
    ["another JSON file", '{"data": []}', /no "roas"/],
    ["a list", "[]", /an array/],
    ["a number", "12", /not an object/],
    ["no build time", '{"roas": [], "metadata": {"buildtime": "yesterday"}}', /"buildtime" such as/],
    ["no VRPs", exportOf([]), /has no VRPs/],
    [
      "only VRPs that have expired",
      exportOf([{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24, expires: 1 }]),
      /has no VRPs that count: 1 of 1 are left out: expired at the build time, first "192\.0\.2\.0\/24-24 AS1, expired 1970-01-01T00:00:01Z, built 2026-01-05T09:31:33Z"/,
    ],
    ["only bad VRPs", exportOf([{ asn: -1 }]), /1 of 1 VRPs \(100.00 %\) are invalid/],
    ["roas twice", `{${metadata}, "roas": [], "roas": []}`, /"roas" appears twice/],
    ["roas that are no array", `{${metadata}, "roas": {}}`, /"roas" is not an array/],
    ["a document cut in two", exportOf([{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24 }]).slice(0, 90), /the document ends/],
    [
      "something behind the document",
      `${exportOf([{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24 }])} {}`,
      /where the end of the document is expected/,
    ],
  ])("%s", async (_name, text, why) => {
    const error = (await failureOf(read(text, 0.5))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.offset).toBeGreaterThanOrEqual(0);
    expect(error.message).toMatch(/^made-up: byte \d+: /);
    expect(error.message).toMatch(why);
  });
});

test("keeps ASPAs, bad and expired ones left out and counted, and skips the form of older releases", async () => {
  const roas = [{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24 }];
  const aspas = [
    { customer_asid: 1, expires: buildTime, providers: [2, "AS3"] },
    { customer_asid: 2, expires: 5, providers: [] },
    { customer_asid: 3, providers: [[4]] },
    7,
    { customer_asid: 4, providers: [0] },
  ];
  const content = await read(exportOf(roas, `, "aspas": ${JSON.stringify(aspas)}`));
  expect(content.aspas).toEqual({
    records: [
      { customer: 1, providers: [2, 3], ta: null, expiresAt: buildTime },
      { customer: 4, providers: [0], ta: null, expiresAt: null },
    ],
    read: 5,
    expired: 1,
    bad: 2,
  });
  expect(content.report.notes).toEqual([
    expect.stringMatching(
      /^ASPAs: 2; expired at the build time: 1; invalid: 2, the first at byte \d+: providers is not a list of AS numbers$/,
    ),
  ]);
  const older = await read(exportOf(roas, ', "aspas": {"ipv4": [], "ipv6": [{}]}'));
  expect(older.aspas).toBeNull();
  expect(older.report.notes).toEqual(['"aspas" is not an array and was skipped']);
  expect((await read(exportOf(roas))).aspas).toBeNull();
  expect((await read(exportOf(roas, ', "aspas": []'))).aspas).toMatchObject({ records: [], read: 0 });
});

test.each([
  ["all of them are bad", [{ customer_asid: -1, providers: [] }], 0.9],
  ["more than the bound are", [{ customer_asid: 1, providers: [] }, { customer_asid: 1 }], 0.3],
])("refuses an export whose ASPAs cannot be trusted: %s", async (_what, aspas, bound) => {
  const text = exportOf([{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24 }], `, "aspas": ${JSON.stringify(aspas)}`);
  const error = (await failureOf(read(text, bound))) as SourceError;
  expect(error.message).toMatch(/^made-up: byte \d+: 1 of \d ASPAs are invalid; the first: /);
});

test("takes an export behind a byte order mark, in whatever pieces it comes, and says so", async () => {
  const text = `\ufeff${exportOf([{ asn: 1, prefix: "192.0.2.0/24", maxLength: 24 }])}`;
  for (const piece of [1, 2, 3, 1000]) {
    const { vrps, report } = await readRpkiClientJson(contentOf(text, piece));
    expect([vrps.size, report.notes]).toEqual([1, ["begins with a byte order mark"]]);
  }
  await failureOf(read(`\ufeff${text}`));
});

test("grows to many VRPs and tells all that differ in one member apart", async () => {
  const roas: { asn: number; prefix: string; maxLength: number }[] = [];
  for (let length = 0; length <= 128; length += 2) {
    for (let maxLength = length; maxLength <= 128; maxLength++) {
      roas.push({ asn: maxLength % 3, prefix: `::/${length}`, maxLength });
      if (maxLength <= 32) roas.push({ asn: maxLength % 3, prefix: `0.0.0.0/${length}`, maxLength });
    }
  }
  for (let asn = 0; asn < 2_000; asn++) roas.push({ asn, prefix: `10.${asn % 2}.0.0/16`, maxLength: 16 });
  roas.push(...roas.slice(0, 5_000));
  const unique = new Set(roas.map(({ asn, prefix, maxLength }) => `${prefix}-${maxLength} AS${asn} null null`));
  expect(shown(await readRpkiClientJson(contentOf(exportOf(roas))))).toEqual([...unique]);
});
