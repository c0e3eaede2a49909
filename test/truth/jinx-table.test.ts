/** The sample's route table, 503,590 real routes: every line of it is what bgpdump and the obvious rules say. */

import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { bgpdumpLines, findBgpdump } from "../support/bgpdump.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { isLong } from "../support/runs.ts";
import { bgpdumpTable } from "./support/bgpdump-table.ts";
import { Imported, samples } from "./support/cli.ts";
import { differences, differencesWhenAltered, noDifferences, withoutState } from "./support/table-lines.ts";
import { thinnedMrt } from "./support/thinned-mrt.ts";

/** Made by samples/make-expected.ts from `bgpdump -m`, without our code. */
const expected = JSON.parse(readFileSync(join(samples, "expected/jinx-routes.json"), "utf8")) as {
  readonly rib: { readonly file: string; readonly sha256: string; readonly routes: number };
  readonly vrps: { readonly count: number };
  readonly prefixes: { readonly ipv4: number; readonly ipv6: number };
  readonly lines: number;
  readonly as_set_origins: number;
  readonly moas_prefixes: number;
  readonly full_feed_peers: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };
  readonly states: Readonly<Record<"ipv4" | "ipv6", Readonly<Record<string, number>>>>;
  readonly sha256_of_all_columns: string;
  readonly sample: { readonly file: string; readonly every: number };
};
const rib = join(samples, "data", expected.rib.file);
/** A record has the routes of one prefix. An ordinary run gives bgpdump every tenth record; the digest is of all lines in both. */
const routesOfTenth = 50_361;
const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");

const folder = mkdtempSync(join(tmpdir(), "netfacts-jinx-table-"));
let imported: Imported;
/** In the dump's order. */
let lines: string[];
/** Sorted by bytes: the text is ASCII, so code units are bytes. */
let sorted: string[];

beforeAll(async () => {
  imported = await Imported.samples();
  lines = await imported.dumpRoutes();
  sorted = lines.toSorted();
});

afterAll(() => {
  imported?.remove();
  rmSync(folder, { recursive: true });
});

test("the sample is the file from which the expected table was made", async () => {
  expect(sha256(readFileSync(rib))).toBe(expected.rib.sha256);
  const { vrps } = (await imported.manifest()).sections;
  expect(vrps.sources.find(({ name }) => name === "rpki-client")?.accepted).toBe(expected.vrps.count);
});

test("every 500th line of the dump is the expected one", () => {
  const wanted = readFileSync(join(samples, "expected", expected.sample.file), "utf8")
    .trimEnd()
    .split("\n");
  expect(sorted.filter((_, index) => index % expected.sample.every === 0)).toEqual(wanted);
});

test("the dump, sorted by bytes, has the expected digest, and no other when one line is altered", () => {
  const digest = (table: readonly string[]) => sha256(`${table.join("\n")}\n`);
  expect(sorted).toHaveLength(expected.lines);
  expect(digest(sorted)).toBe(expected.sha256_of_all_columns);
  const middle = sorted.length >> 1;
  expect(digest(sorted.with(middle, `${sorted[middle]}d`))).not.toBe(expected.sha256_of_all_columns);
});

test("prefixes, AS_SETs, MOAS and states are as many as expected", () => {
  const origins = new Map<string, number>();
  const prefixes = { ipv4: new Set<string>(), ipv6: new Set<string>() };
  const states = { ipv4: {} as Record<string, number>, ipv6: {} as Record<string, number> };
  let asSets = 0;
  for (const line of lines) {
    const [prefix = "", origin = "", , , state = ""] = line.split("\t");
    const family = prefix.includes(":") ? "ipv6" : "ipv4";
    prefixes[family].add(prefix);
    states[family][state] = (states[family][state] ?? 0) + 1;
    if (origin.startsWith("{")) asSets++;
    else origins.set(prefix, (origins.get(prefix) ?? 0) + 1);
  }
  expect({ ipv4: prefixes.ipv4.size, ipv6: prefixes.ipv6.size }).toEqual({ ipv4: 497_323, ipv6: 84 });
  expect({ ipv4: prefixes.ipv4.size, ipv6: prefixes.ipv6.size }).toEqual(expected.prefixes);
  expect([asSets, expected.as_set_origins]).toEqual([124, 124]);
  const moas = [...origins.values()].filter((count) => count > 1).length;
  expect([moas, expected.moas_prefixes]).toEqual([6, 6]);
  expect(states).toEqual(expected.states);
});

test("default routes are in the table", () => {
  expect(lines.filter((line) => /^\S+\/0\t/.test(line))).toEqual(["0.0.0.0/0\t30844\t1\t1\tnot-found", "::/0\t37105\t0\t1\tnot-found"]);
});

test("one peer has a full feed of IPv4, none of IPv6", async () => {
  const { routes } = (await imported.manifest()).sections;
  expect(routes.peers_total).toEqual({ ipv4: expected.full_feed_peers.ipv4.length, ipv6: expected.full_feed_peers.ipv6.length });
  expect(routes.peers_total).toEqual({ ipv4: 1, ipv6: 0 });
});

test("every prefix, origin and peer count of the dump is what bgpdump's lines make", async () => {
  const tool = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
  if (tool === null) return;
  // Of a tenth of the records nobody has a full feed.
  const table = await bgpdumpTable(bgpdumpLines(tool, await thinnedMrt(rib, folder)), isLong ? null : expected.full_feed_peers);
  expect({ routes: table.routes, fullFeeds: table.fullFeeds }).toEqual({
    routes: isLong ? expected.rib.routes : routesOfTenth,
    fullFeeds: expected.full_feed_peers,
  });
  const prefixOf = (line: string) => line.slice(0, line.indexOf("\t"));
  const prefixes = new Set(table.lines.map(prefixOf));
  const dumped = (isLong ? lines : lines.filter((line) => prefixes.has(prefixOf(line)))).map(withoutState);
  expect(differences(dumped, table.lines)).toEqual(noDifferences);
  for (const { count } of differencesWhenAltered(dumped, table.lines)) expect(count).toBeGreaterThan(0);
});
