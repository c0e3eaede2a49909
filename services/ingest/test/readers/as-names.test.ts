/** Lists of AS names: both formats, every rule once. */

import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type AsNameRecord, readAutnums, readNameList } from "../../src/readers/as-names.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";
import { expectGolden } from "./golden.ts";

const fixtures = join(import.meta.dirname, "../fixtures");

async function readAll(reader: typeof readAutnums, content: Parameters<typeof readAutnums>[0]) {
  const records: AsNameRecord[] = [];
  const report = await reader(content, (record) => records.push(record));
  return { records, report };
}

function autnums(lines: string[], bounds = {}) {
  return readAll(readAutnums, contentOf(`${lines.join("\n")}\n`, 5, { badRecordsMax: 0.5, ...bounds }));
}

describe("golden files", () => {
  test.each([
    ["autnums.txt", readAutnums],
    ["name-list.tsv", readNameList],
  ])("reads %s as its golden file says", async (file, reader) => {
    const { records, report } = await readAll(reader, { ...contentOfFile(join(fixtures, file)), badRecordsMax: 0.5 });
    expectGolden(join(fixtures, `${file}.golden.json`), { records, report: { ...report, seconds: 0 } });
  });
});

test("splits the country off only where nearly every name has one behind it", async () => {
  const today = await autnums(["AS1 LVLT-1, US", "AS2 UDEL-DCN, US", "AS3 NOBODY, ZZ", "4 ISI-AS, EU"]);
  expect(today.records).toEqual([
    { asn: 1, name: "LVLT-1", country: "US" },
    { asn: 2, name: "UDEL-DCN", country: "US" },
    { asn: 3, name: "NOBODY", country: null },
    { asn: 4, name: "ISI-AS", country: "EU" },
  ]);
  const old = await autnums(["AS1 LVLT-1 - Level 3", "AS2 PLURICANAL-AS Pluricanal, SA"]);
  expect(old.records.map(({ name, country }) => [name, country])).toEqual([
    ["LVLT-1 - Level 3", null],
    ["PLURICANAL-AS Pluricanal, SA", null],
  ]);
});

// A cost that rises with the square of the length is a fifth of a second for each of these lines.
test("long lines of blanks are refused within the time of a small file", async () => {
  const text = `1${" ".repeat(16_000)}\rx\n`.repeat(200);
  const failure = await failureOf(readAll(readAutnums, contentOf(text, 65_536, { secondsMax: 10 })));
  expect(failure.message).toContain("200 of 200 names (100.00 %) are invalid");
});

test("leaves out placeholders: they name nothing", async () => {
  const { records, report } = await autnums([
    "AS1 -Reserved AS-, ZZ",
    "AS2 -Private Use AS-",
    "AS3 AS3",
    "AS4 as4, NL",
    "AS5 AS6",
    "AS6 -Other-, zz",
  ]);
  expect(records.map(({ asn }) => asn)).toEqual([5]);
  expect(report.skipped).toMatchObject([{ reason: "a placeholder, not a name", bad: false, count: 5 }]);
});

test("refuses a list that ends within a name, and takes potaroo's, whose last line is a placeholder", async () => {
  const cut = contentOf("AS1 LVLT-1\nAS2 UDEL-DCN Univer");
  expect((await failureOf(readAll(readAutnums, cut))).message).toBe(
    "made-up:2: is truncated: the last line has no line break; if the file is complete, add one",
  );
  expect((await failureOf(readAll(readNameList, contentOf("1\tLVLT-1\n2\tUDEL")))).message).toMatch(/:2: is truncated/);
  expect((await failureOf(readAll(readAutnums, contentOf("AS1 LVLT-1\nAS65535 -Reserv")))).message).toMatch(/:2: is truncated/);
  expect((await failureOf(readAll(readNameList, contentOf("1\tLVLT-1\n2\tAS2")))).message).toMatch(/:2: is truncated/);
  const { records } = await readAll(readAutnums, contentOf("AS1 LVLT-1\nAS65535 -Reserved AS-"));
  expect(records).toHaveLength(1);
});

test("takes the last of several names of one AS", async () => {
  const { records, report } = await autnums(["AS1 FIRST", "AS2 OTHER", "AS0.1 LAST"]);
  expect(records).toEqual([
    { asn: 1, name: "LAST", country: null },
    { asn: 2, name: "OTHER", country: null },
  ]);
  expect(report).toMatchObject({
    read: 3,
    accepted: 2,
    skipped: [{ reason: "named more than once; the last name was kept", count: 1, examples: [{ line: 3 }] }],
  });
});

test("reads a line that is not UTF-8 as windows-1252, and tells how many", async () => {
  const bytes = Buffer.concat([Buffer.from("AS1 Universit\u00e9\nAS2 Universit"), Uint8Array.of(0xe9, 0x80), Buffer.from("\n")]);
  const { records, report } = await readAll(readAutnums, contentOf(bytes, 3));
  expect(records.map(({ name }) => name)).toEqual(["Universit\u00e9", "Universit\u00e9\u20ac"]);
  expect(report.notes).toEqual(["lines that are not UTF-8, read as windows-1252: 1"]);
});

test.each([
  ["AS4294967296 TOO-LARGE", "not an AS number and a name"],
  ["ASX NAME", "not an AS number and a name"],
  ["<pre>", "not an AS number and a name"],
  ["AS1", "not an AS number and a name"],
  [`AS1 ${"x".repeat(257)}`, "the name has control characters or more than 256 letters"],
  ["AS1 A\u0007B", "the name has control characters or more than 256 letters"],
])("counts %j as bad", async (line, reason) => {
  const { report } = await autnums(["AS7 GOOD", line]);
  expect(report.skipped).toMatchObject([{ reason, bad: true, count: 1, examples: [{ line: 2 }] }]);
});

test("an error message of a web server is no name, though it has the form of one", async () => {
  const { message } = await failureOf(autnums(["404 page not found"]));
  expect(message).toBe('made-up:1: is an error message of a web server: "404 page not found"');
});

test("an AS number that a program wrote as a fraction is not taken for asdot", async () => {
  const read = await readAll(readNameList, contentOf("13335.0\tCLOUDFLARE\n63.0\tB\n64086.0\tC\n64.1\tD\n", 9, { badRecordsMax: 0.5 }));
  expect(read.records.map(({ asn, name }) => [asn, name])).toEqual([
    [63 * 65_536, "B"],
    [64_086 * 65_536, "C"],
    [64 * 65_536 + 1, "D"],
  ]);
  expect(read.report.skipped).toMatchObject([{ reason: "not an AS number and a name", bad: true, count: 1, examples: [{ line: 1 }] }]);
});

test("a list whose names are mostly numbers is no list of names", async () => {
  expect((await failureOf(autnums(["3356 49541", "174 30,412", "3333 RIPE"]))).message).toContain("2 of 3 names are numbers");
  expect((await autnums(["3356 LVLT", "174 174174"])).records).toHaveLength(2);
});

test("a third column in a list is no part of the name: the line is bad", async () => {
  const { records, report } = await readAll(
    readNameList,
    contentOf("3\tMIT-GATEWAYS\tUS\n4\tISI-AS\t\n5\t\tTWO TABS\n", 9, { badRecordsMax: 0.5 }),
  );
  expect(records.map(({ name }) => name)).toEqual(["ISI-AS", "TWO TABS"]);
  expect(report.skipped).toMatchObject([
    { reason: "a third column: a line has an AS number, a tab and a name", bad: true, count: 1, examples: [{ line: 1 }] },
  ]);
});

test("marks that turn the direction of text are no part of a name, and not shown of a bad line", async () => {
  const names: string[] = [];
  const report = await readNameList(contentOf("1\tA\u202eB\u2066C\n2\tX\u202e\u0007\n", 9, { badRecordsMax: 0.5 }), ({ name }) =>
    names.push(name),
  );
  expect(names).toEqual(["ABC"]);
  expect(report.skipped[0]?.examples[0]?.text).toBe("2 X\ufffd\ufffd");
});

test.each([
  ["nothing", ""],
  ["comments only", "# nothing\n"],
  ["placeholders only", "AS1 -Reserved AS-\n"],
  ["binary garbage", Uint8Array.from({ length: 40_000 }, (_, index) => (index * 7919 + (index >> 3)) & 0xff)],
  ["one huge line", `AS1 ${"x".repeat(100_000)}\n`],
  ["a list of another form", "1\tLVLT-1\n2\tUDEL-DCN\n".replaceAll("\t", ";")],
])("refuses %s, with the line", async (_name, text) => {
  for (const reader of [readAutnums, readNameList]) {
    const error = (await failureOf(readAll(reader, contentOf(text, 1_000)))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.line).toBeGreaterThanOrEqual(1);
  }
});
