/** What a list becomes: its addresses, the rows of the table, their order, the charts and the CSV. */

import { expect, test } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { csv, filtered, type Row, rowOf, sorted, Tally } from "../src/domain/bulk-table.ts";
import { comparedAs, comparedIp, comparedPrefix, rowsOf } from "../src/domain/compare.ts";
import { extractAddresses, linesMax } from "../src/domain/extract.ts";

const extract = async (text: string) => Object.fromEntries((await extractAddresses(text, () => null)).addresses);

test("addresses of lists and logs are found once each, with the lines that have them", async () => {
  const log = `193.0.6.139 - - [25/Nov/2026:03:14:16 +0000] "GET /?from=193.0.6.139 HTTP/1.1" 200
peer 2001:DB8::1 closed
[2001:db8::1]:443 and 1.1.1.1:53, (8.8.8.8).
193.0.6.139\r
version 1.2.3.4.5, 300.1.1.1, 12:34:56, a::b::c, ::`;
  expect(await extract(log)).toEqual({ "193.0.6.139": 2, "2001:db8::1": 2, "1.1.1.1": 1, "8.8.8.8": 1, "::": 1 });
  expect(await extract("")).toEqual({});
});

test("addresses behind a label, at the end of a sentence and in the lines of tcpdump are found", async () => {
  const log = `time:[2026-11-27T03:14:16]\thost:193.0.6.139\tstatus:200
ip:8.8.8.8, remote_addr:2001:db8::1, tcp:1.1.1.1:53
Connection closed by 9.9.9.9.
03:14:16.000001 IP 193.0.6.140.51234 > 193.0.6.141.443: Flags [S], seq 1
03:14:16.000001 IP6 2001:db8::2.51234 > 2001:db8::3.443: Flags [S], seq 1`;
  const found = ["193.0.6.139", "8.8.8.8", "2001:db8::1", "1.1.1.1", "9.9.9.9", "193.0.6.140", "193.0.6.141", "2001:db8::2", "2001:db8::3"];
  expect(Object.keys(await extract(log))).toEqual(found);
});

test("what looks like an address is none: versions, times, hardware addresses, digests and names in programs", async () => {
  const log = `nginx/1.2.3.4.5 OID 1.3.6.1.4.1.2021. libc6 1:2.3.4.5-1 v1.2.3.4 time:12:30:45 [27/Nov/2026:03:14:16 +0000]
hwaddr:00:11:22:33:44:55 00:11:22:33:44:55 wwn:50:06:01:60:3b:20:1a:2f MD5:d4:1d:8c:d9:8f:00:b2:04:e9:80:09:98:ec:f8:42:7e
std::vector ::foo Ab::Cd::foo pkg:::fun a:::b x::y host::1 ref:abc:def`;
  expect(await extract(log)).toEqual({});
  expect(await extractAddresses(`${log}\n\n1.1.1.1`, () => null)).toMatchObject({ lines: 5, linesWithout: 3 });
});

test("a line of colons, which a stranger can write into a log, takes no longer than one of addresses", async () => {
  const best = async (line: string) => {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 10; round++) {
      const since = performance.now();
      await extract(line);
      least = Math.min(least, performance.now() - since);
    }
    return least;
  };
  const ordinary = await best("::1 ".repeat(2_500));
  for (const hostile of [`${":".repeat(9_999)}g`, `${"a:".repeat(4_999)}g`, `${"1:".repeat(2_500)}${":.".repeat(2_499)}g`])
    expect(await best(hostile)).toBeLessThan(ordinary * 5);
  expect(await extract(`2001:db8::1${".".repeat(100)} ${":".repeat(200)} 1.1.1.1`)).toEqual({ "2001:db8::1": 1, "1.1.1.1": 1 });
});

test("a long line is read to its end: a list in JSON, or one that commas separate", async () => {
  const all = Array.from({ length: 5_000 }, (_, at) => `2001:db8::${(at + 1).toString(16)}`);
  for (const line of [JSON.stringify(all), all.join(), all.join(" ")]) {
    const { addresses, lines } = await extractAddresses(`${line}\n${line}`, () => null);
    expect([[...addresses.keys()], new Set(addresses.values()), lines]).toEqual([all, new Set([2]), 2]);
  }
});

test("lines behind the first 100,000 are left out, which is told", async () => {
  const lines = (count: number) => extractAddresses("1.1.1.1\n".repeat(count), () => null);
  expect(await lines(linesMax)).toMatchObject({ lines: linesMax, isCut: false });
  expect(await lines(linesMax + 1)).toMatchObject({ lines: linesMax, isCut: true });
});

const row = (ip: string, members: Partial<Row> = {}): Row => ({
  ip,
  lines: 1,
  prefix: "",
  as: "",
  name: "",
  country: "",
  rpki: "",
  problem: "",
  ...members,
});

test("a result becomes a row, and a problem stays one", () => {
  const question = { kind: "ip", value: "193.0.6.139" };
  const answered = rowOf("193.0.6.139", 3, { index: 0, question, record: examples.ip } as Parameters<typeof rowOf>[2]);
  expect(answered).toEqual(
    row("193.0.6.139", { lines: 3, prefix: "193.0.0.0/21", as: "AS3333", name: "RIPE-NCC-AS", country: "NL", rpki: "valid" }),
  );
  expect(rowOf("1.1.1.1", 1, { index: 0, question, problem: examples.problem }).problem).toBe("The prefix has host bits set");
});

const asSet = { as_set: [64_500, 64_501], visibility: examples.ip.routing.visibility, rpki: {} };

test("an AS_SET is an origin: in a row where there is no other, and in a comparison", () => {
  const routing = { ...examples.ip.routing, origins: [], as_set_origins: [asSet] };
  const result = { index: 0, question: { kind: "ip", value: "193.0.6.139" }, record: { ...examples.ip, routing } };
  const set = rowOf("193.0.6.139", 1, result as unknown as Parameters<typeof rowOf>[2]);
  expect(set.as).toBe("{64500,64501}");
  expect(comparedIp({ ...examples.ip, routing } as unknown as typeof examples.ip).facts.Origins).toBe("AS_SET {64500,64501}");
  const both = { ...examples.prefix, as_set_origins: [asSet] } as unknown as typeof examples.prefix;
  expect(comparedPrefix(both).facts.Origins).toBe("AS3333 RIPE-NCC-AS and AS_SET {64500,64501}");
});

const never = () => null;

test("rows are sorted as addresses and numbers, not as texts, and filtered by any column", async () => {
  const rows = [
    row("10.0.0.1", { as: "AS100" }),
    row("2001:db8::10"),
    row("9.0.0.1", { as: "AS9", name: "Nine" }),
    row("2001:db8::9"),
    row("::1"),
  ];
  expect((await sorted(rows, "ip", false, never)).map(({ ip }) => ip)).toEqual([
    "9.0.0.1",
    "10.0.0.1",
    "::1",
    "2001:db8::9",
    "2001:db8::10",
  ]);
  expect((await sorted(rows, "as", false, never)).map(({ as }) => as)).toEqual(["AS9", "AS100", "", "", ""]);
  const withSet = [row("1.1.1.1"), row("1.1.1.2", { as: "{1,2}" }), row("1.1.1.3", { as: "AS4294967295" })];
  expect((await sorted(withSet, "as", false, never)).map(({ as }) => as)).toEqual(["AS4294967295", "{1,2}", ""]);
  expect((await filtered(rows, " nine ", never)).map(({ ip }) => ip)).toEqual(["9.0.0.1"]);
});

test("many rows are sorted in steps, those that are alike in their order, and the page lives between the steps", async () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => row(`10.0.${at >> 8}.${at & 255}`, { lines: (at * 7_919) % 83 }));
  let steps = 0;
  const pause = () => (++steps % 3 === 0 ? Promise.resolve() : null);
  for (const sign of [1, -1]) {
    const expected = rows.toSorted((a, b) => sign * (a.lines - b.lines));
    expect(await sorted(rows, "lines", sign < 0, pause)).toEqual(expected);
  }
  expect(steps).toBeGreaterThan(5_000);
  expect(await sorted([], "ip", false, pause)).toEqual([]);
});

test("charts count addresses that have an answer, and sum up the rest", () => {
  const rows = [..."aabbbcd"].map((country) => row("1.1.1.1", { country }));
  const tally = new Tally();
  for (const each of [...rows, row("1.1.1.1", { country: "b", problem: "no" })]) tally.add(each);
  expect(tally.shares("country", 2)).toEqual([
    { name: "b", addresses: 3 },
    { name: "a", addresses: 2 },
    { name: "others", addresses: 2 },
  ]);
});

test("the CSV quotes what needs it and holds no formula", async () => {
  expect((await csv([row("1.1.1.1", { name: '=HYPERLINK("x"),' })], never)).join("")).toBe(
    `ip,lines,prefix,as,name,country,rpki,problem\r\n1.1.1.1,1,,,"'=HYPERLINK(""x""),",,,\r\n`,
  );
});

test("two subjects are compared by the facts that both have, and unknown is no difference", () => {
  const left = comparedIp(examples.ip);
  const other = comparedIp({ ...examples.ip, location: null, routing: { ...examples.ip.routing, prefix: "193.0.0.0/20" } });
  expect(rowsOf(left, other).filter(({ isDifferent }) => isDifferent)).toEqual([
    { name: "Prefix", values: ["193.0.0.0/21", "193.0.0.0/20"], isDifferent: true },
  ]);
  expect(rowsOf(left, comparedAs(examples.asn)).map(({ name }) => name)).toEqual([
    "Announced",
    "Registry",
    "Country of registration",
    "Allocated on",
    "Network type",
  ]);
  expect(rowsOf(comparedPrefix(examples.prefix), left).every(({ isDifferent }) => !isDifferent)).toBe(true);
});

test("several blocks are no fact of the whole prefix, and what is not announced has no prefix", () => {
  const { prefix } = examples;
  const several = { ...prefix, allocation: { ...prefix.allocation, relation: "contains", total: 110 } } as typeof prefix;
  const { facts } = comparedPrefix(several);
  expect(facts["Registered blocks"]).toBe("110");
  expect(Object.keys(facts)).not.toContain("Country of registration");
  expect(rowsOf(comparedPrefix(prefix), comparedPrefix(several)).filter(({ isDifferent }) => isDifferent)).toEqual([
    { name: "Registered blocks", values: ["1", "110"], isDifferent: true },
  ]);
  const silent = {
    announced: false,
    origins: [],
    visibility: null,
    match: { prefix: null, type: "none" },
    rpki: { ...prefix.rpki, state: null },
  };
  expect(comparedPrefix({ ...prefix, ...silent } as typeof prefix).facts).toMatchObject({
    Prefix: "none",
    Visibility: "none",
    RPKI: "none",
  });
  const unknown = { ...silent, announced: null };
  expect(comparedPrefix({ ...prefix, ...unknown } as typeof prefix).facts).toMatchObject({ Prefix: null, Visibility: null, RPKI: null });
});
