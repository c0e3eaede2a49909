/** A synthetic RIB with its updates, through a real run to the answers of the API: they are those of the obvious replayer's table. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { slowlyReplayed } from "../../services/ingest/test/replay/slow-replay.ts";
import { request } from "../support/http.ts";
import { endAll, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";
import { Imported } from "./support/cli.ts";
import { differences, noDifferences, withoutState } from "./support/table-lines.ts";
import { testDataOrNotRun } from "./support/test-data.ts";

/** `prefix<TAB>origin<TAB>peers<TAB>peers` of a table's routes, as `netfacts dump routes` has them where every peer is a full feed. */
function originLines(routes: readonly string[]): string[] {
  const peers = new Map<string, Set<string>>();
  for (const route of routes) {
    const [prefix, address, asn, , path = ""] = route.split("|");
    const last = path.split(" ").at(-1) as string;
    const origin = last === "" ? asn : last.startsWith("{") ? setText(last) : last;
    const key = `${prefix}\t${origin}`;
    peers.set(key, (peers.get(key) ?? new Set()).add(`${address}|${asn}`));
  }
  return [...peers].map(([key, seen]) => `${key}\t${seen.size}\t${seen.size}`);
}

function setText(text: string): string {
  const members = [...new Set(text.slice(1, -1).split(",").map(Number))].sort((a, b) => a - b);
  return `{${members.join()}}`;
}

type Warnings = readonly { readonly code: string; readonly detail: string }[];

function warningsOf(json: { readonly meta: { readonly warnings: Warnings } }): Warnings {
  return json.meta.warnings;
}

/** The records of a file, in so many files one behind the other. */
function split(records: Buffer, files: number): Buffer[] {
  const bounds = [0];
  for (let at = 0, next = records.length / files; at < records.length; ) {
    at += 12 + records.readUInt32BE(at + 8);
    if (at >= next && at < records.length) {
      bounds.push(at);
      next += records.length / files;
    }
  }
  return bounds.map((start, index) => records.subarray(start, bounds[index + 1]));
}

test("a table brought forward by its updates is that of the obvious replayer, in the dump and over HTTP", async () => {
  const paths = testDataOrNotRun("the synthetic RIB of 8 peers with its updates", [
    "../tools/synth-mrt.mjs",
    "modern/prefix-origin.tsv.gz",
  ]);
  if (paths === null) return;
  const [tool, table] = paths as [string, string];
  const folder = mkdtempSync(join(tmpdir(), "netfacts-updates-"));
  const [rib, all] = [join(folder, "rib.mrt.gz"), join(folder, "all.mrt.gz")];
  const args = [tool, "--table", table, "--limit", "1200", "--peers", "8", "--out", rib, "--updates", all, "--changes", "1500"];
  let imported: Imported | null = null;
  try {
    execFileSync(process.execPath, args, { stdio: "ignore", env: { PATH: process.env.PATH } });
    const records = gunzipSync(readFileSync(all));
    mkdirSync(join(folder, "updates"));
    const parts = split(records, 3);
    for (const [index, part] of parts.entries()) writeFileSync(join(folder, "updates", `updates.${index}.gz`), gzipSync(part));
    const sources = `full_feed_min: {ipv4: 500, ipv6: 1}
sources:
  - {name: synthetic, section: routes, format: mrt, location: ${JSON.stringify(rib)}, stale_after: never}
  - {name: live, section: updates, format: mrt, location: ${JSON.stringify(join(folder, "updates"))}, stale_after: never}
`;
    imported = await Imported.of(sources);
    const expected = originLines(slowlyReplayed(gunzipSync(readFileSync(rib)), [records]));
    const unchanged = originLines(slowlyReplayed(gunzipSync(readFileSync(rib)), []));
    const dumped = (await imported.dumpRoutes()).map(withoutState);
    expect(parts).toHaveLength(3);
    expect(differences(dumped.toSorted(), expected.toSorted())).toEqual(noDifferences);
    expect(differences(dumped.toSorted(), unchanged.toSorted()).count).toBeGreaterThan(100);

    const home = temporaryFolder();
    // A file that cannot be trusted behind them changes nothing, and every answer that uses routes tells of it.
    writeFileSync(join(folder, "updates", "updates.3.gz"), gzipSync(parts[0] as Buffer).subarray(0, -20));
    writeFileSync(join(folder, "sources.yaml"), sources.replace("name: live,", "name: live, required: false,"));
    const { url, key, stop } = await startStandalone(home, { SOURCES: join(folder, "sources.yaml") });
    const wrong: string[] = [];
    const changed = expected.filter((line) => !unchanged.includes(line)).slice(0, 60);
    for (const prefix of new Set(changed.map((line) => line.slice(0, line.indexOf("\t"))))) {
      const { json } = await request(`${url}/api/v1/prefix/${prefix}`, { key });
      type Origin = { asn: number; visibility: { peers_seeing: number } };
      const answered = (json.origins as Origin[]).map(
        ({ asn, visibility }) => `${prefix}\t${asn}\t${visibility.peers_seeing}\t${visibility.peers_seeing}`,
      );
      const told = expected.filter((line) => line.startsWith(`${prefix}\t`) && !line.includes("{"));
      if (answered.sort().join() !== told.sort().join()) wrong.push(`${prefix}: ${answered.join()}, not ${told.join()}`);
      const gap = warningsOf(json).find(({ code }) => code === "updates_gap");
      if (gap?.detail.startsWith("updates of synthetic after 2025-07-20T10:0") !== true) wrong.push(`${prefix} does not tell of the gap`);
    }
    const ask = async (path: string) => warningsOf((await request(`${url}/api/v1/${path}`, { key })).json).map(({ code }) => code);
    expect(await ask("ip/1.1.1.1")).toContain("updates_gap");
    expect(await ask("asn/13335")).toContain("updates_gap");
    expect(wrong).toEqual([]);
    expect(changed).toHaveLength(60);
    await stop();
  } finally {
    imported?.remove();
    rmSync(folder, { recursive: true });
    await endAll();
    removeFolders();
  }
});
