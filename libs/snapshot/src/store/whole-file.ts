/** Files of a snapshot folder: each is written whole or not at all. */

import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { objectMemory } from "../object-memory.ts";
import { SnapshotError } from "./snapshot-store.ts";

/** Size of the parts in which a file is read to compare it. */
const comparedBytes = 1 << 20;

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Whether a crash left this file behind; `writeWhole` makes such names. */
export const isLeftover = (name: string): boolean => name.startsWith(".") && name.endsWith(".tmp");

/**
 * Writes a file so that a reader sees all of it or nothing: temporary name, sync, rename, sync of the folder.
 *
 * @throws the system's error, which names the file.
 */
export async function writeWhole(folder: string, name: string, pieces: readonly Uint8Array[]): Promise<void> {
  const temporary = join(folder, `.${name}.${randomBytes(6).toString("hex")}.tmp`);
  let file: FileHandle | null = null;
  try {
    file = await open(temporary, "wx");
    await file.writeFile(pieces);
    await file.sync();
    await file.close();
    file = null;
    await rename(temporary, join(folder, name));
  } catch (error) {
    await file?.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    throw located(error as NodeJS.ErrnoException, join(folder, name));
  }
  await syncFolder(folder);
}

/** Makes the names in a folder safe from a power failure. @throws the system's error */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Adds the path: the system does not say which file a write failed for. */
function located(error: NodeJS.ErrnoException, path: string): Error {
  return error.path === undefined ? Object.assign(error, { path, message: `${error.message} '${path}'` }) : error;
}

/** Whether a file holds exactly these bytes. A missing file holds none. */
export async function holdsBytes(path: string, pieces: readonly Uint8Array[], length: number): Promise<boolean> {
  const there = await stat(path).catch(() => null);
  if (there?.size !== length) return false;
  const file = await open(path, "r");
  try {
    const part = Buffer.allocUnsafe(Math.min(length, comparedBytes));
    let at = 0;
    for (const piece of pieces)
      for (let from = 0; from < piece.length; ) {
        const { bytesRead } = await file.read(part, 0, Math.min(part.length, piece.length - from), at);
        if (bytesRead === 0 || !part.subarray(0, bytesRead).equals(piece.subarray(from, from + bytesRead))) return false;
        from += bytesRead;
        at += bytesRead;
      }
    return true;
  } finally {
    await file.close();
  }
}

/**
 * Reads an object into shared memory.
 *
 * @throws SnapshotError if the file is missing, or differs in length or SHA-256.
 */
export async function readObject(path: string, digest: string, bytes: number): Promise<Uint8Array<SharedArrayBuffer>> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (cause) {
    throw new SnapshotError(`${path}: ${isMissing(cause) ? "the snapshot's object is missing" : (cause as Error).message}`, { cause });
  }
  try {
    const { size } = await file.stat();
    if (size !== bytes) throw new SnapshotError(`${path}: ${size} bytes, but the manifest says ${bytes}`);
    const whole = objectMemory(bytes);
    for (let at = 0; at < bytes; ) {
      const { bytesRead } = await file.read(whole, at, bytes - at, at);
      if (bytesRead === 0) throw new SnapshotError(`${path}: ended at byte ${at} of ${bytes}`);
      at += bytesRead;
    }
    if (createHash("sha256").update(whole).digest("hex") !== digest)
      throw new SnapshotError(`${path}: its SHA-256 differs from its name: damaged`);
    return whole;
  } finally {
    await file.close();
  }
}
