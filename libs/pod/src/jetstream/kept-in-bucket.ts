/** Which snapshots a bucket keeps: the lists of the pointer, their reconstruction, and the removal of everything else. */

import { ManifestError, type NamedObjects, NewerManifestError, namedObjects, SnapshotError } from "@netfacts/snapshot";
import type { JetStreamObjects, StoredObjects } from "./objects.ts";
import type { JetStreamKeys, PointerRecord } from "./pointer.ts";

type Lists = Pick<PointerRecord, "history" | "publications">;

/** Everything that is stored at one time. */
export interface StoredInBucket {
  readonly manifests: ReadonlySet<string>;
  /** Null: only objects of removed manifests are removed. */
  readonly objects: StoredObjects | null;
}

const noLists: Lists = { history: [], publications: [] };

export class KeptInBucket {
  readonly #keys: JetStreamKeys;
  readonly #objects: JetStreamObjects;
  readonly #bucket: string;

  constructor(keys: JetStreamKeys, objects: JetStreamObjects, bucket: string) {
    this.#keys = keys;
    this.#objects = objects;
    this.#bucket = bucket;
  }

  /** The lists in the pointer. Throws if it is missing or damaged: a store with snapshots must not look like an empty one. */
  async lists(): Promise<Lists> {
    const entry = await this.#keys.pointer();
    if (entry !== null && entry.record !== null) return entry.record;
    if (entry === null && (await this.#keys.manifestIds()).size === 0) return noLists;
    throw new SnapshotError(
      `bucket ${this.#bucket}: the pointer to the current snapshot is missing or damaged; ingest restores it, or its next run does`,
    );
  }

  /**
   * Rebuilds the lists of a lost pointer, as far as the manifests of earlier snapshots allow; publishing removes everything that the lists do not
   * name. A first publication that failed before it moved the pointer looks the same: its snapshot, if complete, counts as an earlier one.
   */
  async rebuiltLists(): Promise<Lists> {
    const publications = await this.#keys.storedManifests();
    const history: string[] = [];
    for (const { id } of publications) {
      const named = await this.namedBy(id);
      if (named !== null && (await this.#isWhole(named))) history.push(id);
    }
    return { history, publications };
  }

  /** The objects that a kept manifest names; null if it is damaged or missing, so that it does not block later publications. */
  async namedBy(id: string): Promise<NamedObjects | null> {
    try {
      const manifest = await this.#keys.manifest(id);
      return manifest && namedObjects(manifest);
    } catch (error) {
      if (error instanceof NewerManifestError) return namedObjects(error);
      if (error instanceof ManifestError) return null;
      throw error;
    }
  }

  /** What there is to remove from. @param isAlone  also objects that no manifest names, and leftovers of crashes */
  async stored(isAlone: boolean): Promise<StoredInBucket> {
    return { manifests: await this.#keys.manifestIds(), objects: isAlone ? await this.#objects.stored() : null };
  }

  /**
   * Removes of what was stored the manifests that are not kept, and objects that no kept manifest needs.
   *
   * @param confirm  awaited before each removal; its rejection ends the removal.
   */
  async removeOthers(
    { manifests, objects }: StoredInBucket,
    ids: readonly string[],
    named: ReadonlySet<string>,
    confirm: () => Promise<void>,
  ): Promise<void> {
    const spare = new Set<string>();
    for (const id of manifests) {
      if (ids.includes(id)) continue;
      await confirm();
      const removed = objects === null ? await this.namedBy(id) : null;
      for (const { object } of removed?.whole ?? []) if (!named.has(object)) spare.add(object);
      await this.#keys.removeManifest(id);
    }
    if (objects === null) await this.#objects.remove(spare, confirm);
    else await this.#objects.removeExcept(named, objects, confirm);
  }

  async #isWhole({ whole }: NamedObjects): Promise<boolean> {
    for (const { object } of whole) if (!(await this.#objects.has(object))) return false;
    return true;
  }
}
