/** Routinator's three formats: every rule once, and that they say of the same records the same as each other. */

import { describe, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import type { Vrp } from "@netfacts/rpki";
import { SourceError } from "../../src/readers/reader-report.ts";
import { readRoutinatorCsv } from "../../src/readers/routinator-csv.ts";
import { readRoutinatorJson, readRoutinatorJsonExt } from "../../src/readers/routinator-json.ts";
import { contentOf, failureOf } from "./content.ts";

const generated = 1_767_605_493;
const metadata = { generated, generatedTime: "2026-01-05T09:31:33Z" };

const documentOf = (roas: unknown[], rest: object = {}) => JSON.stringify({ metadata, roas, ...rest });
const sourceOf = (tal: string, notAfter: string) => ({
  type: "roa",
  uri: "rsync://repository/a.roa",
  tal,
  validity: { notBefore: "2025-01-01T00:00:00Z", notAfter: "2027-01-01T00:00:00Z" },
  chainValidity: { notBefore: "2025-01-01T00:00:00Z", notAfter },
  stale: "2026-01-06T00:00:00Z",
});
const exception = { type: "exception", path: null, comment: "local" };

const shown = (vrps: Iterable<Vrp>): string[] =>
  Array.from(vrps, ({ asn, prefix, maxLength, ta, expiresAt }) => `${formatPrefix(prefix)}-${maxLength} AS${asn} ${ta} ${expiresAt}`);

describe("json", () => {
  test("tells VRPs with their trust anchors, ASPAs, and when it was generated", async () => {
    const text = documentOf(
      [
        { asn: "AS64496", prefix: "192.0.2.0/24", maxLength: 24, ta: "ripe" },
        { asn: "AS0", prefix: "2001:db8::/32", maxLength: 128, ta: "N/A" },
        { asn: 64497, prefix: "198.51.100.0/24", maxLength: 24, ta: "arin" },
      ],
      { routerKeys: [{ asn: "AS64496" }], aspas: [{ customer: "AS64496", providers: ["AS64499", "AS64498"], ta: "ripe" }] },
    );
    const { vrps, aspas, report } = await readRoutinatorJson(contentOf(text, 13));
    expect(shown(vrps)).toEqual([
      "192.0.2.0/24-24 AS64496 ripe null",
      "2001:db8::/32-128 AS0 null null",
      "198.51.100.0/24-24 AS64497 arin null",
    ]);
    expect(aspas?.records).toEqual([{ customer: 64496, providers: [64499, 64498], ta: "ripe", expiresAt: null }]);
    expect(report).toMatchObject({ read: 3, accepted: 3, asOf: generated });
  });

  test.each<[unknown, number | null]>([
    [undefined, null],
    [{}, null],
    [{ generated }, generated],
    [{ generatedTime: "2026-01-05T09:31:33Z" }, generated],
  ])("metadata %j gives the time %j", async (told, asOf) => {
    const text = JSON.stringify({ metadata: told, roas: [{ asn: "AS1", prefix: "192.0.2.0/24", maxLength: 24 }] });
    expect((await readRoutinatorJson(contentOf(text))).report.asOf).toBe(asOf);
  });

  test.each([
    ["a time that is none", JSON.stringify({ metadata: { generated: "now" }, roas: [] }), /no valid generation time/],
    ["no roas", JSON.stringify({ metadata, aspas: [] }), /not Routinator's json: it has no "roas"/],
    ["metadata that is no object", JSON.stringify({ metadata: [], roas: [] }), /"metadata" is not an object/],
  ])("%s is refused, with the byte", async (_what, text, why) => {
    const error = (await failureOf(readRoutinatorJson(contentOf(text)))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.offset).not.toBeNull();
    expect(error.message).toMatch(why);
  });
});

describe("jsonext", () => {
  test("takes the latest end of its sources' chains as the expiry, and that source's trust anchor", async () => {
    const roa = { asn: "AS1", prefix: "192.0.2.0/24", maxLength: 24 };
    const text = documentOf([
      { ...roa, source: [sourceOf("ripe", "2026-01-07T00:00:00Z"), sourceOf("arin", "2026-01-09T00:00:00Z"), exception] },
      { ...roa, asn: "AS2", source: [exception] },
      { ...roa, asn: "AS3" },
      { ...roa, asn: "AS4", source: [sourceOf("ripe", "2026-01-05T09:31:32Z")] },
      { ...roa, asn: "AS5", source: [sourceOf("ripe", "2026-01-05T09:31:33Z")] },
    ]);
    const { vrps, report } = await readRoutinatorJsonExt(contentOf(text, 17));
    expect(shown(vrps)).toEqual([
      "192.0.2.0/24-24 AS1 arin 1767916800",
      "192.0.2.0/24-24 AS2 null null",
      "192.0.2.0/24-24 AS3 null null",
      `192.0.2.0/24-24 AS5 ripe ${generated}`,
    ]);
    expect(report.skipped).toMatchObject([{ reason: "expired at the build time", bad: false, count: 1 }]);
  });

  test("tells ASPAs alike, and drops those that had expired", async () => {
    const aspas = [
      { customer: "AS1", providers: ["AS2"], source: [sourceOf("ripe", "2026-01-09T00:00:00Z")] },
      { customer: "AS3", providers: ["AS4"], source: [sourceOf("ripe", "2026-01-01T00:00:00Z")] },
    ];
    const reading = await readRoutinatorJsonExt(contentOf(documentOf([{ asn: "AS1", prefix: "192.0.2.0/24", maxLength: 24 }], { aspas })));
    expect(reading.aspas).toEqual({
      records: [{ customer: 1, providers: [2], ta: "ripe", expiresAt: 1_767_916_800 }],
      read: 2,
      expired: 1,
      bad: 0,
    });
  });

  test.each([
    [{ maxLength: undefined }, "has no maxLength"],
    [{ source: {} }, "source is not a list"],
    [{ source: [1] }, "source is not a list of objects"],
    [{ source: [{ chainValidity: {} }] }, "chainValidity has no notAfter such as 2026-01-05T09:31:33Z"],
    [{ source: [{ chainValidity: { notAfter: "2026-02-30T00:00:00Z" } }] }, "chainValidity has no notAfter such as 2026-01-05T09:31:33Z"],
    [{ source: [{ tal: 5, chainValidity: { notAfter: "2026-02-03T00:00:00Z" } }] }, "ta is not the name of a trust anchor"],
  ])("counts %j as bad", async (part, reason) => {
    const roas = [
      { asn: "AS1", prefix: "192.0.2.0/24", maxLength: 24 },
      { asn: "AS2", prefix: "192.0.2.0/24", maxLength: 24, ...part },
    ];
    const { report } = await readRoutinatorJsonExt(contentOf(documentOf(roas), 9, { badRecordsMax: 0.5 }));
    expect(report).toMatchObject({ accepted: 1, skipped: [{ reason, bad: true, count: 1 }] });
  });
});

describe("csv", () => {
  const header = "ASN,IP Prefix,Max Length,Trust Anchor";
  const read = (lines: string[], badRecordsMax = 0.5) => readRoutinatorCsv(contentOf(`${lines.join("\r\n")}\r\n`, 7, { badRecordsMax }));

  test("tells VRPs, quoted or not, with an expiry where rpki-client wrote it", async () => {
    expect(shown((await read([header, "AS1,192.0.2.0/24,25,ripe", "AS0,2001:db8::/32,32,N/A", "3,198.51.100.0/24,24,"])).vrps)).toEqual([
      "192.0.2.0/24-25 AS1 ripe null",
      "2001:db8::/32-32 AS0 null null",
      "198.51.100.0/24-24 AS3 null null",
    ]);
    const quoted = ['"ASN","IP Prefix","Max Length","Trust Anchor","Expires"', '"1","192.0.2.0/24","24","a, ""b""","1767605493"'];
    expect(shown((await read(quoted)).vrps)).toEqual(['192.0.2.0/24-24 AS1 a, "b" 1767605493']);
  });

  test("keeps one of two duplicates, and takes a byte order mark", async () => {
    const { vrps, report } = await read([`\ufeff${header}`, "AS1,192.0.2.0/24,24,ripe", "AS1,192.0.2.0/24,24,ripe"]);
    expect(shown(vrps)).toEqual(["192.0.2.0/24-24 AS1 ripe null"]);
    expect(report).toMatchObject({ read: 2, accepted: 1, asOf: null, notes: ["begins with a byte order mark"] });
  });

  test.each([
    ["AS1,192.0.2.0/24,24", "the number of fields differs from the first line"],
    ['AS1,"192.0.2.0/24,24,ripe', "a quote is not closed"],
    ["ASX,192.0.2.0/24,24,ripe", "asn is not an AS number"],
    ["AS1,192.0.2.1/24,24,ripe", "prefix has host bits set"],
    ["AS1,192.0.2.0/24,,ripe", "has no maxLength"],
    ["AS1,192.0.2.0/24,23,ripe", "maxLength does not fit the prefix"],
    ["AS1,192.0.2.0/24,x,ripe", "maxLength does not fit the prefix"],
  ])("counts %j as bad, with its line", async (line, reason) => {
    const { report } = await read([header, "AS1,192.0.2.0/24,24,ripe", line]);
    expect(report.skipped).toMatchObject([{ reason, bad: true, count: 1, examples: [{ line: 3 }] }]);
  });

  test("csvext is refused by its name: what it tells of expiry would be lost", async () => {
    const lines = [
      "URI,ASN,IP Prefix,Max Length,Not Before,Not After",
      "rsync://repository/a.roa,AS1,192.0.2.0/24,24,2019-01-01 00:00:00,2020-01-01 00:00:00",
    ];
    expect((await failureOf(read(lines))).message).toMatch(
      /it looks like Routinator's csvext, which is not read: use jsonext, which tells the same$/,
    );
  });

  test.each([
    ["ASN,IP Prefix,MaxLength,Trust Anchor", "max length"],
    ["ASN,IP Prefix,Trust Anchor", "max length"],
    ["ASN,IP Prefix,Max Length", "trust anchor"],
  ])("a first line %j is refused, with the column that it lacks", async (line, column) => {
    const error = await failureOf(read([line, line.replace(/[A-Z][^,]*/g, "24")]));
    expect(error.message).toBe(
      `made-up:1: not Routinator's csv; expected a first line ASN,IP Prefix,Max Length,Trust Anchor; it has no column ${column}`,
    );
  });

  test.each([
    ["nothing", [""]],
    ["no such first line", ["AS1,192.0.2.0/24,24,ripe"]],
    ["a column twice", [`${header},ASN`]],
    ["no VRPs", [header]],
  ])("%s is refused, with the line", async (_what, lines) => {
    const error = (await failureOf(read(lines))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.line).toBeGreaterThanOrEqual(1);
  });
});
