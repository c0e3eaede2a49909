/** Every code of the contract has a test that provokes it through HTTP, here or at ingest, which answers operators. */

import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { problemCodes } from "@netfacts/contracts";

const folders = ["./", "../operator/", "../../../ingest/test/http/"].map((path) => new URL(path, import.meta.url));

async function provokedCodes(): Promise<Set<string>> {
  const codes = new Set<string>();
  for (const folder of folders) {
    for (const name of await readdir(folder)) {
      if (!name.startsWith("status-")) continue;
      const text = await readFile(new URL(name, folder), "utf8");
      for (const [, code] of text.matchAll(/\bprovokes(?:InBatch)?\(\s*"([a-z_]+)"/g)) codes.add(code ?? "");
    }
  }
  return codes;
}

test.each(problemCodes)("%s is provoked", async (code) => {
  expect([...(await provokedCodes())]).toContain(code);
});
