/** Snapshots in a folder: `objects/<sha256>`, `manifests/<id>.json`, `current`, `history`, `publications`, `taken-back`. */

import { createHash, randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { encodeManifest, type Manifest, ManifestError, NewerManifestError } from "../manifest.ts";
import { watchReadings } from "./pointer-watch.ts";
import {
  decideKept,
  type NamedObjects,
  namedObjects,
  type Publication,
  publicationTime,
  type Retention,
  retentionDefaults,
  withPublication,
} from "./retention.ts";
import { PublicationConflictError, piecesOf, SnapshotError, type SnapshotPointer, type SnapshotStore } from "./snapshot-store.ts";
import { readTakenBack, type TakenBack } from "./taken-back.ts";

/** How often a watcher reads the pointer. */
const watchIntervalMs = 500;

export interface FolderStoreOptions {
  /** What publishing keeps; null: everything that is kept so far. Default: `retentionDefaults`. */
  readonly retention?: Partial<Retention> | null;
  /** Tells when something is published. */
  readonly clock?: { now(): number };
}

/** What `sealManifest` makes; a pointer or a history that holds anything else is damaged. */
const idPattern = /^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$/;

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** A file that a crash left behind; `writeWhole` makes such names. */
const isLeftover = (name: string): boolean => name.startsWith(".") && name.endsWith(".tmp");

const idsOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

const digestOf = (lines: readonly string[]): string => createHash("sha256").update(lines.join("\n")).digest("hex");

/** Lines as they stand in a file, oldest first, and their digest. */
const sealedText = (lines: readonly string[]): string => `${[...lines, `sha256 ${digestOf(lines)}`].join("\n")}\n`;

/** The lines of such a file; null where it is damaged, or not there. */
function readSealed(text: string): string[] | null {
  const lines = idsOf(text);
  const sealed = lines.slice(0, -1);
  return lines.at(-1) === `sha256 ${digestOf(sealed)}` ? sealed : null;
}

/** An id, and when it was published. */
const publicationPattern = /^([0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}) ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)$/;

/** How much of a file is read at once to compare it. */
const comparedBytes = 1 << 20;

/** Whether a file holds exactly these bytes. */
async function holds(path: string, pieces: readonly Uint8Array[], length: number): Promise<boolean> {
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

/** Writes a file so that a reader sees all of it or nothing: temporary name, sync, rename, sync of the folder. */
async function writeWhole(folder: string, name: string, pieces: readonly Uint8Array[]): Promise<void> {
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
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The system does not say which file a write failed at. */
function located(error: NodeJS.ErrnoException, path: string): Error {
  return error.path === undefined ? Object.assign(error, { path, message: `${error.message} '${path}'` }) : error;
}

const pointerTo = (id: string): SnapshotPointer => ({ published: id, active: id });

/**
 * Opens a folder of snapshots; it is made when something is first stored. One process may publish while any number read.
 */
export function openFolderStore(folder: string, options: FolderStoreOptions = {}): SnapshotStore {
  const retention = options.retention === null ? null : { ...retentionDefaults, ...options.retention };
  const { clock = Date } = options;
  const objects = join(folder, "objects");
  const manifests = join(folder, "manifests");
  const pointer = join(folder, "current");
  const history = join(folder, "history");
  const publicationsFile = join(folder, "publications");
  const takenBackFile = join(folder, "taken-back");

  const readIds = async (file: string): Promise<string[]> => {
    try {
      return idsOf(await readFile(file, "utf8"));
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  };

  /** Where the pointer's file is missing or empty, what was published last by the history: a folder with snapshots must not look like an empty one. */
  const readCurrent = async (): Promise<string | null> => {
    const [id] = await readIds(pointer);
    return id ?? (await readLines(history))?.at(-1) ?? null;
  };

  const readPointer = async (): Promise<SnapshotPointer | null> => {
    const id = await readCurrent();
    return id === null ? null : pointerTo(id);
  };

  const getManifest = async (id: string): Promise<Manifest> => {
    if (!idPattern.test(id)) throw new SnapshotError(`${folder}: ${JSON.stringify(id.slice(0, 64))} is not a snapshot id: damaged`);
    const path = join(manifests, `${id}.json`);
    let manifest: Manifest;
    // A loader that was given the manifest does not need what reads one, which is slow to load.
    const { decodeManifest } = await import("../manifest-form.ts");
    try {
      manifest = decodeManifest(await readFile(path));
    } catch (cause) {
      throw new SnapshotError(isMissing(cause) ? `no snapshot ${id} in ${folder}` : `${path}: ${(cause as Error).message}`, { cause });
    }
    if (manifest.id !== id) throw new SnapshotError(`${path}: contains the manifest of ${manifest.id}`);
    return manifest;
  };

  const readLines = async (file: string): Promise<string[] | null> => {
    const text = await readFile(file, "utf8").catch((error: unknown) => {
      if (isMissing(error)) return "";
      throw error;
    });
    return readSealed(text);
  };

  /** What a damaged history told, as far as the manifests do: in the order in which they were written. */
  const writtenManifests = async (): Promise<Publication[]> => {
    const stored = await readdir(manifests).catch((error: unknown) => {
      if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENOTDIR") return [];
      throw new SnapshotError(`${manifests}: ${(error as Error).message}`, { cause: error });
    });
    const files = stored.filter((name) => name.endsWith(".json") && idPattern.test(name.slice(0, -5)));
    const written = await Promise.all(
      files.map(async (name) => ({ id: name.slice(0, -5), at: (await stat(join(manifests, name)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    return written.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)).map(({ id, at }) => ({ id, at: publicationTime(at) }));
  };

  /** The publications, or what the manifests tell of them: they have no file before the first publication by this version. */
  const readPublications = async (): Promise<readonly Publication[]> => {
    const lines = (await readLines(publicationsFile))?.map((line) => publicationPattern.exec(line));
    if (lines === undefined || lines.includes(null)) return writtenManifests();
    return lines.map((parts) => ({ id: parts?.[1] as string, at: parts?.[2] as string }));
  };

  const writeTakenBack = async (takenBack: TakenBack): Promise<void> => {
    if (takenBack.length === 0) await rm(takenBackFile, { force: true });
    else await writeWhole(folder, "taken-back", [Buffer.from(sealedText([JSON.stringify(takenBack)]))]);
  };

  /** The history, and the current snapshot although a damaged history does not name it. */
  const publishedIds = async (): Promise<string[]> => {
    const past = (await readLines(history)) ?? (await writtenManifests()).map(({ id }) => id);
    const current = await readCurrent();
    return current === null || past.includes(current) ? past : [...past, current];
  };

  /** What a kept manifest names; a damaged or missing one names nothing and must not stand in the way of all that follow. */
  const namedByKept = async (id: string): Promise<NamedObjects | null> => {
    try {
      return namedObjects(await getManifest(id));
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof NewerManifestError) return namedObjects(cause);
      if (isMissing(cause) || cause instanceof ManifestError) return null;
      throw error;
    }
  };

  /** Removes manifests that are not kept and objects that no kept one needs; who is alone also those that none names, and what crashes left behind. */
  const removeUnkept = async (ids: readonly string[], named: ReadonlySet<string>, isAlone: boolean): Promise<void> => {
    const keptFiles = new Set(ids.map((id) => `${id}.json`));
    const unkept = (await readdir(manifests)).filter((file) => !keptFiles.has(file));
    const spare = isAlone ? await readdir(objects).catch(() => []) : await namedBy(unkept);
    for (const file of unkept) await rm(join(manifests, file));
    for (const file of spare) if (!named.has(file)) await rm(join(objects, file), { force: true });
    if (isAlone) for (const file of await readdir(folder)) if (isLeftover(file)) await rm(join(folder, file));
  };

  const namedBy = async (files: readonly string[]): Promise<Set<string>> => {
    const found = new Set<string>();
    for (const file of files) {
      const named = file.endsWith(".json") ? await namedByKept(file.slice(0, -".json".length)).catch(() => null) : null;
      for (const { object } of named?.whole ?? []) found.add(object);
    }
    return found;
  };

  return {
    async putObject(bytes) {
      const { pieces, length } = piecesOf(bytes);
      const hash = createHash("sha256");
      for (const piece of pieces) hash.update(piece);
      const digest = hash.digest("hex");
      await mkdir(objects, { recursive: true });
      if (!(await holds(join(objects, digest), pieces, length))) await writeWhole(objects, digest, pieces);
      return digest;
    },

    async getObject(digest, bytes) {
      const path = join(objects, digest);
      let file: FileHandle;
      try {
        file = await open(path, "r");
      } catch (cause) {
        throw new SnapshotError(`${path}: ${isMissing(cause) ? "the snapshot's object is missing" : (cause as Error).message}`, { cause });
      }
      try {
        const { size } = await file.stat();
        if (size !== bytes) throw new SnapshotError(`${path}: ${size} bytes, but the manifest says ${bytes}`);
        const whole = new Uint8Array(new SharedArrayBuffer(bytes));
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
    },

    async objectsMark() {
      const names = (await readdir(objects).catch(() => [])).sort();
      const marks = await Promise.all(
        names.map(async (name) => {
          const there = await stat(join(objects, name)).catch(() => null);
          return there === null ? "" : `${name} ${there.ino} ${there.size} ${there.mtimeMs}`;
        }),
      );
      return marks.join("\n");
    },

    async publish(manifest, { replaces, isAlone = true, takenBack } = {}) {
      await mkdir(manifests, { recursive: true });
      const current = await readCurrent();
      if (replaces !== undefined && replaces !== current) throw new PublicationConflictError(manifest.id, current);
      for (const { object } of namedObjects(manifest).whole)
        if ((await stat(join(objects, object)).catch(() => null)) === null)
          throw new SnapshotError(`${folder}: object ${object} of ${manifest.id} was not stored`);
      // First, as it may go by the manifests that are there.
      const published = await readPublications();
      await writeWhole(manifests, `${manifest.id}.json`, [encodeManifest(manifest)]);
      const whole = [...(await publishedIds()).filter((id) => id !== manifest.id), manifest.id];
      const publications = withPublication(published, { id: manifest.id, at: publicationTime(clock.now()) });
      const kept = await decideKept({ publications, whole, active: manifest.id }, retention, namedByKept);
      const lines = kept.publications.map(({ id, at }) => `${id} ${at}`);
      await writeWhole(folder, "publications", [Buffer.from(sealedText(lines))]);
      // Before the pointer, and the history that stands for a missing one: while the versions are in use, it holds back nothing.
      if (takenBack !== undefined) await writeTakenBack(takenBack);
      await writeWhole(folder, "history", [Buffer.from(sealedText(kept.whole))]);
      await writeWhole(folder, "current", [Buffer.from(`${manifest.id}\n`)]);
      // The snapshot is published by now. What cannot be removed costs disk, and the next publication tries again.
      await removeUnkept([...kept.whole, ...kept.publications.map(({ id }) => id)], kept.objects, isAlone).catch(() => {});
    },

    async discardUnpublished() {
      // Listed first: what is stored from now on may be of a publication that the lists do not have yet.
      const stored = await readdir(objects).catch(() => []);
      const published = { publications: await readPublications(), whole: await publishedIds(), active: null };
      const { objects: named } = await decideKept(published, null, async (id) => namedObjects(await getManifest(id)));
      for (const file of stored) if (!named.has(file)) await rm(join(objects, file), { force: true });
    },

    // What is published is served: everybody who follows a folder is one process.
    async activate(id) {
      const current = await readCurrent();
      if (current !== id) throw new SnapshotError(`${folder}: ${id} is not the current snapshot; the current one is ${current ?? "none"}`);
    },

    pointer: readPointer,

    currentId: readCurrent,

    async takenBack() {
      const [text = "[]"] = (await readLines(takenBackFile)) ?? [];
      return readTakenBack(JSON.parse(text));
    },

    getManifest,

    async list() {
      const ids = await publishedIds();
      const present = new Set(await readdir(manifests).catch(() => []));
      return ids.filter((id) => present.has(`${id}.json`));
    },

    async publications() {
      const present = new Set(await readdir(manifests).catch(() => []));
      return (await readPublications()).filter(({ id }) => present.has(`${id}.json`));
    },

    watch(listener) {
      const readings = watchReadings(readPointer, listener);
      const timer = setInterval(() => void readings.look(), watchIntervalMs);
      timer.unref();
      void readings.look();
      return {
        look: readings.look,
        stop() {
          readings.stop();
          clearInterval(timer);
        },
      };
    },
  };
}
