/** Snapshots in JetStream: objects in an Object Store bucket, manifests and the pointer in a key-value bucket of the same name. */

import { Events, type NatsConnection } from "@netfacts/messaging/nats-client";
import {
  decideKept,
  type Manifest,
  ManifestError,
  type NamedObjects,
  NewerManifestError,
  namedObjects,
  type PointerWatch,
  PublicationConflictError,
  publicationTime,
  type Retention,
  retentionDefaults,
  SnapshotError,
  type SnapshotPointer,
  type SnapshotStore,
  watchReadings,
  withPublication,
} from "@netfacts/snapshot";
import { JetStreamObjects } from "./objects.ts";
import { JetStreamKeys, type PointerRecord } from "./pointer.ts";

export const snapshotsBucketDefault = "netfacts-snapshots";

export interface JetStreamStoreOptions {
  /** Name of both buckets; they are made by the first publication. */
  readonly bucket?: string;
  /** What publishing keeps; null: everything that is kept so far. Default: `retentionDefaults`. */
  readonly retention?: Partial<Retention> | null;
  /** Tells when something is published. Default: that of the machine. Not for a loader's thread, which publishes nothing. */
  readonly clock?: { now(): number };
  /** Copies in a cluster of NATS servers, when the buckets are made; default 1. */
  readonly replicas?: number;
  /** How fast objects are read at most; null, the default: as fast as the server sends them. */
  readonly bytesPerSecond?: number | null;
}

/** How often a watcher reads the pointer whatever it heard. */
const watchIntervalMs = 5_000;
/** After a hint: what is written becomes readable a moment later, most of all in a cluster. */
const hintDelaysMs = [0, 50, 200, 500];
/** A pointer that others write at the same time: how often `activate` begins anew. */
const activateTriesMax = 5;

/**
 * The store behind a connection, which stays its owner's. What rights on the server reading and publishing need is in the README of
 * this lib.
 */
export async function openJetStreamStore(nc: NatsConnection, options: JetStreamStoreOptions = {}): Promise<SnapshotStore> {
  const { bucket = snapshotsBucketDefault, replicas = 1, bytesPerSecond = null, clock = Date } = options;
  const retention = options.retention === null ? null : { ...retentionDefaults, ...options.retention };
  // Without the check, which fails while the server is away; each call tells that by itself.
  const jsm = await nc.jetstreamManager({ checkAPI: false });
  const objects = new JetStreamObjects(nc, jsm, bucket, { replicas, bytesPerSecond });
  const keys = new JetStreamKeys(nc, jsm, bucket, replicas);

  const getManifest = async (id: string): Promise<Manifest> => {
    const manifest = await keys.manifest(id).catch((error: Error) => {
      throw error instanceof ManifestError ? new SnapshotError(`manifest ${id}: ${error.message}`, { cause: error }) : error;
    });
    if (manifest === null) throw new SnapshotError(`no snapshot ${id} in bucket ${bucket}`);
    if (manifest.id !== id) throw new SnapshotError(`manifest ${id}: contains the manifest of ${manifest.id}`);
    return manifest;
  };

  /** What a kept manifest names; a damaged one names nothing, and must not stand in the way of those that follow. */
  const namedByKept = async (id: string): Promise<NamedObjects | null> => {
    try {
      const manifest = await keys.manifest(id);
      return manifest && namedObjects(manifest);
    } catch (error) {
      if (error instanceof NewerManifestError) return namedObjects(error);
      if (error instanceof ManifestError) return null;
      throw error;
    }
  };

  const isWhole = async ({ whole }: NamedObjects): Promise<boolean> => {
    for (const { object } of whole) if (!(await objects.has(object))) return false;
    return true;
  };

  /**
   * What a pointer that was lost told of earlier snapshots, as far as their manifests do: what it does not name is removed. It cannot be told apart from a
   * first publication that failed before it moved the pointer: a whole snapshot of one is taken for an earlier one.
   */
  const rebuilt = async (): Promise<Lists> => {
    const publications = await keys.storedManifests();
    const history: string[] = [];
    for (const { id } of publications) {
      const named = await namedByKept(id);
      if (named !== null && (await isWhole(named))) history.push(id);
    }
    return { history, publications };
  };

  /** Removes manifests that are not kept and objects that no kept one needs; who is alone also those that none names, and what crashes left behind. */
  const removeUnkept = async (ids: readonly string[], named: ReadonlySet<string>, isAlone: boolean): Promise<void> => {
    const spare = new Set<string>();
    for (const id of await keys.manifestIds()) {
      if (ids.includes(id)) continue;
      const removed = isAlone ? null : await namedByKept(id);
      for (const { object } of removed?.whole ?? []) if (!named.has(object)) spare.add(object);
      await keys.removeManifest(id);
    }
    if (isAlone) await objects.removeExcept(named);
    else await objects.remove(spare);
  };

  const pointer = async (): Promise<SnapshotPointer | null> => {
    const record = (await keys.pointer())?.record ?? null;
    return record && { published: record.published, active: record.active };
  };

  /** As the pointer has them; throws where it is missing or damaged: a store with snapshots must not look like an empty one. */
  const lists = async (): Promise<Lists> => {
    const entry = await keys.pointer();
    if (entry !== null && entry.record !== null) return entry.record;
    if (entry === null && (await keys.manifestIds()).size === 0) return noLists;
    throw new SnapshotError(
      `bucket ${bucket}: the pointer to the current snapshot is missing or damaged; ingest restores it, or its next run does`,
    );
  };

  return {
    putObject: (bytes) => objects.put(bytes),
    getObject: (digest, bytes) => objects.get(digest, bytes),
    objectsMark: () => objects.mark(),

    async publish(manifest, { replaces, isAlone = true, takenBack } = {}) {
      await keys.makeBucket();
      // First, so that whatever happens from here on lets the move below fail.
      const before = await keys.pointer();
      const current = before?.record?.published ?? null;
      if (replaces !== undefined && replaces !== current) throw new PublicationConflictError(manifest.id, current);
      for (const { object } of namedObjects(manifest).whole)
        if (!(await objects.has(object))) throw new SnapshotError(`bucket ${bucket}: object ${object} of ${manifest.id} was not stored`);
      const past = before?.record ?? (await rebuilt());
      await keys.putManifest(manifest);
      const active = before?.record?.active ?? null;
      const whole = [...past.history.filter((id) => id !== manifest.id), manifest.id];
      const publications = withPublication(past.publications, { id: manifest.id, at: publicationTime(clock.now()) });
      const kept = await decideKept({ publications, whole, active }, retention, namedByKept);
      const { taken_back = [] } = before?.record ?? {};
      const lists = { history: kept.whole, publications: kept.publications };
      const record = { published: manifest.id, active, ...lists, taken_back: takenBack ?? taken_back };
      if (!(await keys.movePointer(record, before?.revision ?? 0)))
        throw new PublicationConflictError(manifest.id, await pointer().then((now) => now?.published ?? null));
      // The snapshot is published by now. What cannot be removed costs disk, and the next publication tries again.
      await removeUnkept([...kept.whole, ...kept.publications.map(({ id }) => id)], kept.objects, isAlone).catch(() => undefined);
    },

    async discardUnpublished() {
      // Listed first: what is stored from now on may be of a publication that the lists do not have yet.
      const stored = await objects.stored();
      const { history, publications } = await lists();
      const published = { publications, whole: history, active: null };
      const kept = await decideKept(published, null, async (id) => namedObjects(await getManifest(id)));
      await objects.removeExcept(kept.objects, stored);
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
      const [{ history }, present] = [await lists(), await keys.manifestIds()];
      return history.filter((id) => present.has(id));
    },

    async publications() {
      const [{ publications }, present] = [await lists(), await keys.manifestIds()];
      return publications.filter(({ id }) => present.has(id));
    },

    watch: (listener) => watchPointer(nc, keys.pointerSubject, pointer, listener),
  };
}

type Lists = Pick<PointerRecord, "history" | "publications">;

const noLists: Lists = { history: [], publications: [] };

/** Reads the pointer at once, at every hint, at every reconnect and every 5 s, and tells what differs from what it read before. */
function watchPointer(
  nc: NatsConnection,
  hintSubject: string,
  read: () => Promise<SnapshotPointer | null>,
  listener: (pointer: SnapshotPointer) => void,
): PointerWatch {
  const readings = watchReadings(read, listener);
  let stopped = false;
  const look = (): void => void readings.look();
  const timers = new Set<NodeJS.Timeout>();
  const hints = nc.subscribe(hintSubject, {
    callback: () => {
      for (const delay of hintDelaysMs) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          look();
        }, delay);
        timers.add(timer);
      }
    },
  });
  const interval = setInterval(look, watchIntervalMs);
  interval.unref();
  const status = nc.status();
  void (async () => {
    for await (const { type } of status) {
      if (stopped) return;
      if (type === Events.Reconnect) look();
    }
  })();
  look();
  return {
    look: readings.look,
    stop() {
      stopped = true;
      readings.stop();
      clearInterval(interval);
      for (const timer of timers) clearTimeout(timer);
      hints.unsubscribe();
    },
  };
}
