/** Snapshots in a folder: `objects/<sha256>`, `manifests/<id>.json`, and the lists of `FolderLists`. */

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSnapshotId, timestamp } from "@netfacts/contracts";
import { encodeManifest, type Manifest } from "../manifest.ts";
import { FolderLists } from "./folder-lists.ts";
import { KeptInFolder, namesIn } from "./kept-in-folder.ts";
import { watchReadings } from "./pointer-watch.ts";
import { decideKept, namedObjects, type Retention, retentionDefaults, withPublication } from "./retention.ts";
import { PublicationConflictError, piecesOf, SnapshotError, type SnapshotPointer, type SnapshotStore } from "./snapshot-store.ts";
import { holdsBytes, isMissing, readObject, writeWhole } from "./whole-file.ts";

/** Interval at which a watcher reads the pointer. */
const watchIntervalMs = 500;

export interface FolderStoreOptions {
  /** What publishing keeps; null: all snapshots that are kept so far. Default: `retentionDefaults`. */
  readonly retention?: Partial<Retention> | null;
  /** Gives the time of a publication. */
  readonly clock?: { now(): number };
}

/** Opens a folder of snapshots; it is created when something is first stored. One process may publish while any number read. */
export function openFolderStore(folder: string, options: FolderStoreOptions = {}): SnapshotStore {
  const retention = options.retention === null ? null : { ...retentionDefaults, ...options.retention };
  const { clock = Date } = options;
  const objects = join(folder, "objects");
  const manifests = join(folder, "manifests");
  const lists = new FolderLists(folder, manifests);
  const statIn = (place: string, name: string) => stat(join(place, name)).catch(() => null);
  const objectMark = async (name: string): Promise<string> => {
    const there = await statIn(objects, name);
    return there === null ? "" : `${name} ${there.ino} ${there.size} ${there.mtimeMs}`;
  };

  const readPointer = async (): Promise<SnapshotPointer | null> => {
    const id = await lists.currentId();
    // A published snapshot is active at once: a folder has no other followers to wait for.
    return id === null ? null : { published: id, active: id };
  };

  const getManifest = async (id: string): Promise<Manifest> => {
    if (!isSnapshotId(id)) throw new SnapshotError(`${folder}: ${JSON.stringify(id.slice(0, 64))} is not a snapshot id: damaged`);
    const path = join(manifests, `${id}.json`);
    let manifest: Manifest;
    // Imported here because it is slow to load, and a loader that was given the manifest does not need it.
    const { decodeManifest } = await import("../manifest-form.ts");
    try {
      manifest = decodeManifest(await readFile(path));
    } catch (cause) {
      throw new SnapshotError(isMissing(cause) ? `no snapshot ${id} in ${folder}` : `${path}: ${(cause as Error).message}`, { cause });
    }
    if (manifest.id !== id) throw new SnapshotError(`${path}: contains the manifest of ${manifest.id}`);
    return manifest;
  };

  const kept = new KeptInFolder(folder, { objects, manifests }, getManifest);

  return {
    async putObject(bytes) {
      const { pieces, length } = piecesOf(bytes);
      const hash = createHash("sha256");
      for (const piece of pieces) hash.update(piece);
      const digest = hash.digest("hex");
      await mkdir(objects, { recursive: true });
      if (!(await holdsBytes(join(objects, digest), pieces, length))) await writeWhole(objects, digest, pieces);
      return digest;
    },

    getObject: (digest, bytes) => readObject(join(objects, digest), digest, bytes),

    async objectsMark() {
      const names = (await namesIn(objects)).sort();
      const marks = await Promise.all(names.map(objectMark));
      return marks.join("\n");
    },

    objectMark,

    async publish(manifest, { replaces, isAlone = true, takenBack } = {}) {
      const { id } = manifest;
      await mkdir(manifests, { recursive: true });
      const current = await lists.currentId();
      if (replaces !== undefined && replaces !== current) throw new PublicationConflictError(id, current);
      for (const { object } of namedObjects(manifest).whole)
        if ((await statIn(objects, object)) === null) throw new SnapshotError(`${folder}: object ${object} of ${id} was not stored`);
      // Must come first: it may be derived from the manifests that are there.
      const published = await lists.publications();
      await writeWhole(manifests, `${id}.json`, [encodeManifest(manifest)]);
      const whole = [...(await lists.publishedIds()).filter((other) => other !== id), id];
      const publications = withPublication(published, { id, at: timestamp(clock.now()) });
      const keeps = await decideKept({ publications, whole, active: id }, retention, (other) => kept.namedBy(other));
      await lists.write({ ...keeps, current: id, takenBack });
      // The snapshot is already published. Files that cannot be removed cost disk space, and the next publication tries again.
      await kept.removeOthers([...keeps.whole, ...keeps.publications.map((each) => each.id)], keeps.objects, isAlone).catch(() => {});
    },

    async discardUnpublished() {
      // List the objects first: one that is stored from now on may belong to a publication that is not in the lists yet.
      const stored = await namesIn(objects);
      const published = { publications: await lists.publications(), whole: await lists.publishedIds(), active: null };
      const { objects: named } = await decideKept(published, null, async (id) => namedObjects(await getManifest(id)));
      for (const file of stored) if (!named.has(file)) await rm(join(objects, file), { force: true });
    },

    async activate(id) {
      const current = await lists.currentId();
      if (current !== id) throw new SnapshotError(`${folder}: ${id} is not the current snapshot; the current one is ${current ?? "none"}`);
    },

    pointer: readPointer,

    currentId: () => lists.currentId(),

    takenBack: () => lists.takenBack(),

    getManifest,

    async list() {
      const ids = await lists.publishedIds();
      const present = new Set(await namesIn(manifests));
      return ids.filter((id) => present.has(`${id}.json`));
    },

    async publications() {
      const present = new Set(await namesIn(manifests));
      return (await lists.publications()).filter(({ id }) => present.has(`${id}.json`));
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
