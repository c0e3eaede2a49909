/** A synthetic RIB of 8 full feeds with the table that its writer meant: the dump is that table, line for line. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { Imported } from "./support/cli.ts";
import { differences, differencesWhenAltered, noDifferences, withoutState } from "./support/table-lines.ts";
import { testDataOrNotRun } from "./support/test-data.ts";

const prefixes = 50_000;

test("the dump of a RIB of 8 peers and 50,000 prefixes is the writer's own table", async () => {
  const paths = testDataOrNotRun("the synthetic RIB of 8 peers", ["../tools/synth-mrt.mjs", "modern/prefix-origin.tsv.gz"]);
  if (paths === null) return;
  const [tool, table] = paths;
  const folder = mkdtempSync(join(tmpdir(), "netfacts-synth-"));
  const [rib, truth] = [join(folder, "rib.mrt.gz"), join(folder, "truth.tsv.gz")];
  const args = [tool, "--table", table, "--limit", String(prefixes), "--peers", "8", "--out", rib, "--truth", truth];
  let imported: Imported | null = null;
  try {
    execFileSync(process.execPath, args, { stdio: "ignore", env: { PATH: process.env.PATH } });
    imported = await Imported.of(`full_feed_min: {ipv4: 10000, ipv6: 100}
sources:
  - {name: synthetic, section: routes, format: mrt, location: ${JSON.stringify(rib)}, stale_after: never}
`);
    const dumped = (await imported.dumpRoutes()).map(withoutState);
    // All 8 peers carry 97 % of the table, so all are full feeds: both counts are the truth's one.
    const expected = gunzipSync(readFileSync(truth))
      .toString("latin1")
      .trimEnd()
      .split("\n")
      .map((line) => `${line}${line.slice(line.lastIndexOf("\t"))}`);
    expect(new Set(expected.map((line) => line.slice(0, line.indexOf("\t")))).size).toBe(prefixes);
    expect(expected.filter((line) => line.includes("{")).length).toBeGreaterThan(0);
    expect(differences(dumped, expected)).toEqual(noDifferences);
    for (const { count } of differencesWhenAltered(dumped, expected)) expect(count).toBeGreaterThan(0);
  } finally {
    imported?.remove();
    rmSync(folder, { recursive: true });
  }
});
