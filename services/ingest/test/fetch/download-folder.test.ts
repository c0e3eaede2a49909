/** Files that were fetched, when what is known of them cannot be read for a while. */

import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
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

test("a file whose state cannot be written does not stay, unless it was there before", async () => {
  const folder = await DownloadFolder.take(downloads, "apnic");
  const [first, second] = ["a", "b"].map((digit) => ({ sha256: digit.repeat(64) }) as FetchedFile);
  const keep = async (file: FetchedFile | undefined): Promise<void> => {
    writeFileSync(folder.partialPath, "content");
    await folder.keepPartial(file as FetchedFile);
  };
  await keep(first);
  await folder.keepGood(`${first?.sha256}`);
  await keep(second);
  const before = readdirSync(folder.path).sort();

  const blocked = join(folder.path, "state.json.next");
  mkdirSync(blocked);
  for (const file of [first, { sha256: "c".repeat(64) } as FetchedFile]) {
    await expect(keep(file)).rejects.toMatchObject({ fault: "disk", message: expect.stringContaining(join(folder.path, "state.json")) });
    expect(readdirSync(folder.path).sort()).toEqual([...before, "state.json.next"].sort());
  }
  rmdirSync(blocked);
  expect(await folder.files()).toEqual({ latest: second, good: first });
  folder.release();
});
