/** The README's example is the one that runs here. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { originIsSet } from "../src/index.ts";
import { routesByOrigin } from "./example.ts";
import { peerIndexRecord, ribRecord } from "./support/mrt-writer.ts";

test("the example of the README counts the origins of a gzip table", async () => {
  const source = readFileSync(new URL("example.ts", import.meta.url), "utf8");
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(source.slice(source.indexOf("import")));

  const folder = mkdtempSync(join(tmpdir(), "netfacts-readme-"));
  try {
    const file = join(folder, "table");
    const table = Buffer.concat([
      peerIndexRecord([{ address: "192.0.2.1", asn: 64500 }]),
      ...["64500 1", "64500 1", "64500 {2,3}"].map((path, n) => ribRecord(`10.${n}.0.0/16`, [{ peer: 0, path }])),
    ]);
    writeFileSync(file, gzipSync(table));
    expect(await routesByOrigin(file)).toEqual(
      new Map([
        [1, 2],
        [originIsSet, 1],
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
