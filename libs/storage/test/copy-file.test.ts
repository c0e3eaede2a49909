/** The file of a copied database. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { syncedBy } from "../../../test/support/synced.ts";
import { CopyWriter } from "../src/mongo/copy-file.ts";

test("a copy and its name are safe from a power failure", async () => {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-copies-"));
  try {
    const writer = await CopyWriter.create(join(folder, "copy.ndjson"), 0);
    expect(await syncedBy(() => writer.end())).toEqual(["file", "folder"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
