/** What people name as a snapshot: a data folder, its folder of snapshots, a manifest in it, a pack; and what they name by mistake. */

import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { loadSnapshot, openDataFolder, openSnapshot, SnapshotError, snapshotsFolder, writePack } from "../../src/index.ts";
import { inFolder } from "../support/made-snapshot.ts";
import { publishNumber } from "./contract.ts";

test("a data folder, its snapshots, a manifest and a pack open the snapshot that they name", async () => {
  await inFolder(async (folder) => {
    const data = openDataFolder(folder);
    const [first, second] = [await publishNumber(data, 1), await publishNumber(data, 2)];
    await writePack(data, first.id, join(folder, "first.pack"));
    const manifestOf = (id: string) => join(folder, snapshotsFolder, "manifests", `${id}.json`);
    for (const [path, id] of [
      [folder, second.id],
      [join(folder, snapshotsFolder), second.id],
      [manifestOf(first.id), first.id],
      [manifestOf(second.id), second.id],
      [join(folder, "first.pack"), first.id],
    ] as const) {
      const { store, manifest } = await openSnapshot(path);
      expect(manifest.id).toBe(id);
      await expect(loadSnapshot(store, manifest)).resolves.toBeDefined();
    }
  });
});

test("what is no snapshot is refused in one line that names it", async () => {
  await inFolder(async (folder) => {
    const data = openDataFolder(join(folder, "data"));
    const { id } = await publishNumber(data, 1);
    await mkdir(join(folder, "empty"));
    await writeFile(join(folder, "some.json"), "{}");
    await writeFile(join(folder, "nothing"), "");
    const manifest = join(folder, "data", snapshotsFolder, "manifests", `${id}.json`);
    const elsewhere = join(folder, `${id}.json`);
    await writeFile(elsewhere, await readFile(manifest));
    const object = join(folder, "data", snapshotsFolder, "objects", (await data.getManifest(id)).sections.routes?.object as string);
    const cases: [string, string][] = [
      [join(folder, "missing"), "no such file or folder; run `netfacts ingest run`"],
      ["missing", "no such file or folder, and not the id of a snapshot either"],
      [join(folder, "empty"), "has no snapshot; run `netfacts ingest run` to make one"],
      [join(folder, "some.json"), "is not a data folder, a manifest in one, or a pack"],
      [join(folder, "nothing"), "is not a data folder"],
      [elsewhere, "is not a data folder"],
      [object, "is not a data folder"],
      ["/dev/null", "is not a data folder"],
    ];
    for (const [path, message] of cases) {
      const refused = expect(openSnapshot(path)).rejects;
      await refused.toThrow(SnapshotError);
      await expect(openSnapshot(path)).rejects.toThrow(`${path}: ${message}`);
    }
    await writeFile(manifest, "{");
    await expect(openSnapshot(join(folder, "data"))).rejects.toThrow("the manifest is not JSON");
  });
});

test("a pipe is refused, not waited for", async () => {
  await inFolder(async (folder) => {
    const pipe = join(folder, "pipe");
    if (spawnSync("mkfifo", [pipe]).status !== 0) return console.log("not run: no mkfifo");
    await expect(openSnapshot(pipe)).rejects.toThrow("is not a data folder");
  });
});
