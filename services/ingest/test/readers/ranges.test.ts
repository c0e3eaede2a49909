/** Lists of ranges of providers, crawlers and exit nodes: every rule once. */

import { describe, expect, test } from "@jest/globals";
import { formatPrefix, parsePrefix } from "@netfacts/address";
import { readPrefixList, readTorExits } from "../../src/readers/prefix-list.ts";
import { readAwsRanges, readAzureTags, readGoogleRanges, readOracleRanges } from "../../src/readers/provider-ranges.ts";
import type { ListedRange } from "../../src/readers/range-list.ts";
import { type ReaderReport, type SourceContent, SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, failureOf } from "./content.ts";

type Reader = (content: SourceContent) => Promise<{ ranges: ListedRange[]; report: ReaderReport }>;

const textOf = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const read = (reader: Reader, value: unknown, bounds: Partial<SourceContent> = {}) =>
  reader(contentOf(textOf(value), 7, { badRecordsMax: 0.6, ...bounds }));
const shown = ({ ranges }: { ranges: ListedRange[] }) =>
  ranges.map(({ prefix, detail }) => [formatPrefix(prefix), detail.region, detail.services.join(" ")]);

describe("AWS", () => {
  const aws = (prefixes: unknown[], rest: object = {}) => ({ createDate: "2025-11-21-08-50-12", prefixes, ...rest });

  test("a prefix has all its services, and its region if there is only one", async () => {
    const reading = await read(
      readAwsRanges,
      aws(
        [
          { ip_prefix: "11.0.0.0/16", region: "eu-west-1", service: "S3", network_border_group: "eu-west-1" },
          { ip_prefix: "11.0.0.0/16", region: "eu-west-1", service: "AMAZON" },
          { ip_prefix: "12.0.0.0/24", region: "GLOBAL", service: "AMAZON" },
          { ip_prefix: "12.0.0.0/24", region: "us-east-1", service: "AMAZON" },
          { ip_prefix: "12.0.0.0/24", region: "GLOBAL", service: "AMAZON" },
        ],
        { ipv6_prefixes: [{ ipv6_prefix: "2001:db8::/40", region: "eu-west-1", service: "EC2" }] },
      ),
    );
    expect(shown(reading)).toEqual([
      ["11.0.0.0/16", "eu-west-1", "AMAZON S3"],
      ["12.0.0.0/24", null, "AMAZON"],
      ["2001:db8::/40", "eu-west-1", "EC2"],
    ]);
    expect(reading.report).toMatchObject({
      read: 6,
      accepted: 3,
      asOf: Date.parse("2025-11-21T08:50:12Z") / 1000,
      kinds: { "IPv4 prefixes": 2, "IPv6 prefixes": 1 },
      skipped: [{ reason: "appears more than once; its regions and services were joined", bad: false, count: 3 }],
    });
  });

  test("a range with a member twice is invalid", async () => {
    const items = '{"ip_prefix": "11.0.0.0/16", "ip_prefix": "12.0.0.0/16"}, {"ip_prefix": "13.0.0.0/16"}';
    const reading = await read(readAwsRanges, `{"prefixes": [${items}]}`);
    expect(shown(reading)).toEqual([["13.0.0.0/16", null, ""]]);
    expect(reading.report.skipped).toMatchObject([{ reason: "ip_prefix appears twice", bad: true, count: 1 }]);
  });

  test.each<[string, object, string]>([
    ["no prefix", { region: "a" }, "has no prefix"],
    ["a number", { ip_prefix: 5 }, "has no prefix"],
    ["host bits", { ip_prefix: "11.0.0.1/16" }, "the prefix has host bits set"],
    ["everything", { ip_prefix: "0.0.0.0/0" }, "the prefix is larger than a /8, which no network has"],
    ["all of IPv6", { ipv6_prefix: "::/0" }, "the prefix is larger than a /12, which no network has"],
    ["no address", { ip_prefix: "11.0.0/16" }, "has no valid prefix or address"],
    ["a long region", { ip_prefix: "11.0.0.0/16", region: "x".repeat(65) }, "region is not a text of at most 64 letters"],
    ["a control", { ip_prefix: "11.0.0.0/16", region: "a\u0001" }, "region is not a text of at most 64 letters"],
    ["a list of services", { ip_prefix: "11.0.0.0/16", service: ["a"] }, "a service is not a text of at most 64 letters"],
  ])("%s is invalid, and its place is named", async (_what, item, reason) => {
    const { report } = await read(readAwsRanges, aws([{ ip_prefix: "13.0.0.0/24" }, item]));
    const inside = "ipv6_prefix" in item ? "ipv6_prefix" : "ip_prefix";
    const wanted = inside in item || reason === "has no prefix" ? expect.stringContaining("prefixes[1].") : "";
    expect(report.skipped).toMatchObject([{ reason, bad: true, count: 1, examples: [{ offset: expect.any(Number), text: wanted }] }]);
  });

  test("more services than sixteen are cut to the first of them", async () => {
    const items = Array.from({ length: 40 }, (_, at) => ({ ip_prefix: "11.0.0.0/16", service: `S${String(40 - at).padStart(2, "0")}` }));
    const [range] = (await read(readAwsRanges, aws(items))).ranges;
    expect(range?.detail.services).toEqual(Array.from({ length: 16 }, (_, at) => `S${String(at + 1).padStart(2, "0")}`));
  });

  test.each<[string, unknown, string]>([
    ["a cut document", textOf(aws([{ ip_prefix: "11.0.0.0/16" }])).slice(0, -1), "the document ends"],
    ["an empty file", "", "the document is empty"],
    ["an empty list", aws([]), "has no ranges"],
    ["no list", { prefixes: {} }, '"prefixes" is not an array'],
    ["another document", { a: 1 }, 'not an AWS ip-ranges.json: it has no "prefixes"'],
    ["Google's list", { prefixes: [{ ipv4Prefix: "11.0.0.0/16" }] }, "most common reason: has no prefix"],
  ])("%s is refused", async (_what, value, reason) => {
    const error = await failureOf(read(readAwsRanges, value));
    expect(error).toBeInstanceOf(SourceError);
    expect(error.message).toContain(reason);
    expect(error).toMatchObject({ offset: expect.any(Number) });
  });

  test("a date that does not exist is none", async () => {
    const { report } = await read(readAwsRanges, { createDate: "2025-02-30-08-50-12", prefixes: [{ ip_prefix: "11.0.0.0/16" }] });
    expect(report.asOf).toBeNull();
  });
});

test("a list may speak of nothing but what covers allows", async () => {
  const covers = ["11.0.0.0/8"].flatMap((text) => {
    const reading = parsePrefix(text);
    return reading.ok ? [reading.prefix] : [];
  });
  const reading = await read(readPrefixList, "11.0.0.0/16\n12.0.0.0/16\n", { covers });
  expect(shown(reading)).toEqual([["11.0.0.0/16", null, ""]]);
  expect(reading.report.skipped).toMatchObject([{ reason: "is outside of covers", bad: false, count: 1 }]);
  const failure = await failureOf(read(readPrefixList, "12.0.0.0/16\n13.0.0.0/16\n", { covers }));
  expect(failure.message).toMatch(/has no ranges that count: 2 of 2 are left out: is outside of covers, first "12\.0\.0\.0\/16"$/);
});

test("service tags of Azure: the region and the services of every tag that lists a prefix", async () => {
  const reading = await read(readAzureTags, {
    changeNumber: 1,
    values: [
      { name: "AzureCloud", properties: { region: "", systemService: "", addressPrefixes: ["11.0.0.0/16"] } },
      {
        name: "Storage.eu",
        properties: { region: "eu", systemService: "AzureStorage", addressPrefixes: ["11.0.0.0/16", "x", "2001:db8::/40"] },
      },
      { name: "odd", properties: { addressPrefixes: "11.0.0.0/16" } },
    ],
  });
  expect(shown(reading)).toEqual([
    ["11.0.0.0/16", "eu", "AzureStorage"],
    ["2001:db8::/40", "eu", "AzureStorage"],
  ]);
  expect(reading.report.skipped.map(({ reason, examples: [example] }) => [reason, example?.text])).toEqual([
    ["addressPrefixes is not a list", "values[2]"],
    ["appears more than once; its regions and services were joined", 'values[1].properties.addressPrefixes[0]: "11.0.0.0/16"'],
    ["has no valid prefix or address", 'values[1].properties.addressPrefixes[1]: "x"'],
  ]);
  expect(reading.report.asOf).toBeNull();
});

test("lists in Google's form: with services and scopes, or with prefixes only; the exact time counts", async () => {
  const cloud = await read(readGoogleRanges, {
    syncToken: "1763715012345",
    creationTime: "2025-11-21T00:50:12.12345",
    prefixes: [{ ipv4Prefix: "11.0.0.0/16", service: "Google Cloud", scope: "europe-west1" }],
  });
  expect([shown(cloud), cloud.report.asOf]).toEqual([[["11.0.0.0/16", "europe-west1", "Google Cloud"]], 1_763_715_012]);
  const bot = await read(readGoogleRanges, {
    creationTime: "2025-11-21T08:50:12.000000",
    prefixes: [{ ipv4Prefix: "11.0.0.0/27" }, { ipv6Prefix: "2001:db8::/64" }],
  });
  expect(shown(bot)).toEqual([
    ["11.0.0.0/27", null, ""],
    ["2001:db8::/64", null, ""],
  ]);
  expect(bot.report.asOf).toBe(Date.parse("2025-11-21T08:50:12Z") / 1000);
});

test("Oracle's list: the tags of a range are its services", async () => {
  const reading = await read(readOracleRanges, {
    last_updated_timestamp: "2025-11-21T08:50:12.270149",
    regions: [
      { region: "us-phoenix-1", cidrs: [{ cidr: "11.0.0.0/16", tags: ["OSN", "OCI"] }, { tags: ["OCI"] }, { cidr: "12.0.0.0/24" }] },
      { region: "x" },
    ],
  });
  expect(shown(reading)).toEqual([
    ["11.0.0.0/16", "us-phoenix-1", "OCI OSN"],
    ["12.0.0.0/24", "us-phoenix-1", ""],
  ]);
  expect(reading.report.skipped.map(({ reason, examples: [example] }) => [reason, example?.text])).toEqual([
    ["cidrs is not a list", "regions[1]"],
    ["has no prefix", "regions[0].cidrs[1].cidr: missing"],
  ]);
});

describe("exit nodes of Tor", () => {
  const node = (address: string, status = "2025-11-20 09:00:00") =>
    `ExitNode ${"0A".repeat(20)}\nPublished 2025-11-20 08:50:12\nLastStatus ${status}\nExitAddress ${address} 2025-11-20 09:05:12\n`;

  test("each address once, as of the latest status", async () => {
    const reading = await read(readTorExits, node("11.0.0.1") + node("11.0.0.2", "2025-11-20 11:00:00") + node("11.0.0.1"));
    expect(shown(reading)).toEqual([
      ["11.0.0.1/32", null, ""],
      ["11.0.0.2/32", null, ""],
    ]);
    expect(reading.report.asOf).toBe(Date.parse("2025-11-20T11:00:00Z") / 1000);
  });

  test.each([
    ["a network", node("11.0.0.0/24"), "not an address", 4],
    ["no time", node("11.0.0.1").replace(/ 2025-11-20 09:05:12/, ""), "not a line of the list of exit nodes", 4],
    ["a list of addresses", "11.0.0.1\n", "not a line of the list of exit nodes", 1],
  ])("%s is invalid", async (_what, text, reason, line) => {
    const error = await failureOf(read(readTorExits, text));
    expect(error.message).toContain(`most common reason: ${reason}`);
    expect(error).toMatchObject({ line });
  });

  test("a file that ends within a line is refused", async () => {
    expect((await failureOf(read(readTorExits, node("11.0.0.1").slice(0, -1)))).message).toContain("is truncated");
  });
});

describe("lists of prefixes", () => {
  // A cost that rises with the square of the length is a fifth of a second for each of these lines.
  test("long lines of comment marks are refused within the time of a small file", async () => {
    const text = `${"#".repeat(16_000)}\rx\n`.repeat(200);
    const failure = await failureOf(readPrefixList(contentOf(text, 65_536, { secondsMax: 10 })));
    expect(failure.message).toContain("200 of 200 ranges (100.00 %) are invalid");
  });

  test("a prefix or an address in a line, with comments", async () => {
    expect(shown(await read(readPrefixList, "\ufeff# made\n11.0.0.0/16 # one\n\n 12.0.0.1\r\n2001:DB8:0::/40\n"))).toEqual([
      ["11.0.0.0/16", null, ""],
      ["12.0.0.1/32", null, ""],
      ["2001:db8::/40", null, ""],
    ]);
  });

  test("the last line may be open if it is a prefix, as no longer one can be cut to it; an address may not", async () => {
    expect(shown(await read(readPrefixList, "11.0.0.0/16\n12.0.0.0/15"))).toHaveLength(2);
    expect((await failureOf(read(readPrefixList, "11.0.0.0/16\n12.0.0.0/15\n12.0.0.1"))).message).toMatch(/:3: is truncated/);
    // Of 300 lines one that is invalid is no reason to refuse: the end is.
    const many = Array.from({ length: 300 }, (_, at) => `13.${at >> 8}.${at & 255}.0/24`).join("\n");
    expect(shown(await read(readPrefixList, many))).toHaveLength(300);
    expect((await failureOf(read(readPrefixList, many.slice(0, -1)))).message).toMatch(/:300: is truncated/);
    expect((await failureOf(read(readPrefixList, `${many}\n128.0.0.0/1`))).message).toMatch(/:301: is truncated/);
  });

  test.each([
    ["", "has no ranges"],
    ["# nothing\n", "has no ranges"],
    ["a,b\n", "has no valid prefix or address"],
    ["11.0.0.0/16,NL\n", "has no valid prefix or address"],
  ])("%j is refused", async (text, reason) => {
    expect((await failureOf(read(readPrefixList, text))).message).toContain(reason);
  });
});
