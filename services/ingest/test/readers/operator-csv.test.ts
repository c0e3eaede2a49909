/** The operator's lists: every rule once. */

import { describe, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { readNetworkTypesCsv, readOverridesCsv } from "../../src/readers/operator-csv.ts";
import { type ReaderReport, type SourceContent, SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, failureOf } from "./content.ts";

const overrides = (...lines: string[]) => readOverridesCsv(contentOf(`${lines.join("\n")}\n`, 7, { badRecordsMax: 0.6 }));
const types = (...lines: string[]) => readNetworkTypesCsv(contentOf(`${lines.join("\n")}\n`, 7, { badRecordsMax: 0.6 }));

describe("overrides", () => {
  test("tell what stands there: nothing where a field is blank, none where it is a dash", async () => {
    const { overrides: read, report } = await overrides(
      "# corrections",
      "website,asn,name,organisation,network_type",
      '"https://example.net/a,b",AS64496,"Example, Inc.",,isp',
      ",1.10,-,-,-",
      "",
      "-,64497,,Org,",
      '" ",64498," ",\u202e,"isp "',
    );
    expect([...read.values()]).toEqual([
      { asn: 64496, name: "Example, Inc.", website: "https://example.net/a,b", networkType: { type: "isp", confidence: 1 } },
      { asn: 65546, name: null, organisation: null, networkType: null },
      { asn: 64497, organisation: "Org", website: null },
      { asn: 64498, networkType: { type: "isp", confidence: 1 } },
    ]);
    expect(report).toMatchObject({ read: 4, accepted: 4, skipped: [] });
  });

  test("of several of one AS the last stays", async () => {
    const { overrides: read, report } = await overrides("asn,name", "1,a", "2,b", "AS1,c");
    expect([...read.values()]).toEqual([
      { asn: 1, name: "c" },
      { asn: 2, name: "b" },
    ]);
    expect(report).toMatchObject({ read: 3, accepted: 2, skipped: [{ count: 1, bad: false, examples: [{ line: 4 }] }] });
  });

  test.each([
    ["x,a,,", "asn is not an AS number"],
    ["AS13335.0,a,,", "asn is not an AS number"],
    ["1,a,ftp://x,", "website is not an http or https URL"],
    ["1,a,http://,", "website is not an http or https URL"],
    ["1,a,,Two Words", "network_type is not one word of lowercase letters, digits and underscores, or up to 8 of them with blanks between"],
    ["1,a\u0007,,", "a name has control characters or more than 256 letters"],
    ["1,a,", "the number of fields differs from the first line"],
    ['1,"a,,', "a quote is not closed"],
  ])("count %j as bad, with its line", async (line, reason) => {
    const { report } = await overrides("asn,name,website,network_type", "7,good,,", line);
    expect(report.skipped).toMatchObject([{ reason, bad: true, count: 1, examples: [{ line: 3 }] }]);
  });

  test.each([["name,website"], ["asn,nam"], ["asn,name,asn"], ["1,LVLT"], [""]])("are refused with the first line %j", async (line) => {
    const error = (await failureOf(overrides(line, "1,a"))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.line).toBeGreaterThanOrEqual(1);
  });
});

describe("network types", () => {
  test("of prefixes, addresses and AS numbers, with a confidence where one is told", async () => {
    const { types: read } = await types(
      "\ufeffresource,network_type,confidence",
      "192.0.2.0/24,office,",
      "2001:db8::1,lab vpn,0.25",
      'AS64496," transit ",80%',
      "1.10,isp,1",
    );
    expect(
      read.map((one) => ["asn" in one ? one.asn : formatPrefix(one.prefix), one.statement.types.join(" "), one.statement.confidence]),
    ).toEqual([
      ["192.0.2.0/24", "office", 1],
      ["2001:db8::1/128", "lab vpn", 0.25],
      [64496, "transit", 0.8],
      [65546, "isp", 1],
    ]);
  });

  test.each([
    ["192.0.2.1/24,office,", "resource has host bits set"],
    ["nowhere,office,", "resource is not a prefix, an address or an AS number"],
    ["AS1,,", "network_type is not one word of lowercase letters, digits and underscores, or up to 8 of them with blanks between"],
    ["AS1,isp,1.5", "confidence is not a number from 0 to 1 or a percentage, such as 0.8 or 80%"],
    ["AS1,isp,x", "confidence is not a number from 0 to 1 or a percentage, such as 0.8 or 80%"],
  ])("count %j as bad", async (line, reason) => {
    const { report } = await types("resource,network_type,confidence", "AS7,isp,", line);
    expect(report.skipped).toMatchObject([{ reason, bad: true, count: 1, examples: [{ line: 3 }] }]);
  });
});

test("a first line that names no columns is shown", async () => {
  expect((await failureOf(types("404 page\u0007 not found"))).message).toBe(
    'made-up:1: the first line must name the columns (required: resource, network_type; optional: confidence); found "404 page\ufffd not found"',
  );
});

describe.each<[string, string, (content: SourceContent) => Promise<{ readonly report: ReaderReport }>]>([
  ["overrides", "asn,name", readOverridesCsv],
  ["network types", "resource,network_type", readNetworkTypesCsv],
])("%s without any row", (what, header, read) => {
  test("say that there are none, if the first line names the columns", async () => {
    for (const text of [`${header}\n`, `# none any more\n${header}\n\n# AS1\n`])
      expect((await read(contentOf(text, 7))).report).toMatchObject({ read: 0, accepted: 0, skipped: [] });
  });

  test.each<[string, string, string]>([
    ["of an empty file", "", `made-up:1: has no ${what}`],
    ["of comments alone", "# none\n", `made-up:1: has no ${what}`],
    ["of a first line that is cut", header, "made-up:1: is truncated: the last line has no line break; if the file is complete, add one"],
    ["of another first line", "name\n", "made-up:1: the first line must name the columns"],
  ])("%s are refused", async (_what, text, message) => {
    expect((await failureOf(read(contentOf(text, 7)))).message).toContain(message);
  });
});

test.each([
  [";", "semicolons"],
  ["\t", "tabs"],
])("a table that is separated by %j is told that", async (separator, name) => {
  const error = await failureOf(types(["resource", "network_type"].join(separator), ["AS1", "isp"].join(separator)));
  expect(error.message).toContain(`; the fields are separated by ${name}; use commas`);
  expect((await failureOf(types("resource,type"))).message).not.toContain("separated");
});
