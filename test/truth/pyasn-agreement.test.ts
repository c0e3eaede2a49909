/** The sample's routes beside the table that pyasn made of another collector's RIB two weeks earlier: close, and told in docs/truth.md how close. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { Imported, root } from "./support/cli.ts";
import { testDataOrNotRun } from "./support/test-data.ts";

/** Two tables two weeks apart agree on more than this share of the prefixes that both have, or something is broken. */
const agreementMin = 0.99;

test("of the prefixes in both tables, more than 99 % have the origin that pyasn found", async () => {
  const paths = testDataOrNotRun("agreement with pyasn's table", ["real-2014/prefix-origin-crosscheck.pyasn.20140513.tsv.gz"]);
  if (paths === null) return;
  const imported = await Imported.samples();
  try {
    const ours = originsByPrefix(await imported.dumpRoutes());
    const theirs = gunzipSync(readFileSync(paths[0]))
      .toString("latin1")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith(";"))
      .map((line) => line.split("\t") as [string, string]);
    const agreement = compare(ours, theirs);
    const rows = tableRows(agreement);
    console.log(rows.join("\n"));
    const { both, sameOrigin, inAsSet } = agreement;
    expect((sameOrigin + inAsSet) / both).toBeGreaterThan(agreementMin);
    // The same comparison with every origin one too high finds hardly any agreement: it does compare.
    const shifted = compare(
      ours,
      theirs.map(([prefix, asn]) => [prefix, String(Number(asn) + 1)]),
    );
    expect(shifted.sameOrigin / shifted.both).toBeLessThan(0.05);
    const documented = readFileSync(join(root, "docs/truth.md"), "utf8");
    for (const row of rows) expect(documented).toContain(row);
  } finally {
    imported.remove();
  }
});

/** IPv4 only: pyasn's table has no other. */
function originsByPrefix(lines: readonly string[]): Map<string, string[]> {
  const table = new Map<string, string[]>();
  for (const line of lines) {
    const [prefix = "", origin = ""] = line.split("\t");
    if (prefix.includes(":")) continue;
    const origins = table.get(prefix);
    if (origins === undefined) table.set(prefix, [origin]);
    else origins.push(origin);
  }
  return table;
}

interface Agreement {
  readonly both: number;
  readonly sameOrigin: number;
  readonly inAsSet: number;
  readonly otherOrigin: number;
  readonly onlyTheirs: number;
  readonly onlyOurs: number;
}

function compare(ours: ReadonlyMap<string, readonly string[]>, theirs: readonly (readonly [string, string])[]): Agreement {
  let sameOrigin = 0;
  let inAsSet = 0;
  let otherOrigin = 0;
  let onlyTheirs = 0;
  for (const [prefix, asn] of theirs) {
    const origins = ours.get(prefix);
    if (origins === undefined) onlyTheirs++;
    else if (origins.includes(asn)) sameOrigin++;
    else if (origins.some((origin) => origin.startsWith("{") && origin.slice(1, -1).split(",").includes(asn))) inAsSet++;
    else otherOrigin++;
  }
  const both = theirs.length - onlyTheirs;
  return { both, sameOrigin, inAsSet, otherOrigin, onlyTheirs, onlyOurs: ours.size - both };
}

/** As docs/truth.md has them. */
function tableRows({ both, sameOrigin, inAsSet, otherOrigin, onlyTheirs, onlyOurs }: Agreement): string[] {
  const number = (value: number) => value.toLocaleString("en-US");
  const share = (value: number) => `${((value / both) * 100).toFixed(2)} %`;
  return [
    `in both tables: ${number(both)}`,
    `same origin: ${number(sameOrigin)} (${share(sameOrigin)})`,
    `pyasn's origin is a member of our AS_SET: ${number(inAsSet)} (${share(inAsSet)})`,
    `another origin: ${number(otherOrigin)} (${share(otherOrigin)})`,
    `only in pyasn's: ${number(onlyTheirs)}`,
    `only in ours: ${number(onlyOurs)}`,
  ];
}
