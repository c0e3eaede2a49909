/** Two exports of rpki-client half an hour apart: `snapshot diff` names the VRPs that changed as a reading of the two files by hand does. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { thinnedExports } from "../support/rpki-export.ts";
import { isLong } from "../support/runs.ts";
import { Imported } from "./support/cli.ts";
import { readExport } from "./support/modern-vrps.ts";
import { testDataOrNotRun } from "./support/test-data.ts";

const files = ["modern/rpki-client.20250720T0931.json.bz2", "modern/rpki-client.20250720T1001.json.bz2"];

const folder = mkdtempSync(join(tmpdir(), "netfacts-rpki-diff-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the difference of two snapshots names exactly the VRPs that the two exports differ in", async () => {
  const whole = testDataOrNotRun("difference of two RPKI exports", files) as [string, string] | null;
  if (whole === null) return;
  const paths = isLong ? whole : (await thinnedExports(whole, folder)).paths;
  const imports = await Promise.all(
    paths.map((path) =>
      Imported.of(
        `sources:\n  - {name: rpki-client, section: vrps, format: rpki-client-json, location: ${JSON.stringify(path)}, stale_after: never}\n`,
      ),
    ),
  );
  try {
    const [earlier, later] = imports as [Imported, Imported];
    const told = new Map<string, string>();
    for (const line of await later.changesSince(earlier.folder, "vrps")) {
      const { section, change, row, from, to } = JSON.parse(line);
      if (section !== "vrps") throw new Error(`a change of ${section}`);
      told.set(`${row.prefix} ${row.max_length} ${row.asn}`, `${change} ${seconds(from)} ${seconds(to)}`);
    }
    const before = await expiryByVrp(paths[0]);
    const after = await expiryByVrp(paths[1]);
    const expected = new Map<string, string>();
    for (const [vrp, from] of before) {
      const to = after.get(vrp);
      if (from !== to) expected.set(vrp, `${to === undefined ? "removed" : "changed"} ${from} ${to}`);
    }
    for (const [vrp, to] of after) if (!before.has(vrp)) expected.set(vrp, `added undefined ${to}`);
    const wrong = [...new Set([...told.keys(), ...expected.keys()])].filter((vrp) => told.get(vrp) !== expected.get(vrp));
    expect(wrong.slice(0, 10).map((vrp) => [vrp, told.get(vrp), expected.get(vrp)])).toEqual([]);
    const counts = { added: 0, removed: 0, changed: 0 };
    for (const text of told.values()) counts[text.split(" ")[0] as keyof typeof counts]++;
    console.log(`${JSON.stringify(counts)} of ${after.size.toLocaleString("en")} VRPs`);
    // Of the whole files, as all that changed is in both runs.
    expect(counts).toEqual({ added: 9, removed: 6, changed: 10_193 });
  } finally {
    for (const imported of imports) imported.remove();
  }
});

function seconds(value: { readonly expires_at: string } | null): number | undefined {
  return value === null ? undefined : Date.parse(value.expires_at) / 1000;
}

/** The latest expiry, in Unix seconds, of each VRP that had not expired when the export was made. */
async function expiryByVrp(path: string): Promise<Map<string, number>> {
  const { builtAt, vrps } = await readExport(path);
  const latest = new Map<string, number>();
  for (const { prefix, maxLength, asn, expires } of vrps) {
    if (expires <= builtAt) continue;
    const vrp = `${prefix} ${maxLength} ${asn}`;
    latest.set(vrp, Math.max(expires, latest.get(vrp) ?? 0));
  }
  return latest;
}
