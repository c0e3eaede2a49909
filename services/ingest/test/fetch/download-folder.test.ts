/** Files that were fetched, when what is known of them cannot be read for a while. */

import { mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { DownloadFolder, type FetchedFile } from "../../src/fetch/download-folder.ts";

const downloads = mkdtempSync(join(tmpdir(), "netfacts-downloads-"));
afterAll(() => rmSync(downloads, { recursive: true }));

test("no file is lost while their state cannot be read", async () => {
  const folder = await DownloadFolder.take(downloads, "ripe");
  const file = { sha256: "a".repeat(64) } as FetchedFile;
  writeFileSync(folder.partialPath, "first");
  await folder.keepPartial(file);
  await folder.keepGood(file.sha256);

  const state = join(folder.path, "state.json");
  renameSync(state, `${state}.away`);
  symlinkSync(state, state);
  writeFileSync(folder.partialPath, "second");
  const later = { sha256: "b".repeat(64) } as FetchedFile;
  await expect(folder.keepPartial(later)).rejects.toThrow("ELOOP");
  expect(readdirSync(folder.path)).toContain(file.sha256);

  unlinkSync(state);
  renameSync(`${state}.away`, state);
  expect(await folder.files()).toEqual({ latest: file, good: file });
  folder.release();
});
