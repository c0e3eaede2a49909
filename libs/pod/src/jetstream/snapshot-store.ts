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

/** Interval at which a watcher reads the pointer, even without hints. */
const watchIntervalMs = 5_000;
/** Delays of reads after a hint: a write becomes readable a moment later, most of all in a cluster. */
const hintDelaysMs = [0, 50, 200, 500];
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

  const getManifest = async (id: string): Promise<Manifest> => {
    const manifest = await keys.manifest(id).catch((error: Error) => {
      throw error instanceof ManifestError ? new SnapshotError(`manifest ${id}: ${error.message}`, { cause: error }) : error;
    });
    if (manifest === null) throw new SnapshotError(`no snapshot ${id} in bucket ${bucket}`);
    if (manifest.id !== id) throw new SnapshotError(`manifest ${id}: contains the manifest of ${manifest.id}`);
    return manifest;
  };

  /** The objects that a kept manifest names; null if it is damaged or missing, so that it does not block later publications. */
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
   * Rebuilds the lists of a lost pointer, as far as the manifests of earlier snapshots allow; publishing removes everything that the lists do not
   * name. A first publication that failed before it moved the pointer looks the same: its snapshot, if complete, counts as an earlier one.
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

  /**
   * Removes manifests that are not kept, and objects that no kept manifest needs. If the publisher is alone, also objects that no manifest names, and
   * leftovers of crashes.
   */
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

  /** The lists in the pointer. Throws if it is missing or damaged: a store with snapshots must not look like an empty one. */
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
      // First, so that any change from here on makes the move below fail.
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
      // The snapshot is already published. What cannot be removed costs disk space, and the next publication tries again.
      await removeUnkept([...kept.whole, ...kept.publications.map(({ id }) => id)], kept.objects, isAlone).catch(() => undefined);
    },

    async discardUnpublished() {
      // List the objects first: one that is stored from now on may belong to a publication that is not in the lists yet.
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

/** Reads the pointer at once, at every hint, at every reconnect and every 5 s, and reports changes. */
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
