/** A snapshot as one file. */

import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { expect, test } from "@jest/globals";
import { syncedBy } from "../../../../test/support/synced.ts";
import {
  encodeManifest,
  loadSnapshot,
  type Manifest,
  openFolderStore,
  openPack,
  SnapshotError,
  sealManifest,
  writePack,
} from "../../src/index.ts";
import { runChild } from "../support/children.ts";
import { inFolder, madeManifest } from "../support/made-snapshot.ts";
import { numbered, publishNumber } from "./contract.ts";

async function packed<T>(use: (pack: string, manifest: Manifest, folder: string) => Promise<T>): Promise<T> {
  return inFolder(async (folder) => {
    const store = openFolderStore(join(folder, "data"));
    const { id } = await publishNumber(store, 1);
    const pack = join(folder, "one.pack");
    return use(pack, await writePack(store, id, pack), folder);
  });
}

test("a pack is a store of one snapshot, which loads, and cannot be written to", async () => {
  await packed(async (pack, manifest) => {
    const store = await openPack(pack);
    expect(await store.currentId()).toBe(manifest.id);
    expect(await store.list()).toEqual([manifest.id]);
    expect(await store.getManifest(manifest.id)).toEqual(madeManifest(numbered(1)));
    expect(Object.keys((await loadSnapshot(store, manifest)).sections)).toEqual(["routes", "as_names"]);
    await expect(store.putObject(Buffer.of(1))).rejects.toThrow("a pack is read-only");
    await expect(store.publish(manifest)).rejects.toThrow("a pack is read-only");
    await expect(store.getManifest("20260101T000000Z-00000000")).rejects.toThrow(SnapshotError);
    await expect(store.getObject("0".repeat(64), 1)).rejects.toThrow("has no object");
    const seen: string[] = [];
    const watch = store.watch(({ active }) => seen.push(String(active)));
    await watch.look();
    watch.stop();
    expect(seen).toEqual([manifest.id]);
  });
});

test("the name of a pack is safe from a power failure", async () => {
  await packed(async (_pack, { id }, folder) => {
    const synced = await syncedBy(() => writePack(openFolderStore(join(folder, "data")), id, join(folder, "two.pack")));
    expect(synced).toEqual(["file", "folder"]);
  });
});

test("the same snapshot packs to the same bytes", async () => {
  await packed(async (pack, manifest, folder) => {
    const again = join(folder, "two.pack");
    await writePack(openFolderStore(join(folder, "data")), manifest.id, again);
    expect((await readFile(again)).equals(await readFile(pack))).toBe(true);
  });
});

async function loadPack(path: string): Promise<void> {
  const store = await openPack(path);
  await loadSnapshot(store, await store.getManifest((await store.currentId()) as string));
}

test("a pack cut anywhere is refused", async () => {
  await packed(async (pack) => {
    const whole = await readFile(pack);
    for (let length = 0; length < whole.length; length += length < 100 || length > whole.length - 100 ? 1 : 17) {
      await writeFile(pack, whole.subarray(0, length));
      await expect(loadPack(pack)).rejects.toThrow(SnapshotError);
    }
  });
});

test("a pack with a byte changed is refused, unless it is one between the objects", async () => {
  await packed(async (pack, manifest) => {
    const whole = await readFile(pack);
    const head = 12 + encodeManifest(manifest).length;
    const [routes, names] = [manifest.sections.routes?.bytes as number, manifest.sections.as_names?.bytes as number];
    const routesAt = Math.ceil(head / 64) * 64;
    const namesAt = Math.ceil((routesAt + routes) / 64) * 64;
    const isFiller = (at: number) => (at >= head && at < routesAt) || (at >= routesAt + routes && at < namesAt);
    expect(whole.length).toBe(namesAt + names);
    for (let at = 0; at < whole.length; at += 5) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 0x40;
      await writeFile(pack, damaged);
      if (isFiller(at)) await expect(loadPack(pack)).resolves.toBeUndefined();
      else await expect(loadPack(pack)).rejects.toThrow(SnapshotError);
    }
  });
});

test("an object of a pack with a byte changed, and a checksum that fits it, is refused by its digest", async () => {
  await packed(async (pack, manifest) => {
    const bytes = await readFile(pack);
    const at = Math.ceil((12 + encodeManifest(manifest).length) / 64) * 64;
    const object = bytes.subarray(at, at + (manifest.sections.routes?.bytes as number));
    // The filler behind the last column, which no other check reads.
    object[object.length - 9] = 1;
    object.writeUInt32LE(crc32(object.subarray(0, -4)), object.length - 4);
    await writeFile(pack, bytes);
    await expect(loadPack(pack)).rejects.toThrow(/object [0-9a-f]{64} is damaged/);
  });
});

test("a pack that claims objects of gigabytes takes no memory for them", async () => {
  await packed(async (pack, { format: _format, format_version: _version, id: _id, ...content }) => {
    const as_names = { ...content.sections.as_names!, bytes: 0x7fff_ffff };
    const manifest = sealManifest({ ...content, sections: { as_names } });
    const encoded = encodeManifest(manifest);
    const head = Buffer.from("NFPACK\r\n\0\0\0\0", "latin1");
    head.writeUInt32LE(encoded.length, 8);
    await writeFile(pack, Buffer.concat([head, encoded, Buffer.alloc(1000)]));
    const before = process.memoryUsage().arrayBuffers;
    await expect(loadPack(pack)).rejects.toThrow(/inside object .*: truncated/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    head.writeUInt32LE(0xffff_ffff, 8);
    await writeFile(pack, head);
    await expect(openPack(pack)).rejects.toThrow("not a pack");
  });
});

test("a pack that cannot be written whole does not appear", async () => {
  await packed(async (pack, manifest, folder) => {
    const answer = await runChild("ulimit -f 1; $RUN", "write-pack.ts", [join(folder, "data"), manifest.id, join(folder, "small.pack")]);
    expect(JSON.parse(answer)).toMatchObject({ code: "EFBIG" });
    expect((await readdir(folder)).sort()).toEqual(["data", "one.pack"]);
    await expect(writePack(openFolderStore(join(folder, "data")), "20260101T000000Z-00000000", pack)).rejects.toThrow("no snapshot");
    await expect(loadPack(pack)).resolves.toBeUndefined();
  });
});

test("what is no pack is told", async () => {
  await inFolder(async (folder) => {
    await expect(openPack(join(folder, "none"))).rejects.toThrow(SnapshotError);
    for (const content of ["", "NFPACK\r\n", "x".repeat(500)]) {
      await writeFile(join(folder, "file"), content);
      await expect(openPack(join(folder, "file"))).rejects.toThrow(SnapshotError);
    }
  });
});
