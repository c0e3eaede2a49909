/** Where snapshots are kept: objects by digest, manifests by id, and one pointer to the current manifest. */

import type { Manifest } from "../manifest.ts";

/** Snapshots behind one interface; a folder holds them here. */
export interface SnapshotStore {
  /** Stores an object under its SHA-256 (64 hex digits), which it returns. One that is there is not written again, unless it is damaged. */
  putObject(bytes: Uint8Array): Promise<string>;
  /**
   * Reads an object into shared memory and checks its digest.
   *
   * Throws `SnapshotError`: missing, short, or damaged.
   */
  getObject(digest: string, bytes: number): Promise<Uint8Array<SharedArrayBuffer>>;
  /** Stores the manifest and then moves the pointer to it; its objects must be stored. Removes what is no longer kept. */
  publish(manifest: Manifest): Promise<void>;
  /** The current manifest's id, null before the first. */
  currentId(): Promise<string | null>;
  /** Throws `SnapshotError` when there is no such manifest or it is damaged. */
  getManifest(id: string): Promise<Manifest>;
  /** Ids of the kept manifests, oldest publication first. */
  list(): Promise<string[]>;
  /** Calls back with the new current id soon (≤ 1 s) after it changed. Returns the way to stop. */
  watch(listener: (id: string) => void): () => void;
}

/** A snapshot, or a part of one, that is missing or damaged. The message names it. */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
}
