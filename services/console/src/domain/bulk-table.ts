/** Rows of a bulk lookup: makes them from results, and filters, sorts, counts and writes them as CSV. */

import { parseAddress } from "@netfacts/address";
import type { BatchResult, IpRecord } from "@netfacts/client";
import { setName } from "./sentences.ts";

export interface Row {
  readonly ip: string;
  /** Number of input lines that have the address. */
  readonly lines: number;
  readonly prefix: string;
  /** `AS3333`; the first of several. An AS_SET, `{64500,64501}`, if there is no other origin. */
  readonly as: string;
  readonly name: string;
  readonly country: string;
  readonly rpki: string;
  /** Title of the problem; empty if there is an answer. */
  readonly problem: string;
}

export const columns = ["ip", "lines", "prefix", "as", "name", "country", "rpki", "problem"] as const;
export type Column = (typeof columns)[number];

export function rowOf(ip: string, lines: number, { record, problem }: BatchResult): Row {
  if (record === undefined)
    return { ip, lines, prefix: "", as: "", name: "", country: "", rpki: "", problem: problem?.title ?? "no answer" };
  const { routing, allocation, rpki } = record as unknown as IpRecord;
  const origin = routing.origins?.[0];
  const set = origin === undefined ? routing.as_set_origins?.[0] : undefined;
  return {
    ip,
    lines,
    prefix: routing.prefix ?? "",
    as: set !== undefined ? setName(set.as_set) : origin?.asn == null ? "" : `AS${origin.asn}`,
    name: origin?.name ?? "",
    country: allocation?.registration_country ?? "",
    rpki: rpki.state ?? (routing.announced === true ? "unknown" : ""),
    problem: "",
  };
}

/** Called between steps of work on many rows. Null: continue. A promise: wait for it, so that the page can respond to its reader. */
export type Pause = () => Promise<void> | null;

/** @param text  text to find in any column; case is ignored. */
export async function filtered(rows: readonly Row[], text: string, pause: Pause): Promise<readonly Row[]> {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return rows;
  const found: Row[] = [];
  for (const row of rows) {
    if (columns.some((column) => String(row[column]).toLowerCase().includes(wanted))) found.push(row);
    const pausing = pause();
    if (pausing !== null) await pausing;
  }
  return found;
}

interface Keyed {
  readonly row: Row;
  readonly key: string | number;
}

/** Rows that are sorted in one step, which takes a few ms. */
const runRows = 1_024;

/** Sorts rows by keys that are made once and are cheap to compare. Equal rows keep their order. */
export async function sorted(rows: readonly Row[], column: Column, isDescending: boolean, pause: Pause): Promise<readonly Row[]> {
  const key = keyOf(column);
  const sign = isDescending ? -1 : 1;
  const compare = (a: Keyed, b: Keyed) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0);
  let runs: Keyed[][] = [];
  for (let from = 0; from < rows.length; from += runRows) {
    const run = rows.slice(from, from + runRows).map((row) => ({ row, key: key(row) }));
    runs.push(run.sort(compare));
    await pause();
  }
  while (runs.length > 1) {
    const longer: Keyed[][] = [];
    for (let at = 0; at < runs.length; at += 2) longer.push(await merged(runs[at] as Keyed[], runs[at + 1] ?? [], compare, pause));
    runs = longer;
  }
  return (runs[0] ?? []).map(({ row }) => row);
}

async function merged(left: readonly Keyed[], right: readonly Keyed[], compare: (a: Keyed, b: Keyed) => number, pause: Pause) {
  const all: Keyed[] = [];
  let at = 0;
  for (const next of left) {
    for (let other = right[at]; other !== undefined && compare(other, next) < 0; other = right[++at]) all.push(other);
    all.push(next);
    const pausing = pause();
    if (pausing !== null) await pausing;
  }
  for (; at < right.length; at++) all.push(right[at] as Keyed);
  return all;
}

function keyOf(column: Column): (row: Row) => string | number {
  if (column === "lines") return ({ lines }) => lines;
  if (column === "as")
    return ({ as }) => (as.startsWith("AS") ? Number(as.slice(2)) : as === "" ? Number.POSITIVE_INFINITY : Number.MAX_VALUE);
  if (column === "ip") return ({ ip }) => addressKey(ip);
  if (column === "prefix")
    return ({ prefix }) => (prefix === "" ? "~" : addressKey(prefix.split("/")[0] ?? "") + prefix.split("/")[1]?.padStart(3, "0"));
  return (row) => row[column].toLowerCase() || "~";
}

/** Text that sorts like the address, IPv4 first. */
function addressKey(text: string): string {
  const address = parseAddress(text);
  if (address === null) return "~";
  return text.includes(":")
    ? `6${fullIpv6(text)}`
    : `4${text
        .split(".")
        .map((part) => part.padStart(3, "0"))
        .join(".")}`;
}

/** The text of an IPv6 address without `::`. */
function fullIpv6(text: string): string {
  const [head = "", tail] = text.split("::");
  const groups = (part: string) => (part === "" ? [] : part.split(":"));
  const before = groups(head);
  const after = groups(tail ?? "");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].map((group) => group.padStart(4, "0")).join(":");
}

export interface Share {
  readonly name: string;
  readonly addresses: number;
}

const charted = ["as", "country", "rpki"] as const;

/** Counts addresses that have an answer, by column, while rows arrive. */
export class Tally {
  readonly #counts = new Map(charted.map((column) => [column, new Map<string, number>()]));

  add(row: Row): void {
    if (row.problem !== "") return;
    for (const [column, counts] of this.#counts) {
      const name = column === "as" && row.as !== "" ? `${row.as} ${row.name}`.trim() : row[column] || "unknown or none";
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }

  /** Largest first; all after the first `shown` are one item. */
  shares(column: (typeof charted)[number], shown = 8): Share[] {
    const counts = this.#counts.get(column) ?? new Map<string, number>();
    const all = [...counts].map(([name, addresses]) => ({ name, addresses })).sort((a, b) => b.addresses - a.addresses);
    const others = all.slice(shown).reduce((sum, { addresses }) => sum + addresses, 0);
    return others === 0 ? all : [...all.slice(0, shown), { name: "others", addresses: others }];
  }
}

/** CSV (RFC 4180) with a header line, in pieces. A cell that a spreadsheet would read as a formula gets an apostrophe before it. */
export async function csv(rows: readonly Row[], pause: Pause): Promise<string[]> {
  const cell = (value: string | number) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [`${columns.join(",")}\r\n`];
  for (const row of rows) {
    lines.push(`${columns.map((column) => cell(row[column])).join(",")}\r\n`);
    const pausing = pause();
    if (pausing !== null) await pausing;
  }
  return lines;
}
