/** `netfacts search`: what fits a text, out of a data folder. */

import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDataFolder } from "@netfacts/snapshot";
import { madeNames, madeProfiles } from "../../../libs/snapshot/test/support/made-sections.ts";
import { publishMade } from "../../../libs/snapshot/test/support/made-snapshot.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run, temporaryFolder } from "./support/run.ts";

let dataDir = "";
beforeAll(async () => {
  dataDir = temporaryFolder();
  await publishMade(openDataFolder(dataDir), {
    names: madeNames({ 64500: "EXAMPLE-NET", 64501: "EXAMPLE-TWO" }),
    profiles: madeProfiles({ 64500: { organisation: "Example" } }),
  });
});
afterAll(() => rmSync(dataDir, { recursive: true }));

test("prints a table, and how many more there are", async () => {
  const { code, out } = await run(dataDir, "search", "exampel", "--limit", "2");
  expect(code).toBe(exitCodes.ok);
  expect(out.replaceAll(/ +/g, " ")).toBe(
    "TYPE MATCH TITLE SUBTITLE\norganisation edit Example AS64500\nasn edit AS64500 EXAMPLE-NET Example\n\nand 1 more\n",
  );
  expect((await run(dataDir, "search", "nobody")).out).toBe('nothing fits "nobody"\n');
});

test("prints the record as JSON, as lookup does", async () => {
  const record = JSON.parse((await run(dataDir, "search", "AS64500", "--json")).out);
  expect(record.results).toMatchObject({ total: 1, items: [{ type: "asn", match: "exact", link: "/api/v1/asn/AS64500" }] });
  const looked = JSON.parse((await run(dataDir, "lookup", "search", "AS64500", "--json")).out);
  expect(looked.results).toEqual(record.results);
});

test("refuses a text that is empty or too long", async () => {
  for (const text of ["", "  ", "a".repeat(101)]) expect((await run(dataDir, "search", text)).code).toBe(exitCodes.usage);
});
