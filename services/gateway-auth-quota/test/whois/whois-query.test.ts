/** Lines of whois clients, and the lines that answer them. */

import { describe, expect, test } from "@jest/globals";
import { formatAddress, formatPrefix, parseAddress } from "@netfacts/address";
import { examples } from "@netfacts/contracts";
import { helpText, plainFormat, readBulkLine, readQuery, type WhoisTarget } from "../../src/whois/whois-query.ts";
import { factLines, titleLine } from "../../src/whois/whois-rows.ts";

const verbose = { ...plainFormat, prefix: true, countryCode: true, registry: true, allocated: true, truncate: false };

function textOf(target: WhoisTarget): string {
  return target.kind === "ip" ? formatAddress(target.ip) : target.kind === "prefix" ? formatPrefix(target.prefix) : `AS${target.asn}`;
}

/** The target and the flags that differ from the default. */
function read(line: string): unknown {
  const query = readQuery(line);
  if (query.kind !== "one") return query.kind;
  const format = Object.entries(query.format).filter(([name, value]) => value !== plainFormat[name as keyof typeof plainFormat]);
  return [textOf(query.target), ...format.map(([name, value]) => `${name}=${value}`)];
}

test.each([
  ["193.0.6.139", ["193.0.6.139"]],
  [" 2001:DB8::1 \r", ["2001:db8::1"]],
  ["AS3333", ["AS3333"]],
  ["as3333", ["AS3333"]],
  ["3333", ["AS3333"]],
  ["1.10", ["AS65546"]],
  ["193.0.0.0/21", ["193.0.0.0/21"]],
  ["193.0.6.139/21", ["193.0.0.0/21"]],
  ["-v 193.0.6.139", ["193.0.6.139", "prefix=true", "countryCode=true", "registry=true", "allocated=true", "truncate=false"]],
  ["-pC 193.0.6.139", ["193.0.6.139", "prefix=true", "countryCode=true"]],
  ["-v -b noprefix 193.0.6.139", ["193.0.6.139", "countryCode=true", "registry=true", "truncate=false"]],
  ["-f -x -o 8.8.8.8", ["8.8.8.8", "asNumber=false", "asName=false", "header=false"]],
  ["-f 216.90.108.31 2005-12-25 13:23:01 GMT", ["216.90.108.31", "header=false"]],
  ["-v", "unknown"],
  ["begin", "bulk"],
  ["BEGIN\r", "bulk"],
  ["", "help"],
  ["help", "help"],
  ["-h", "help"],
  ["?", "help"],
  ["-z 193.0.6.139", "unknown"],
  ["--verbose 193.0.6.139", "unknown"],
  ["ripe.net", "unknown"],
  ["193.0.6", "unknown"],
  ["AS4294967296", "unknown"],
  ["GET / HTTP/1.1", "unknown"],
])("%j", (line, expected) => {
  expect(read(line)).toEqual(expected);
});

test("lines of a bulk are resources, words for columns, or the end", () => {
  const kinds = ["193.0.6.139", " AS3333 ", "193.0.6.139 2026-11-24 10:00:00", "verbose", "NOHEADER", "end", "END\r", "", "nothing"].map(
    (line) => readBulkLine(line, plainFormat),
  );
  expect(kinds.map((line) => (line.kind === "target" ? textOf(line.target) : line.kind))).toEqual([
    "193.0.6.139",
    "AS3333",
    "193.0.6.139",
    "format",
    "format",
    "end",
    "end",
    "empty",
    "unknown",
  ]);
  expect(kinds[3]).toEqual({ kind: "format", format: verbose });
});

test("the help text has every flag once", () => {
  const letters = [...helpText.matchAll(/^ {2}-(\w) /gm)].map(([, letter]) => letter);
  expect(new Set(letters).size).toBe(letters.length);
  expect(letters.length).toBe(18);
});

describe("lines", () => {
  const ip = { kind: "ip", ip: parseAddress("193.0.6.139") } as Extract<WhoisTarget, { kind: "ip" }>;

  test("have the columns and widths of Team Cymru's server", () => {
    expect(titleLine(plainFormat, "ip")).toBe("AS      | IP               | AS Name\n");
    expect(titleLine(verbose, "ip")).toBe("AS      | IP               | BGP Prefix          | CC | Registry | Allocated  | AS Name\n");
    expect(titleLine(verbose, "asn")).toBe("AS      | CC | Registry | Allocated  | AS Name\n");
    expect(factLines(ip, examples.ip, verbose)).toEqual([
      "3333    | 193.0.6.139      | 193.0.0.0/21        | NL | ripencc  | 1993-09-01 | RIPE-NCC-AS\n",
    ]);
    expect(factLines({ kind: "asn", asn: 3333 }, examples.asn, verbose)[0]).toMatch(
      /^3333 {4}\| NL \| ripencc {2}\| \d{4}-\d\d-\d\d \| RIPE-NCC-AS/,
    );
  });

  test("are one for each origin, and one of NA where nothing is known", () => {
    const { routing, allocation } = examples.ip;
    const [origin] = routing.origins as [(typeof routing.origins)[0]];
    const origins = [origin, { ...origin, asn: null, name: null }];
    const as_set_origins = [{ as_set: [64_500, 64_501] } as never];
    expect(factLines(ip, { routing: { ...routing, origins, as_set_origins }, allocation }, plainFormat)).toEqual([
      "3333    | 193.0.6.139      | RIPE-NCC-AS\n",
      "NA      | 193.0.6.139      | NA\n",
      "{64500,64501} | 193.0.6.139      | NA\n",
    ]);
    const nothing = { routing: { ...routing, prefix: null, origins: [], as_set_origins: [] }, allocation: null };
    expect(factLines(ip, nothing, verbose)).toEqual([
      "NA      | 193.0.6.139      | NA                  | NA | NA       | NA         | NA\n",
    ]);
  });

  test("names are cut unless they are wanted in full, and cannot forge lines or columns", () => {
    const { routing, allocation } = examples.ip;
    const named = (name: string) => ({ allocation, routing: { ...routing, origins: [{ ...routing.origins[0], name } as never] } });
    const nameIn = (name: string, format = plainFormat) => factLines(ip, named(name), format)[0]?.split(" | ").at(-1);
    expect(nameIn("é".repeat(100))).toBe(`${"é".repeat(60)}\n`);
    expect(nameIn("é".repeat(100), verbose)).toBe(`${"é".repeat(100)}\n`);
    expect(nameIn("a\nb\u001b[31m|c\u202e\u2028d", verbose)).toBe("a b [31m c  d\n");
  });
});
