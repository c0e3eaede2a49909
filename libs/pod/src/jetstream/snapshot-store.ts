/** Snapshots in JetStream: objects in an Object Store bucket, manifests and the pointer in a key-value bucket of the same name. */

import { timestamp } from "@netfacts/contracts";
import type { NatsConnection } from "@netfacts/messaging/nats-client";
import {
  decideKept,
  type Manifest,
  ManifestError,
  namedObjects,
  type Publication,
  PublicationConflictError,
  type Retention,
  retentionDefaults,
  SnapshotError,
  type SnapshotPointer,
  type SnapshotStore,
  withPublication,
} from "@netfacts/snapshot";
import { KeptInBucket } from "./kept-in-bucket.ts";
import { JetStreamObjects } from "./objects.ts";
import { JetStreamKeys } from "./pointer.ts";
import { watchPointer } from "./pointer-hints.ts";

export const snapshotsBucketDefault = "netfacts-snapshots";

export interface JetStreamStoreOptions {
  /** Name of both buckets; the first publication creates them. */
  readonly bucket?: string;
  /** What publishing keeps; null: all snapshots that are kept so far. Default: `retentionDefaults`. */
  readonly retention?: Partial<Retention> | null;
  /** Gives the time of a publication. Default: the clock of the machine. Not for a loader's thread, which does not publish. */
  readonly clock?: { now(): number };
  /** Number of copies in a cluster of NATS servers, used when the buckets are created; default 1. */
  readonly replicas?: number;
  /** Limit of the rate at which objects are read; null, the default: none. */
  readonly bytesPerSecond?: number | null;
}

/** Attempts of `activate` while others write the pointer at the same time. */
const activateTriesMax = 5;

/** The store on a connection, which the caller owns. The README of this library lists the server rights that reading and publishing need. */
export async function openJetStreamStore(nc: NatsConnection, options: JetStreamStoreOptions = {}): Promise<SnapshotStore> {
  const { bucket = snapshotsBucketDefault, replicas = 1, bytesPerSecond = null, clock = Date } = options;
  const retention = options.retention === null ? null : { ...retentionDefaults, ...options.retention };
  // Without the check, which fails while the server is unavailable; each call reports that itself.
  const jsm = await nc.jetstreamManager({ checkAPI: false });
  const objects = new JetStreamObjects(nc, jsm, bucket, { replicas, bytesPerSecond });
  const keys = new JetStreamKeys(nc, jsm, bucket, replicas);
  const kept = new KeptInBucket(keys, objects, bucket);

  const getManifest = async (id: string): Promise<Manifest> => {
    const manifest = await keys.manifest(id).catch((error: Error) => {
      throw error instanceof ManifestError ? new SnapshotError(`manifest ${id}: ${error.message}`, { cause: error }) : error;
    });
    if (manifest === null) throw new SnapshotError(`no snapshot ${id} in bucket ${bucket}`);
    if (manifest.id !== id) throw new SnapshotError(`manifest ${id}: contains the manifest of ${manifest.id}`);
    return manifest;
  };

  const pointer = async (): Promise<SnapshotPointer | null> => {
    const record = (await keys.pointer())?.record ?? null;
    return record && { published: record.published, active: record.active };
  };

  /**
   * Rejects if others have published since: they may use an object again that was stored before, and that this publication does not keep. The
   * pointer may have been moved to activate this publication.
   */
  const confirmLast = async (publications: readonly Publication[]): Promise<void> => {
    const now = (await keys.pointer())?.record?.publications.at(-1);
    const last = publications.at(-1);
    if (now?.id !== last?.id || now?.at !== last?.at) throw new SnapshotError(`bucket ${bucket}: others published since`);
  };

  return {
    putObject: (bytes) => objects.put(bytes),
    getObject: (digest, bytes) => objects.get(digest, bytes),
    objectsMark: () => objects.mark(),
    objectMark: (digest) => objects.markOf(digest),

    async publish(manifest, { replaces, isAlone = true, takenBack } = {}) {
      await keys.makeBucket();
      // First, so that any change from here on makes the move below fail.
      const before = await keys.pointer();
      const current = before?.record?.published ?? null;
      if (replaces !== undefined && replaces !== current) throw new PublicationConflictError(manifest.id, current);
      for (const { object } of namedObjects(manifest).whole)
        if (!(await objects.has(object))) throw new SnapshotError(`bucket ${bucket}: object ${object} of ${manifest.id} was not stored`);
      const past = before?.record ?? (await kept.rebuiltLists());
      await keys.putManifest(manifest);
      const active = before?.record?.active ?? null;
      const whole = [...past.history.filter((id) => id !== manifest.id), manifest.id];
      const publications = withPublication(past.publications, { id: manifest.id, at: timestamp(clock.now()) });
      const keeps = await decideKept({ publications, whole, active }, retention, (id) => kept.namedBy(id));
      const { taken_back = [] } = before?.record ?? {};
      const lists = { history: keeps.whole, publications: keeps.publications };
      const record = { published: manifest.id, active, ...lists, taken_back: takenBack ?? taken_back };
      // Before the move: if this process is frozen after it, another may publish, and what that stores must not be removed when this one goes on.
      const stored = await kept.stored(isAlone).catch(() => null);
      if (!(await keys.movePointer(record, before?.revision ?? 0)))
        throw new PublicationConflictError(manifest.id, await pointer().then((now) => now?.published ?? null));
      // The snapshot is already published. What cannot be removed costs disk space, and the next publication tries again.
      const ids = [...keeps.whole, ...keeps.publications.map(({ id }) => id)];
      if (stored !== null) await kept.removeOthers(stored, ids, keeps.objects, () => confirmLast(publications)).catch(() => undefined);
    },

    async discardUnpublished() {
      // List the objects first: one that is stored from now on may belong to a publication that is not in the lists yet.
      const stored = await objects.stored();
      const { history, publications } = await kept.lists();
      const published = { publications, whole: history, active: null };
      const { objects: named } = await decideKept(published, null, async (id) => namedObjects(await getManifest(id)));
      await objects.removeExcept(named, stored);
    },

    async activate(id) {
      for (let tries = 0; tries < activateTriesMax; tries++) {
        const { record = null, revision = 0 } = (await keys.pointer()) ?? {};
        if (record?.published !== id)
          throw new SnapshotError(`${id} cannot be activated: ${record?.published ?? "nothing"} was published last`);
        if (record.active === id || (await keys.movePointer({ ...record, active: id }, revision))) return;
      }
      throw new SnapshotError(`${id} cannot be activated: others keep moving the pointer`);
    },

    pointer,
    currentId: async () => (await pointer())?.published ?? null,
    takenBack: async () => (await keys.pointer())?.record?.taken_back ?? [],
    getManifest,

    async list() {
      const [{ history }, present] = [await kept.lists(), await keys.manifestIds()];
      return history.filter((id) => present.has(id));
    },

    async publications() {
      const [{ publications }, present] = [await kept.lists(), await keys.manifestIds()];
      return publications.filter(({ id }) => present.has(id));
    },

    watch: (listener) => watchPointer(nc, keys.pointerSubject, pointer, listener),
  };
}
