/** Lists of AS names: both formats, every rule once, and random damage against the obvious reading. */

import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { parseAsn } from "@netfacts/address";
import { type AsNameRecord, readAutnums, readNameList, SourceError } from "../../src/readers/index.ts";
import { linesSlowly } from "../support/slow-text.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";
import { expectGolden } from "./golden.ts";
import { mutated, seeded } from "./mutations.ts";

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

test("leaves out placeholders: they name nothing", async () => {
  const { records, report } = await autnums(["AS1 -Reserved AS-, ZZ", "AS2 -Private Use AS-", "AS3 AS3", "AS4 as4, NL", "AS5 AS6"]);
  expect(records.map(({ asn }) => asn)).toEqual([5]);
  expect(report.skipped).toMatchObject([{ reason: "a placeholder, not a name", bad: false, count: 4 }]);
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
    skipped: [{ reason: "named again; the last name was kept", count: 1, examples: [{ line: 3 }] }],
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
  [`AS1 ${"x".repeat(257)}`, "control characters in the name, or too long"],
  ["AS1 A\u0007B", "control characters in the name, or too long"],
])("counts %j as bad", async (line, reason) => {
  const { report } = await autnums(["AS7 GOOD", line]);
  expect(report.skipped).toMatchObject([{ reason, bad: true, count: 1, examples: [{ line: 2 }] }]);
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

/** The rules by plain splitting; null: not to be trusted. */
function obviousNames(bytes: Uint8Array): Map<number, string> | null {
  const names = new Map<number, string>();
  let read = 0;
  let bad = 0;
  for (const line of linesSlowly(bytes)) {
    if (line.trim() === "" || line[0] === "#") continue;
    read++;
    const at = line.indexOf("\t");
    const asn = at < 0 ? null : parseAsn(line.slice(0, at).trim());
    const name = line
      .slice(at + 1)
      .split(/\s/)
      .filter((word) => word !== "")
      .join(" ");
    if (asn === null || name.length > 256 || [...name].some((letter) => letter < " " || (letter >= "\x7f" && letter <= "\x9f"))) bad++;
    else if (name !== "" && name.toUpperCase() !== `AS${asn}` && !(name.length > 1 && name.startsWith("-") && name.endsWith("-")))
      names.set(asn, name);
  }
  return names.size > 0 && bad <= read * 0.1 ? names : null;
}

test("reads 10,000 damaged lists exactly as the obvious reading does, or refuses them with a line", async () => {
  const random = seeded(1930);
  const seedFile =
    "# names\n1\tLVLT-1\n2\tUDEL-DCN University of Delaware\nAS3\tMIT \u00e9\n1.10\tFOUR\n5\tAS5\n6\t-Reserved AS-\n7\tx\r\n4294967295\tLAST\n";
  const nasty = [
    "\t",
    "\t\t",
    "AS",
    "1",
    "as7",
    "0.65536",
    "4294967296",
    "-",
    "\u00a0",
    "\u0085",
    "\u00e9",
    "\u00c3\u00a9",
    "\u0000",
    "x".repeat(300),
    "#",
    "AS4294967295",
  ];
  const outcomes = { read: 0, refused: 0 };
  for (let round = 0; round < 10_000; round++) {
    const bytes = mutated(random, seedFile, /[^\t\n ]+/g, nasty);
    const expected = obviousNames(bytes);
    const names = new Map<number, string>();
    let failure: unknown = null;
    await readNameList(contentOf(bytes, 1 + random(200), { badRecordsMax: 0.1 }), ({ asn, name }) => names.set(asn, name)).catch(
      (error: unknown) => {
        failure = error;
      },
    );
    const about = () => JSON.stringify(Buffer.from(bytes).toString("latin1"));
    if (expected === null) {
      if (!(failure instanceof SourceError) || failure.line === null || failure.reason === "")
        throw new Error(`not refused with a line: ${failure} for ${about()}`);
      outcomes.refused++;
    } else {
      if (JSON.stringify([...names]) !== JSON.stringify([...expected])) throw new Error(`${failure ?? "read otherwise"}: ${about()}`);
      outcomes.read++;
    }
  }
  expect(outcomes.read).toBeGreaterThan(1_000);
  expect(outcomes.refused).toBeGreaterThan(500);
});
