/** Loads snapshots in a worker thread, so that answering never waits for loading. */

import type { Worker } from "node:worker_threads";
import { SpareThread } from "@netfacts/threads";
import { type LoadedSections, type LoadedSnapshot, loadSection, type SectionLoading, sectionsOf } from "./generation.ts";
import type { Manifest, SectionName } from "./manifest.ts";
import { SnapshotError, type SnapshotStore, SnapshotUnavailableError } from "./store/snapshot-store.ts";
import type { StoreSource } from "./store/store-source.ts";

export interface SnapshotLoading extends Omit<SectionLoading, "before"> {
  /** Snapshots in memory, whose sections are taken over where they are the same. The index of texts of others is taken over in part. */
  readonly reuse?: readonly LoadedSnapshot[];
}

export interface WorkerLoading extends SnapshotLoading {
  /** As the store told it. Default: the worker asks for it, which takes longer than loading most sections, as it has yet to load what reads one. */
  readonly manifest?: Manifest | null;
}

export interface BackgroundLoading extends WorkerLoading {
  /** Whether the thread has a low priority: for work that no answer of today waits for. Default: false. */
  readonly background?: boolean;
}

/**
 * Loads a snapshot's sections from a store, in this thread.
 *
 * Throws what the store and `loadSection` throw, naming the section.
 */
export async function loadSnapshot(
  store: SnapshotStore,
  manifest: Manifest,
  { reuse = [], ...loading }: SnapshotLoading = {},
): Promise<LoadedSnapshot> {
  const sections: { [S in SectionName]?: LoadedSections[S] } = {};
  for (const name of sectionsOf(manifest)) {
    const entry = manifest.sections[name];
    if (entry === undefined) continue;
    const before = reuse.find((loaded) => loaded.manifest.sections[name]?.object === entry.object)?.sections[name];
    if (before !== undefined) {
      sections[name] = before;
      continue;
    }
    const indexed = reuse.map((loaded) => loaded.sections[name]).find((section) => section?.words !== undefined);
    try {
      sections[name] = loadSection(name, await store.getObject(entry.object, entry.bytes), { ...loading, before: indexed });
    } catch (cause) {
      throw new SnapshotError(`snapshot ${manifest.id}, section ${name}: ${(cause as Error).message}`, { cause });
    }
  }
  return { manifest, sections };
}

/** What the loader's thread gets at its start. */
export interface LoaderData {
  readonly source: StoreSource;
  readonly background: boolean;
}

/** What it is asked, once, and what it answers. */
export interface LoadRequest {
  readonly id: string;
  readonly given: Manifest | null;
  readonly loading: SnapshotLoading;
}
export type LoadReply =
  | { readonly ok: true; readonly loaded: LoadedSnapshot }
  | { readonly ok: false; readonly message: string; readonly unavailable: boolean; readonly manifest: Manifest | null };

/** A snapshot that the loader refused. */
export class RefusedSnapshotError extends SnapshotError {
  /** What it would have been; null when not even that could be read. */
  readonly manifest: Manifest | null;

  constructor(message: string, manifest: Manifest | null) {
    super(message);
    this.manifest = manifest;
  }
}

/** Loads snapshots of one store, each in a thread of its own. After a load the thread of the next one is started, and waits with its modules loaded. */
export class LoaderThreads {
  readonly #threads: SpareThread;

  constructor(source: StoreSource) {
    this.#threads = threadsOf({ source, background: false });
  }

  /** As `loadInWorker`. */
  async load(id: string, loading: WorkerLoading = {}, signal?: AbortSignal): Promise<LoadedSnapshot> {
    try {
      return await loadIn(this.#threads, id, loading, signal);
    } finally {
      this.#threads.prepare();
    }
  }

  /** Ends the thread that waits. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

/**
 * Loads a snapshot in a worker thread, which opens the store itself, and hands it over in shared memory.
 *
 * Throws `RefusedSnapshotError` when it is missing or damaged, `SnapshotUnavailableError` when the store does not answer, and the
 * signal's reason.
 */
export function loadInWorker(
  source: StoreSource,
  id: string,
  { background = false, ...loading }: BackgroundLoading = {},
  signal?: AbortSignal,
): Promise<LoadedSnapshot> {
  return loadIn(threadsOf({ source, background }), id, loading, signal);
}

function threadsOf(workerData: LoaderData): SpareThread {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new SpareThread(new URL(`./loader-worker.${extension}`, import.meta.url), { workerData });
}

function loadIn(
  threads: SpareThread,
  id: string,
  { manifest: given = null, ...loading }: WorkerLoading,
  signal?: AbortSignal,
): Promise<LoadedSnapshot> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const worker: Worker = threads.take();
    // A connection that will not close must not keep the thread.
    const end = (): void => void worker.terminate();
    const abort = (): void => {
      reject(signal?.reason);
      end();
    };
    signal?.addEventListener("abort", abort, { once: true });
    worker.once("message", (reply: LoadReply) => {
      if (reply.ok) resolve(takenOver(reply.loaded, loading.reuse));
      else if (reply.unavailable) reject(new SnapshotUnavailableError(reply.message));
      else reject(new RefusedSnapshotError(reply.message, reply.manifest));
      end();
    });
    worker.once("error", (cause) => reject(new SnapshotError(`snapshot ${id}: the loader failed: ${(cause as Error).message}`, { cause })));
    worker.once("exit", (code) => {
      signal?.removeEventListener("abort", abort);
      reject(new SnapshotError(`snapshot ${id}: the loader ended with code ${code}`));
    });
    worker.postMessage({ id, given, loading } satisfies LoadRequest);
  });
}

/** With sections that were in memory as the same objects again: the way between threads makes others of the same memory. */
function takenOver({ manifest, sections }: LoadedSnapshot, reuse: readonly LoadedSnapshot[] = []): LoadedSnapshot {
  const named = Object.entries(sections).map(([name, section]) => {
    const object = manifest.sections[name as SectionName]?.object;
    const before = reuse.find((loaded) => loaded.manifest.sections[name as SectionName]?.object === object);
    return [name, before?.sections[name as SectionName] ?? section];
  });
  return { manifest, sections: Object.fromEntries(named) as LoadedSections };
}
