/** The full-size VRPs and route table, read from the shared test data, where there are any. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Prefix, parsePrefix } from "@netfacts/address";
import { sortPrefixes } from "@netfacts/prefix-trie";
import type { Vrp } from "../src/index.ts";

const folder = process.env.NETFACTS_TEST_DATA ?? join(import.meta.dirname, "../../../../shared/data");

/** Where the files are looked for. */
const vrpsPath = join(folder, "modern/rpki-client.20250720T0931.json.bz2");
const routesPath = join(folder, "modern/prefix-origin.tsv.gz");

/** Why the full-size input cannot be read, null when it can. */
export function whyNotReadable(): string | null {
  for (const path of [vrpsPath, routesPath]) if (!existsSync(path)) return `${path} is not there`;
  try {
    execFileSync("bzip2", ["--help"], { stdio: "ignore" });
  } catch {
    return "bzip2 is not installed";
  }
  return null;
}

/** rpki-client writes one VRP a line: a pattern reads them without our own reader. */
export function* readVrps(): Generator<Vrp> {
  const json = execFileSync("bzip2", ["-dc", vrpsPath], { maxBuffer: 2 ** 30 }).toString("latin1");
  const line = /\{ "asn": (\d+), "prefix": "([^"]+)", "maxLength": (\d+), "ta": "([^"]+)", "expires": (\d+) \}/g;
  for (const [, asn, prefix, maxLength, ta, expiresAt] of json.matchAll(line)) {
    yield {
      asn: Number(asn),
      prefix: toPrefix(prefix as string),
      maxLength: Number(maxLength),
      ta: ta as string,
      expiresAt: Number(expiresAt),
      loose: false,
    };
  }
}

/** Ascending. */
export interface FullTable {
  readonly prefixes: readonly Prefix[];
  /** Of each prefix. */
  readonly origins: Uint32Array;
}

/** Every prefix with its one origin. */
export function readRoutes(): FullTable {
  const lines = gunzipSync(readFileSync(routesPath))
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");
  const input = lines.map((line) => line.split("\t") as [string, string]);
  const prefixes = input.map(([prefix]) => toPrefix(prefix));
  const { order } = sortPrefixes(prefixes);
  return {
    prefixes: Array.from(order, (position) => prefixes[position] as Prefix),
    origins: Uint32Array.from(order, (position) => Number(input[position]?.[1])),
  };
}

function toPrefix(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(`${reading.fault}: ${text}`);
  return reading.prefix;
}
