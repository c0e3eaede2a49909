/** Rows of a bulk lookup: made of results, filtered, sorted, counted, and written as CSV. */

import { parseAddress } from "@netfacts/address";
import type { BatchResult, IpRecord } from "@netfacts/client";

export interface Row {
  readonly ip: string;
  /** Lines of the input that have it. */
  readonly lines: number;
  readonly prefix: string;
  /** `AS3333`; the first of several. */
  readonly as: string;
  readonly name: string;
  readonly country: string;
  readonly rpki: string;
  /** Title of the problem; empty when there is an answer. */
  readonly problem: string;
}

export const columns = ["ip", "lines", "prefix", "as", "name", "country", "rpki", "problem"] as const;
export type Column = (typeof columns)[number];

export function rowOf(ip: string, lines: number, { record, problem }: BatchResult): Row {
  if (record === undefined)
    return { ip, lines, prefix: "", as: "", name: "", country: "", rpki: "", problem: problem?.title ?? "no answer" };
  const { routing, allocation, rpki } = record as unknown as IpRecord;
  const origin = routing.origins?.[0];
  return {
    ip,
    lines,
    prefix: routing.prefix ?? "",
    as: origin?.asn == null ? "" : `AS${origin.asn}`,
    name: origin?.name ?? "",
    country: allocation?.registration_country ?? "",
    rpki: rpki.state ?? (routing.announced === true ? "unknown" : ""),
    problem: "",
  };
}

/** @returns a new list; `text` is searched in every column, without regard to case. */
export function filtered(rows: readonly Row[], text: string): readonly Row[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return rows;
  return rows.filter((row) => columns.some((column) => String(row[column]).toLowerCase().includes(wanted)));
}

/** A key of each row is made once; comparing them is cheap. Rows that are alike keep their order. */
export function sorted(rows: readonly Row[], column: Column, isDescending: boolean): Row[] {
  const key = keyOf(column);
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  const sign = isDescending ? -1 : 1;
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0));
  return keyed.map(({ row }) => row);
}

function keyOf(column: Column): (row: Row) => string | number {
  if (column === "lines") return ({ lines }) => lines;
  if (column === "as") return ({ as }) => (as === "" ? Number.POSITIVE_INFINITY : Number(as.slice(2)));
  if (column === "ip") return ({ ip }) => addressKey(ip);
  if (column === "prefix")
    return ({ prefix }) => (prefix === "" ? "~" : addressKey(prefix.split("/")[0] ?? "") + prefix.split("/")[1]?.padStart(3, "0"));
  return (row) => row[column].toLowerCase() || "~";
}

/** Text in the order of the addresses: IPv4 first. */
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

/** Canonical text without `::`. */
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

/** Addresses by a column, most first; those behind the first `shown` are one item. */
export function summary(rows: readonly Row[], column: "as" | "country" | "rpki", shown = 8): Share[] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (row.problem !== "") continue;
    const name = column === "as" && row.as !== "" ? `${row.as} ${row.name}`.trim() : row[column] || "unknown or none";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const all = [...counts].map(([name, addresses]) => ({ name, addresses })).sort((a, b) => b.addresses - a.addresses);
  const others = all.slice(shown).reduce((sum, { addresses }) => sum + addresses, 0);
  return others === 0 ? all : [...all.slice(0, shown), { name: "others", addresses: others }];
}

/** RFC 4180, with a line of names. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function csv(rows: readonly Row[]): string {
  const cell = (value: string | number) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns.join(","), ...rows.map((row) => columns.map((column) => cell(row[column])).join(","))]
    .map((line) => `${line}\r\n`)
    .join("");
}
