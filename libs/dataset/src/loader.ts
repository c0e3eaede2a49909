/** Loads snapshots in a worker thread, so that answering never waits for loading. */

import { Worker } from "node:worker_threads";
import { Generation, type LoadedSections, type LoadedSnapshot, loadSection, sectionsOf } from "./generation.ts";
import type { Manifest, SectionName } from "./manifest.ts";
import { SnapshotError, type SnapshotStore } from "./store/snapshot-store.ts";

/** Loads a snapshot's sections from a store, in this thread. Throws what the store and `loadSection` throw, naming the section. */
export async function loadSnapshot(store: SnapshotStore, manifest: Manifest, reuse?: LoadedSnapshot): Promise<LoadedSnapshot> {
  const sections: { [S in SectionName]?: LoadedSections[S] } = {};
  for (const name of sectionsOf(manifest)) {
    const entry = manifest.sections[name];
    if (entry === undefined) continue;
    const before = reuse?.sections[name];
    if (before !== undefined && reuse?.manifest.sections[name]?.object === entry.object) {
      sections[name] = before;
      continue;
    }
    try {
      sections[name] = loadSection(name, await store.getObject(entry.object, entry.bytes));
    } catch (cause) {
      throw new SnapshotError(`snapshot ${manifest.id}, section ${name}: ${(cause as Error).message}`, { cause });
    }
  }
  return { manifest, sections };
}

/** What the loader worker is asked, and what it answers. */
export interface LoadRequest {
  readonly folder: string;
  readonly id: string;
  readonly reuse: { readonly manifest: Manifest; readonly sections: LoadedSections } | null;
}
export type LoadReply = { readonly ok: true; readonly loaded: LoadedSnapshot } | { readonly ok: false; readonly message: string };

/**
 * Loads a snapshot of a folder in a worker thread and hands it over in shared memory; unchanged sections are taken from `reuse`.
 *
 * Throws `SnapshotError` when the snapshot is missing or damaged.
 */
export function loadInWorker(folder: string, id: string, reuse: LoadedSnapshot | null): Promise<LoadedSnapshot> {
  return new Promise((resolve, reject) => {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const request: LoadRequest = { folder, id, reuse };
    const worker = new Worker(new URL(`./loader-worker.${extension}`, import.meta.url), { workerData: request });
    worker.once("message", (reply: LoadReply) => {
      if (reply.ok) resolve(reply.loaded);
      else reject(new SnapshotError(reply.message));
    });
    worker.once("error", (cause) => reject(new SnapshotError(`snapshot ${id}: the loader failed: ${(cause as Error).message}`, { cause })));
    worker.once("exit", (code) => reject(new SnapshotError(`snapshot ${id}: the loader ended with code ${code}`)));
  });
}

/** The generation in service, and how it changes. */
export interface DatasetHolder {
  /** null until the first snapshot is loaded. */
  current(): Generation | null;
}

/** Called when something changed, or could not be. */
export interface FollowerEvents {
  /** A generation is in service from now on. */
  activated?(generation: Generation, loadMs: number): void;
  /** A snapshot was refused; what served before still does. */
  refused?(id: string, error: Error): void;
}

/**
 * Follows the folder's pointer: loads each new snapshot in a worker and swaps one reference. A snapshot that cannot be loaded
 * is refused, reported, and tried again when the pointer moves.
 */
export class SnapshotFollower implements DatasetHolder {
  readonly #store: SnapshotStore;
  readonly #folder: string;
  readonly #events: FollowerEvents;
  #loaded: LoadedSnapshot | null = null;
  #current: Generation | null = null;
  #stopWatching: (() => void) | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(folder: string, store: SnapshotStore, events: FollowerEvents = {}) {
    this.#folder = folder;
    this.#store = store;
    this.#events = events;
  }

  current(): Generation | null {
    return this.#current;
  }

  /**
   * Loads the current snapshot, if there is one, and follows from then on. One that is damaged is refused, and the newest of
   * the kept ones that can be loaded serves. Resolves when the first tries are over.
   */
  async start(): Promise<void> {
    this.#stopWatching = this.#store.watch((id) => void this.load(id));
    const id = await this.#store.currentId();
    if (id === null) return;
    await this.load(id);
    const older = (await this.#store.list()).filter((kept) => kept !== id);
    while (this.#current === null && older.length > 0) await this.load(older.pop() as string);
  }

  /** Loads one snapshot after what is being loaded now; one that is in service already costs nothing. */
  load(id: string): Promise<void> {
    const next = this.#work.then(() => this.#loadOne(id));
    this.#work = next;
    return next;
  }

  stop(): void {
    this.#stopWatching?.();
    this.#stopWatching = null;
  }

  async #loadOne(id: string): Promise<void> {
    if (this.#current?.id === id) return;
    const started = performance.now();
    try {
      const loaded = await loadInWorker(this.#folder, id, this.#loaded);
      const generation = Generation.of(loaded);
      this.#loaded = loaded;
      this.#current = generation;
      this.#events.activated?.(generation, performance.now() - started);
    } catch (error) {
      this.#events.refused?.(id, error as Error);
    }
  }
}
