/** A snapshot as one file: its manifest, then the section objects that it names. */

import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { sectionsOf } from "../generation.ts";
import { encodeManifest, type Manifest, type SectionEntry } from "../manifest.ts";
import { decodeManifest } from "../manifest-form.ts";
import { objectMemory } from "../object-memory.ts";
import { watchReadings } from "./pointer-watch.ts";
import { SnapshotError, type SnapshotPointer, type SnapshotStore } from "./snapshot-store.ts";
import { syncFolder } from "./whole-file.ts";

const magic = Buffer.from("NFPACK\r\n", "latin1");
/** Magic, then the length of the manifest as u32. */
const headBytes = 12;
const alignment = 64;
const manifestBytesMax = 16 * 1024 * 1024;

const aligned = (offset: number): number => Math.ceil(offset / alignment) * alignment;

/** Offset of each object of a manifest in the pack, in the order of sections. */
function layout(manifest: Manifest, manifestBytes: number): { entry: SectionEntry; offset: number }[] {
  let offset = aligned(headBytes + manifestBytes);
  return sectionsOf(manifest).map((name) => {
    const entry = manifest.sections[name] as SectionEntry;
    const place = { entry, offset };
    offset = aligned(offset + entry.bytes);
    return place;
  });
}

/**
 * Writes a snapshot of a store into one file, without the objects that only ingest reads. The file appears whole or not at all, and
 * is safe from a power failure then, except in a folder that cannot be synced.
 *
 * @param signal  ends it between two objects, with the signal's reason.
 */
export async function writePack(store: SnapshotStore, id: string, path: string, signal?: AbortSignal): Promise<Manifest> {
  const manifest = await store.getManifest(id);
  const encoded = encodeManifest(manifest);
  const head = Buffer.alloc(headBytes);
  magic.copy(head);
  head.writeUInt32LE(encoded.length, 8);
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await open(temporary, "wx");
  try {
    await writeAll(file, head, 0);
    await writeAll(file, encoded, headBytes);
    for (const { entry, offset } of layout(manifest, encoded.length)) {
      signal?.throwIfAborted();
      const object = await store.getObject(entry.object, entry.bytes);
      await writeAll(file, object, offset);
    }
    await file.sync();
    await file.close();
    signal?.throwIfAborted();
    await rename(temporary, path);
    await syncFolder(dirname(path)).catch(() => {});
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
  return manifest;
}

/** Writes all bytes: one call may write less than it was given, as the last one on a full disk does. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
}

/** Whether the file begins like a pack. */
export async function isPack(path: string): Promise<boolean> {
  return withFile(path, async (file) => {
    const head = Buffer.alloc(magic.length);
    await file.read(head, 0, head.length, 0);
    return head.equals(magic);
  });
}

/** A pack as a read-only store of one snapshot. Throws `SnapshotError` when it is damaged. */
export async function openPack(path: string): Promise<SnapshotStore> {
  const manifest = await withFile(path, async (file) => {
    const head = Buffer.alloc(headBytes);
    await file.read(head, 0, headBytes, 0);
    const length = head.readUInt32LE(8);
    if (!head.subarray(0, magic.length).equals(magic) || length > manifestBytesMax) throw new SnapshotError(`${path}: not a pack`);
    const encoded = Buffer.alloc(length);
    const { bytesRead } = await file.read(encoded, 0, length, headBytes);
    if (bytesRead < length) throw new SnapshotError(`${path}: ends at byte ${headBytes + bytesRead}, inside its manifest: truncated`);
    try {
      return { length, content: decodeManifest(encoded) };
    } catch (cause) {
      throw new SnapshotError(`${path}: ${(cause as Error).message}`, { cause });
    }
  });
  const places = new Map(layout(manifest.content, manifest.length).map(({ entry, offset }) => [entry.object, offset]));
  const readOnly = async (): Promise<never> => {
    throw new SnapshotError(`${path}: a pack is read-only`);
  };
  const pointer = async (): Promise<SnapshotPointer> => ({ published: manifest.content.id, active: manifest.content.id });
  return {
    putObject: readOnly,
    publish: readOnly,
    discardUnpublished: readOnly,
    activate: readOnly,
    async getObject(digest, bytes) {
      const offset = places.get(digest);
      if (offset === undefined) throw new SnapshotError(`${path}: has no object ${digest}`);
      return withFile(path, async (file) => {
        // Checked before memory is allocated: a manifest may claim more than the file has.
        const { size } = await file.stat();
        if (size < offset + bytes) throw new SnapshotError(`${path}: ends at byte ${size}, inside object ${digest}: truncated`);
        const object = objectMemory(bytes);
        for (let at = 0; at < bytes; ) {
          const { bytesRead } = await file.read(object, at, bytes - at, offset + at);
          if (bytesRead === 0) throw new SnapshotError(`${path}: ends at byte ${offset + at}, inside object ${digest}: truncated`);
          at += bytesRead;
        }
        if (createHash("sha256").update(object).digest("hex") !== digest) throw new SnapshotError(`${path}: object ${digest} is damaged`);
        return object;
      });
    },
    takenBack: async () => [],
    async objectsMark() {
      return manifest.content.id;
    },
    async objectMark(digest) {
      return places.has(digest) ? digest : "";
    },
    pointer,
    async currentId() {
      return manifest.content.id;
    },
    async getManifest(id) {
      if (id !== manifest.content.id) throw new SnapshotError(`${path}: holds ${manifest.content.id}, not ${id}`);
      return manifest.content;
    },
    async list() {
      return [manifest.content.id];
    },
    // A pack does not say when it was published.
    async publications() {
      return [];
    },
    watch(listener) {
      const readings = watchReadings(pointer, listener);
      void readings.look();
      return readings;
    },
  };
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, "r").catch((cause: Error) => {
    throw new SnapshotError(`${path}: ${cause.message}`, { cause });
  });
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
