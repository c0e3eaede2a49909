/** `netfacts dump`: what is not known of a record is `-`. */

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { run, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test("without routes no VRP is called tight", async () => {
  const list = join(dataDir, "sources.yaml");
  writeFileSync(list, "sources:\n  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}\n");
  const roa = { prefix: "193.0.0.0/21", maxLength: 24, asn: 3333, ta: "ripe", expires: 4102444800 };
  writeFileSync(join(dataDir, "vrps"), JSON.stringify({ metadata: { buildtime: "2025-11-21T08:50:12Z" }, roas: [roa] }));
  await run(dataDir, "ingest", "run", "--sources", list);
  expect((await run(dataDir, "dump", "vrps")).out).toBe("193.0.0.0/21\t24\t3333\tripe\t2100-01-01T00:00:00Z\t-\n");
});
