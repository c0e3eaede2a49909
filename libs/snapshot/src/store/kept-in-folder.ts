/** Which objects a folder of snapshots keeps, and the removal of everything else. */

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, ManifestError, NewerManifestError } from "../manifest.ts";
import { type NamedObjects, namedObjects } from "./retention.ts";
import { SnapshotError } from "./snapshot-store.ts";
import { isLeftover, isMissing } from "./whole-file.ts";

/** Names of the files in a folder; none if it is missing. @throws SnapshotError if it cannot be read */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw new SnapshotError(`${folder}: ${(cause as Error).message}`, { cause });
  }
}

export class KeptInFolder {
  readonly #folder: string;
  readonly #places: { readonly objects: string; readonly manifests: string };
  readonly #getManifest: (id: string) => Promise<Manifest>;

  constructor(
    folder: string,
    places: { readonly objects: string; readonly manifests: string },
    getManifest: (id: string) => Promise<Manifest>,
  ) {
    this.#folder = folder;
    this.#places = places;
    this.#getManifest = getManifest;
  }

  /** The objects that a kept manifest names; null if it is damaged or missing, so that it does not block later publications. */
  async namedBy(id: string): Promise<NamedObjects | null> {
    try {
      return namedObjects(await this.#getManifest(id));
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof NewerManifestError) return namedObjects(cause);
      // Without a cause, the system gave the file, and it is not the manifest of this snapshot.
      const isDamaged = error instanceof SnapshotError && (cause === undefined || cause instanceof ManifestError);
      if (isDamaged || (cause !== undefined && isMissing(cause))) return null;
      throw error;
    }
  }

  /**
   * Removes manifests that are not kept, and objects that no kept manifest needs.
   *
   * @param isAlone  nobody else stores anything now: objects that no manifest names, and leftovers of crashes, are removed too.
   */
  async removeOthers(ids: readonly string[], named: ReadonlySet<string>, isAlone: boolean): Promise<void> {
    const { objects, manifests } = this.#places;
    const keptFiles = new Set(ids.map((id) => `${id}.json`));
    const unkept = (await readdir(manifests)).filter((file) => !keptFiles.has(file));
    const spare = isAlone ? await namesIn(objects) : await this.#namedByFiles(unkept);
    for (const file of unkept) await rm(join(manifests, file));
    for (const file of spare) if (!named.has(file)) await rm(join(objects, file), { force: true });
    if (isAlone) for (const file of await readdir(this.#folder)) if (isLeftover(file)) await rm(join(this.#folder, file));
  }

  /** The objects that any of these manifests names, if it can be read. */
  async #namedByFiles(files: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const file of files) {
      const named = file.endsWith(".json") ? await this.namedBy(file.slice(0, -".json".length)).catch(() => null) : null;
      for (const { object } of named?.whole ?? []) found.add(object);
    }
    return found;
  }
}
