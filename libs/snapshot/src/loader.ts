/** Loads snapshots in a worker thread, so that answering never waits for loading. */

import { Worker } from "node:worker_threads";
import { SpareThread } from "@netfacts/threads";
import { type LoadedSections, type LoadedSnapshot, loadSection, type SectionLoading, sectionsOf } from "./generation.ts";
import type { Manifest, SectionName } from "./manifest.ts";
import { SnapshotError, type SnapshotStore, SnapshotUnavailableError } from "./store/snapshot-store.ts";
import type { StoreSource } from "./store/store-source.ts";

export interface SnapshotLoading extends Omit<SectionLoading, "before"> {
  /** Snapshots in memory. Their sections are reused where they are the same; a word index is derived from theirs where few texts changed. */
  readonly reuse?: readonly LoadedSnapshot[];
}

export interface WorkerLoading extends SnapshotLoading {
  /**
   * The manifest, if the caller has read it. Default: the worker reads it, which takes longer than loading most sections, as it must first load the
   * manifest reader.
   */
  readonly manifest?: Manifest | null;
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
    const indexed = reuse.map((loaded) => loaded.sections[name]).findLast((section) => section?.words !== undefined);
    try {
      sections[name] = loadSection(name, await store.getObject(entry.object, entry.bytes), { ...loading, before: indexed });
    } catch (cause) {
      throw new SnapshotError(`snapshot ${manifest.id}, section ${name}: ${(cause as Error).message}`, { cause });
    }
  }
  return { manifest, sections };
}

/** Data that a loader's thread gets at its start. */
export interface LoaderData {
  readonly source: StoreSource;
  /** For work that no current answer waits for: the thread has a low priority, and the store may read at a bounded rate. */
  readonly background: boolean;
}

/** Request to a loader's thread, and its reply. */
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
  /** The refused manifest; null if not even that could be read. */
  readonly manifest: Manifest | null;

  constructor(message: string, manifest: Manifest | null) {
    super(message);
    this.manifest = manifest;
  }
}

/** Loads snapshots of one store, each in a thread of its own. From the start on, a spare thread with its modules loaded waits for the next load. */
export class LoaderThreads {
  readonly #threads: SpareThread;

  constructor(source: StoreSource) {
    this.#threads = new SpareThread(loaderModule, { workerData: { source, background: false } satisfies LoaderData });
    this.#threads.prepare();
  }

  /**
   * Loads a snapshot in a thread, which opens the store itself, and hands it over in shared memory.
   *
   * Throws `RefusedSnapshotError` when it is missing or damaged, `SnapshotUnavailableError` when the store does not answer, and the
   * signal's reason.
   */
  async load(id: string, loading: WorkerLoading = {}, signal?: AbortSignal): Promise<LoadedSnapshot> {
    signal?.throwIfAborted();
    const thread = this.#threads.take().on("error", ignore);
    try {
      return await loadIn(thread, id, loading, signal);
    } finally {
      // A connection that does not close must not keep the thread.
      void thread.terminate();
      this.#threads.prepare();
    }
  }

  /** Ends the spare thread. */
  close(): Promise<void> {
    return this.#threads.close();
  }
}

/**
 * Loads snapshots of one store one after the other, for work that no current answer waits for, in one thread of a low priority. A thread for each
 * load would load its modules and compile its code again each time, which V8 does in threads of full priority.
 */
export class BackgroundLoader {
  readonly #source: StoreSource;
  readonly #idleMs: number;
  #thread: Worker | null = null;
  #ending: NodeJS.Timeout | undefined;

  /** @param idleMs  time that the idle thread waits for another load before it ends. */
  constructor(source: StoreSource, idleMs = 10_000) {
    this.#source = source;
    this.#idleMs = idleMs;
  }

  /** As `LoaderThreads.load`. The previous load must have ended. */
  async load(id: string, loading: WorkerLoading = {}): Promise<LoadedSnapshot> {
    clearTimeout(this.#ending);
    const thread = this.#thread ?? this.#start();
    thread.ref();
    try {
      const loaded = await loadIn(thread, id, loading);
      // The thread waits for another load, and does not keep the process alive meanwhile.
      thread.unref();
      this.#ending = setTimeout(() => this.#end(thread), this.#idleMs).unref();
      return loaded;
    } catch (error) {
      this.#end(thread);
      throw error;
    }
  }

  #start(): Worker {
    const thread = new Worker(loaderModule, { workerData: { source: this.#source, background: true } satisfies LoaderData });
    thread.on("error", ignore).once("exit", () => this.#end(thread));
    this.#thread = thread;
    return thread;
  }

  #end(thread: Worker): void {
    if (this.#thread === thread) this.#thread = null;
    void thread.terminate();
  }
}

/** Handles errors of a thread that fails after its reply: nobody waits for it any more. */
const ignore = (): void => undefined;

const loaderModule = new URL(`./loader-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

/** Asks the thread, which must not be busy. The caller ends the thread. */
async function loadIn(
  thread: Worker,
  id: string,
  { manifest: given = null, ...loading }: WorkerLoading,
  signal?: AbortSignal,
): Promise<LoadedSnapshot> {
  const { promise, resolve, reject } = Promise.withResolvers<LoadReply>();
  const failed = (cause: Error): void => reject(new SnapshotError(`snapshot ${id}: the loader failed: ${cause.message}`, { cause }));
  const ended = (code: number): void => reject(new SnapshotError(`snapshot ${id}: the loader ended with code ${code}`));
  const aborted = (): void => reject(signal?.reason);
  thread.on("message", resolve).on("error", failed).on("exit", ended);
  signal?.addEventListener("abort", aborted, { once: true });
  thread.postMessage({ id, given, loading } satisfies LoadRequest);
  try {
    const reply = await promise;
    if (reply.ok) return takenOver(reply.loaded, loading.reuse);
    if (reply.unavailable) throw new SnapshotUnavailableError(reply.message);
    throw new RefusedSnapshotError(reply.message, reply.manifest);
  } finally {
    signal?.removeEventListener("abort", aborted);
    thread.off("message", resolve).off("error", failed).off("exit", ended);
  }
}

/** Puts back the original objects of sections that were in memory before: posting made other objects of the same memory. */
function takenOver({ manifest, sections }: LoadedSnapshot, reuse: readonly LoadedSnapshot[] = []): LoadedSnapshot {
  const named = Object.entries(sections).map(([name, section]) => {
    const object = manifest.sections[name as SectionName]?.object;
    const before = reuse.find((loaded) => loaded.manifest.sections[name as SectionName]?.object === object);
    return [name, before?.sections[name as SectionName] ?? section];
  });
  return { manifest, sections: Object.fromEntries(named) as LoadedSections };
}
