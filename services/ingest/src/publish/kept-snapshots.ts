/** Metrics of the kept snapshots, which the leader exports. */

import { type Manifest, pastManifest, type SnapshotStore, SnapshotUnavailableError } from "@netfacts/snapshot";
import type { IngestMetrics } from "../metrics.ts";

export interface KeptSnapshots {
  readonly publications: number;
  /** Size of all their objects, each counted once. */
  readonly bytes: number;
  /** RFC 3339; null: nothing is kept. */
  readonly earliest: string | null;
}

type Objects = ReadonlyMap<string, number>;

/** Reads each manifest once, because a manifest never changes. A damaged manifest counts as one without objects. */
export class KeptReader {
  readonly #store: Pick<SnapshotStore, "publications" | "list" | "getManifest">;
  readonly #manifests = new Map<string, Manifest | null>();

  constructor(store: Pick<SnapshotStore, "publications" | "list" | "getManifest">) {
    this.#store = store;
  }

  /** Throws `SnapshotUnavailableError`; `SnapshotError` if the lists of the store are damaged. */
  async read(): Promise<KeptSnapshots> {
    const publications = await this.#store.publications();
    const whole = new Set(await this.#store.list());
    const ids = new Set([...publications.map(({ id }) => id), ...whole]);
    for (const id of this.#manifests.keys()) if (!ids.has(id)) this.#manifests.delete(id);
    const objects = new Map<string, number>();
    for (const id of ids) {
      const manifest = await this.#manifest(id);
      if (manifest !== null)
        for (const [object, bytes] of objectsOf(whole.has(id) ? manifest : pastManifest(manifest))) objects.set(object, bytes);
    }
    const bytes = [...objects.values()].reduce((sum, each) => sum + each, 0);
    return { publications: publications.length, bytes, earliest: publications[0]?.at ?? null };
  }

  async #manifest(id: string): Promise<Manifest | null> {
    const known = this.#manifests.get(id);
    if (known !== undefined) return known;
    const manifest = await this.#store.getManifest(id).catch((error: unknown) => {
      if (error instanceof SnapshotUnavailableError) throw error;
      return null;
    });
    this.#manifests.set(id, manifest);
    return manifest;
  }
}

function objectsOf({ sections, ingest_objects }: Manifest): Objects {
  return new Map([...Object.values(sections), ...Object.values(ingest_objects)].map(({ object, bytes }) => [object, bytes]));
}

const everyMs = 30_000;

/** Updates the metrics regularly until the signal aborts. They stay as they are while the store cannot be read. */
export function measureKept(
  store: SnapshotStore,
  { kept, keptBytes, keptSince }: Pick<IngestMetrics, "kept" | "keptBytes" | "keptSince">,
  signal: AbortSignal,
): void {
  const reader = new KeptReader(store);
  const look = async (): Promise<void> => {
    const found = await reader.read().catch(() => null);
    if (signal.aborted || found === null) return;
    kept.set({}, found.publications);
    keptBytes.set({}, found.bytes);
    if (found.earliest !== null) keptSince.set({}, Date.parse(found.earliest) / 1_000);
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  signal.addEventListener("abort", () => {
    clearInterval(timer);
    // Another process leads now, and exports these metrics.
    for (const gauge of [kept, keptBytes, keptSince]) gauge.remove({});
  });
  void look();
}
