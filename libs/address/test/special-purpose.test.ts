/** The table of special-purpose space, row by row against IANA's own registries. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { formatPrefix, parsePrefix, specialPurposeBlocks } from "../src/index.ts";

interface Row {
  block: string;
  name: string;
  rfc: string;
  globallyReachable: boolean | null;
}

/** Records of a CSV text (RFC 4180): quoted fields may hold commas, line ends and doubled quotes. */
function csvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gu)) {
    record.push(quoted === undefined ? (bare ?? "") : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    if (record.length > 1) records.push(record);
    record = [];
  }
  return records;
}

/** The registry writes ::ffff:0:0/96, we write ::ffff:0.0.0.0/96. */
function canonical(block: string): string {
  const reading = parsePrefix(block);
  if (!reading.ok) throw new Error(`no prefix: ${block}`);
  return formatPrefix(reading.prefix);
}

/** Drafts that have become RFCs since the registry named them. */
const published = new Map([
  ["RFC-ietf-mpls-p2mp-bfd-11", "RFC9780"],
  ["RFC-ietf-dnssd-srp-25", "RFC9665"],
]);

function registry(file: string): Row[] {
  const [header, ...records] = csvRecords(readFileSync(new URL(`fixtures/${file}`, import.meta.url), "utf8"));
  const column = (name: string) => (header as string[]).indexOf(name);
  return records.flatMap((record) => {
    const field = (name: string) => (record[column(name)] as string).replaceAll(/ ?\[\d+\]/gu, "").trim();
    const cited = [...field("RFC").matchAll(/\[(RFC[^\] ]+)\]/gu)].map(([, name]) => published.get(name as string) ?? name);
    const reachable = { True: true, False: false, "N/A": null, "": null }[field("Globally Reachable")];
    if (reachable === undefined) throw new Error(`Globally Reachable: ${field("Globally Reachable")}`);
    return field("Address Block")
      .split(", ")
      .map((block) => ({
        block: canonical(block),
        name: field("Name").replaceAll('"', ""),
        rfc: cited.join(", "),
        globallyReachable: reachable,
      }));
  });
}

const table = specialPurposeBlocks.map(({ prefix, name, rfc, globallyReachable }) => ({
  block: formatPrefix(prefix),
  name,
  rfc,
  globallyReachable,
}));
const multicast = ["224.0.0.0/4", "ff00::/8"];

describe.each([
  ["iana-ipv4-special-registry.csv", 4, 24],
  ["iana-ipv6-special-registry.csv", 6, 25],
] as const)("%s", (file, version, blocks) => {
  const rows = registry(file);

  test("is read whole", () => expect(rows).toHaveLength(blocks));

  test.each(rows)("has $block as the table has it", (row) => {
    expect(table.find(({ block }) => block === row.block)).toEqual(row);
  });

  test("has every block of the table, in this order, but for multicast", () => {
    const ours = specialPurposeBlocks.filter(({ prefix }) => prefix.version === version).map(({ prefix }) => formatPrefix(prefix));
    expect(ours.filter((block) => !multicast.includes(block))).toEqual(rows.map(({ block }) => block));
  });
});

test.each(multicast)("%s is multicast, of a reach that the block does not tell", (block) => {
  expect(table.find((row) => row.block === block)).toMatchObject({ name: "Multicast", globallyReachable: null });
});

test("no block appears twice", () => expect(new Set(table.map(({ block }) => block)).size).toBe(table.length));
