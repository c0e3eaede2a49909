/** Opens a snapshot by a path that people give: a data folder, a manifest in one, or a pack. */

import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Manifest } from "../manifest.ts";
import { type FolderStoreOptions, openFolderStore } from "./folder-store.ts";
import { isPack, openPack } from "./pack.ts";
import { SnapshotError, type SnapshotStore } from "./snapshot-store.ts";

/** The folder of snapshots inside a data folder. */
export const snapshotsFolder = "snapshots";

/** The store of a data folder. */
export function openDataFolder(folder: string, options: FolderStoreOptions = {}): SnapshotStore {
  return openFolderStore(join(folder, snapshotsFolder), options);
}

/** A path does not say what the operator wants to keep, so that nothing is removed. */
const keepingAll: FolderStoreOptions = { retention: null };

/** A snapshot and its store. `packed`: the store is a pack, which lacks the objects that only ingest reads. */
export interface OpenedSnapshot {
  readonly store: SnapshotStore;
  readonly manifest: Manifest;
  readonly packed: boolean;
}

/**
 * Opens the store that holds the snapshot, and reads the manifest.
 *
 * @param path  a data folder or its folder of snapshots (the current snapshot is used), a manifest file in one, or a pack.
 *
 * Throws `SnapshotError` when there is none, or it is damaged.
 */
export async function openSnapshot(path: string): Promise<OpenedSnapshot> {
  const { store, id, packed } = await openSnapshots(path);
  return { store, manifest: await store.getManifest(id), packed };
}

/** As `openSnapshot`, without reading the manifest, which may be damaged. */
export async function openSnapshots(
  path: string,
): Promise<{ readonly store: SnapshotStore; readonly id: string; readonly packed: boolean }> {
  const kind = await stat(path).catch((cause: Error) => {
    const reason = (cause as NodeJS.ErrnoException).code === "ENOENT" ? `no such file or folder${hint(path)}` : cause.message;
    throw new SnapshotError(`${path}: ${reason}`, { cause });
  });
  if (kind.isDirectory()) {
    const inside = await stat(join(path, snapshotsFolder)).catch(() => null);
    const store = inside?.isDirectory() ? openDataFolder(path, keepingAll) : openFolderStore(path, keepingAll);
    const id = await store.currentId();
    if (id === null) throw new SnapshotError(`${path}: has no snapshot; run \`netfacts ingest run\` to make one`);
    return { store, id, packed: false };
  }
  if (kind.isFile() && (await isPack(path))) {
    const store = await openPack(path);
    return { store, id: (await store.currentId()) as string, packed: true };
  }
  if (!kind.isFile() || !path.endsWith(".json") || basename(dirname(path)) !== "manifests")
    throw new SnapshotError(`${path}: is not a data folder, a manifest in one, or a pack`);
  return { store: openFolderStore(dirname(dirname(path)), keepingAll), id: basename(path, ".json"), packed: false };
}

/** What to do about a path where nothing is. A word may be meant as the id of a snapshot. */
const hint = (path: string): string =>
  path.includes("/")
    ? "; run `netfacts ingest run` to make a data folder, or name another one"
    : ", and not the id of a snapshot either; `netfacts snapshot list` lists the ids";
