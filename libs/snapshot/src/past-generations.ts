/** Generations of the past: found by time, loaded on request, one at a time, and kept within bounds. */

import { timestamp } from "@netfacts/contracts";
import Type, { type Static } from "typebox";
import { Generation, type LoadedSections, type LoadedSnapshot, sectionsOf } from "./generation.ts";
import { buffersOf, bytesOf } from "./loaded-memory.ts";
import { BackgroundLoader } from "./loader.ts";
import type { Manifest } from "./manifest.ts";
import { ReleasedMemory } from "./released-memory.ts";
import { type Publication, pastManifest } from "./store/retention.ts";
import { SnapshotError, type SnapshotStore, SnapshotUnavailableError } from "./store/snapshot-store.ts";
import type { StoreSource } from "./store/store-source.ts";

/** Settings of every process that answers about the past. */
export const pastConfigSchema = Type.Object({
  HISTORY_SNAPSHOTS_MAX: Type.Integer({
    default: 2,
    minimum: 0,
    maximum: 100,
    description: "Maximum number of snapshots of the past in memory, for requests with `as_of`; 0 turns these requests off",
  }),
  HISTORY_MIB_MAX: Type.Integer({
    default: 256,
    minimum: 1,
    description: "Limit of the memory of these snapshots, in MiB; one is loaded whatever its size",
  }),
});

/** A question about the past. */
export interface PastQuestion {
  /** Unix seconds. */
  readonly at: number;
  /** The snapshot that must answer; null: the newest one at that time. */
  readonly snapshotId: string | null;
  /** A number for the caller: callers take turns. */
  readonly turn: number;
}

/** A generation of the past, or the reason why there is none. */
export type PastAnswer =
  | { readonly generation: Generation; readonly publication: Publication }
  | { readonly refusal: "out_of_range"; readonly earliest: string; readonly latest: string }
  /** `empty`: nothing was published yet. `gone`: the named snapshot is not one of that time, or not kept any more. */
  | { readonly refusal: "empty" | "gone" | "loading" | "overloaded" | "unreadable" | "unavailable" };

export interface PastEvents {
  loaded?(id: string, loadMs: number): void;
  failed?(id: string, error: Error): void;
}

export interface PastOptions {
  readonly snapshotsMax: number;
  readonly bytesMax: number;
  /** Time that the list of publications is used before it is read again. */
  readonly listMs?: number;
  /** Time that a snapshot that could not be loaded is not tried again. */
  readonly retryMs?: number;
}

export function pastOptionsOf(settings: Static<typeof pastConfigSchema>): PastOptions {
  return { snapshotsMax: settings.HISTORY_SNAPSHOTS_MAX, bytesMax: settings.HISTORY_MIB_MAX * 2 ** 20 };
}

export const pastDefaults: PastOptions = { snapshotsMax: 2, bytesMax: 256 * 2 ** 20 };

/** Most snapshots that one caller may wait for; one more is refused. */
const waitingMax = 4;
/** Estimated memory of an index, as a share of the bytes of its object; used before it is loaded. */
const indexShare = 0.4;

/** Most manifests in memory: those of a month and of the days that a caller walks through. */
const manifestsMax = 64;

interface KeptPast {
  readonly loaded: LoadedSnapshot;
  readonly generation: Generation;
  /** The caller that used it last. */
  turn: number;
}

interface Failure {
  readonly retryAtMs: number;
  readonly refusal: "unreadable" | "unavailable";
}

interface Wanted {
  readonly turns: Set<number>;
  readonly done: Promise<void>;
  readonly end: () => void;
}

/**
 * Safe in one thread only. Other work should not wait for that thread: dropped snapshots are freed by a garbage collection that blocks it. Costs
 * nothing until the first question.
 */
export class PastGenerations {
  readonly #store: SnapshotStore;
  readonly #loader: BackgroundLoader;
  readonly #present: { held(): readonly LoadedSnapshot[] };
  readonly #events: PastEvents;
  readonly #options: Required<PastOptions>;
  /** Least recently used first. */
  readonly #kept = new Map<string, KeptPast>();
  /** Generations of snapshots that are in memory anyway. */
  readonly #ofHeld = new WeakMap<LoadedSnapshot, Generation>();
  readonly #failures = new Map<string, Failure>();
  readonly #wanted = new Map<string, Wanted>();
  readonly #manifests = new Map<string, Manifest>();
  readonly #released = new ReleasedMemory();
  /** Callers that wait, in the order of their turns. */
  #turns: number[] = [];
  #loading = false;
  #list: { readonly publications: readonly Publication[]; readonly readAtMs: number } | null = null;
  #reading: Promise<readonly Publication[]> | null = null;

  /**
   * @param source  the same store, for the loader's thread.
   * @param present snapshots that are in memory anyway; their sections are reused.
   */
  constructor(
    store: SnapshotStore,
    source: StoreSource,
    present: { held(): readonly LoadedSnapshot[] },
    events: PastEvents = {},
    options: PastOptions = pastDefaults,
  ) {
    this.#store = store;
    this.#loader = new BackgroundLoader(source);
    this.#present = present;
    this.#events = events;
    this.#options = { listMs: 2_000, retryMs: 60_000, ...options };
  }

  /** Bytes of the kept snapshots that are not in memory anyway. */
  get bytes(): number {
    const held = new Set(this.#present.held().flatMap(buffersOf));
    return bytesOf(this.#used().filter((buffer) => !held.has(buffer)));
  }

  /** Ids of the kept snapshots. */
  get kept(): readonly string[] {
    return [...this.#kept.keys()];
  }

  /** @param msMax  longest time to wait for the snapshot. Loading goes on after that, so that a later question finds it. */
  async at(question: PastQuestion, msMax: number): Promise<PastAnswer> {
    const started = performance.now();
    const publications = await this.publications();
    const [earliest, latest] = [publications?.[0], publications?.at(-1)];
    if (publications === null) return { refusal: "unavailable" };
    if (earliest === undefined || latest === undefined) return { refusal: "empty" };
    const publication = find(publications, question);
    if (publication === undefined)
      return question.snapshotId === null ? { refusal: "out_of_range", earliest: earliest.at, latest: latest.at } : { refusal: "gone" };
    const answer = await this.of(publication, question.turn, msMax - (performance.now() - started));
    if (!("refusal" in answer && answer.refusal === "gone")) return answer;
    // This ends: each round has one snapshot less.
    return this.at(question, msMax - (performance.now() - started));
  }

  /** As `at`, for a publication of the list. `gone`: it was withdrawn meanwhile, and the list was read again. */
  async of(publication: Publication, turn: number, msMax: number): Promise<PastAnswer> {
    const answer = await this.#of(publication, turn, msMax);
    const isUnreadable = "refusal" in answer && answer.refusal === "unreadable";
    return isUnreadable && !(await this.#isListed(publication)) ? { refusal: "gone" } : answer;
  }

  async #of(publication: Publication, turn: number, msMax: number): Promise<PastAnswer> {
    const { id } = publication;
    const ready = this.#ready(id, turn);
    if (ready !== null) return { generation: ready, publication };
    const failure = this.#failures.get(id);
    if (failure !== undefined && failure.retryAtMs > performance.now()) return { refusal: failure.refusal };
    const done = this.#want(id, turn);
    if (done === null) return { refusal: "overloaded" };
    await within(Math.max(0, msMax), done);
    const loaded = this.#ready(id, turn);
    if (loaded !== null) return { generation: loaded, publication };
    return { refusal: this.#failures.get(id)?.refusal ?? "loading" };
  }

  /** The publications that can be asked about, oldest first; null: the store does not answer, or its list is damaged. */
  async publications(): Promise<readonly Publication[] | null> {
    try {
      return await this.#publications();
    } catch (error) {
      if (error instanceof SnapshotError) return null;
      throw error;
    }
  }

  /** The manifest, without loading the snapshot; null: it cannot be read now. */
  async manifest(id: string): Promise<Manifest | null> {
    const known = this.#manifests.get(id);
    if (known !== undefined) return known;
    const manifest = await this.#store.getManifest(id).catch(() => null);
    if (manifest === null) return null;
    const [oldest] = this.#manifests.size < manifestsMax ? [] : this.#manifests.keys();
    if (oldest !== undefined) this.#manifests.delete(oldest);
    this.#manifests.set(id, pastManifest(manifest));
    return pastManifest(manifest);
  }

  /** Call when `present` holds other snapshots: frees memory that nothing refers to any more. */
  presentChanged(): Promise<void> {
    const used = this.#used();
    this.#released.watch(used);
    return this.#released.free(bytesOf(used));
  }

  /** The list, which is read again after a while. While it cannot be read, the previous one is used. */
  async #publications(): Promise<readonly Publication[]> {
    const now = performance.now();
    if (this.#list !== null && now - this.#list.readAtMs < this.#options.listMs) return this.#list.publications;
    this.#reading ??= this.#store
      .publications()
      .catch((error: unknown) => {
        if (this.#list === null) throw error;
        return this.#list.publications;
      })
      .then((publications) => {
        this.#list = { publications, readAtMs: performance.now() };
        return publications;
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  /** Whether the list still has the publication; reads the list again. */
  async #isListed({ id, at }: Publication): Promise<boolean> {
    this.#list = this.#list === null ? null : { ...this.#list, readAtMs: Number.NEGATIVE_INFINITY };
    const publications = await this.publications();
    return publications === null || publications.some((publication) => publication.id === id && publication.at === at);
  }

  /** All memory in use, each buffer once. */
  #used(): ArrayBufferLike[] {
    const all = [...this.#present.held(), ...[...this.#kept.values()].map(({ loaded }) => loaded)];
    return [...new Set(all.flatMap(buffersOf))];
  }

  #ready(id: string, turn: number): Generation | null {
    const held = this.#present.held().find(({ manifest }) => manifest.id === id);
    if (held !== undefined) {
      const generation = this.#ofHeld.get(held) ?? Generation.of(asPast(held));
      this.#ofHeld.set(held, generation);
      return generation;
    }
    const kept = this.#kept.get(id);
    if (kept === undefined) return null;
    kept.turn = turn;
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return kept.generation;
  }

  /** Resolves when the snapshot was loaded or could not be loaded; null: the caller waits for too many. */
  #want(id: string, turn: number): Promise<void> | null {
    let wanted = this.#wanted.get(id);
    if (wanted?.turns.has(turn) !== true) {
      let waiting = 0;
      for (const { turns } of this.#wanted.values()) if (turns.has(turn)) waiting += 1;
      if (waiting >= waitingMax) return null;
    }
    if (wanted === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wanted = { turns: new Set(), done: promise, end: resolve };
      this.#wanted.set(id, wanted);
    }
    wanted.turns.add(turn);
    if (!this.#turns.includes(turn)) this.#turns.push(turn);
    if (!this.#loading) void this.#loadAll();
    return wanted.done;
  }

  async #loadAll(): Promise<void> {
    this.#loading = true;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      await this.#load(next.id, next.turn);
      const wanted = this.#wanted.get(next.id);
      this.#wanted.delete(next.id);
      wanted?.end();
      // Callers that waited for this snapshot use it before it may be dropped.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#loading = false;
  }

  /** The next snapshot to load: one for each caller in turn. */
  #next(): { readonly id: string; readonly turn: number } | null {
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      for (const [id, { turns }] of this.#wanted) {
        if (!turns.has(turn)) continue;
        this.#turns.push(turn);
        return { id, turn };
      }
    }
    return null;
  }

  async #load(id: string, turn: number): Promise<void> {
    const started = performance.now();
    try {
      const manifest = pastManifest(await this.#store.getManifest(id));
      this.#makeRoom(manifest, turn);
      await this.#released.free(bytesOf(this.#used()));
      const reuse = [...this.#present.held(), ...[...this.#kept.values()].map(({ loaded }) => loaded)];
      const loaded = await this.#loader.load(id, { reuse, manifest, ipv4Index: "compact" });
      this.#released.watch(buffersOf(loaded));
      this.#kept.set(id, { loaded, generation: Generation.of(loaded), turn });
      this.#failures.delete(id);
      this.#events.loaded?.(id, performance.now() - started);
    } catch (error) {
      const refusal = error instanceof SnapshotUnavailableError ? "unavailable" : "unreadable";
      const retryMs = refusal === "unavailable" ? this.#options.listMs : this.#options.retryMs;
      for (const [other, { retryAtMs }] of this.#failures) if (retryAtMs <= performance.now()) this.#failures.delete(other);
      this.#failures.set(id, { retryAtMs: performance.now() + retryMs, refusal });
      this.#events.failed?.(id, error as Error);
    }
  }

  /** Drops snapshots before the next one is loaded, so that the limits hold at any time. */
  #makeRoom({ sections }: Manifest, turn: number): void {
    const { snapshotsMax, bytesMax } = this.#options;
    const known = new Set(
      [...this.#present.held(), ...[...this.#kept.values()].map(({ loaded }) => loaded)].flatMap(({ manifest }) =>
        Object.values(manifest.sections).map(({ object }) => object),
      ),
    );
    let needed = 0;
    for (const { object, bytes } of Object.values(sections)) if (!known.has(object)) needed += bytes * (1 + indexShare);
    while (this.#kept.size > 0 && (this.#kept.size >= snapshotsMax || this.bytes + needed > bytesMax))
      this.#kept.delete(this.#surplus(turn));
  }

  /**
   * The kept snapshot to drop: the least recently used one of the caller itself; if it has none, of the caller that has most. A caller that walks
   * through all days thus takes nothing from the others.
   */
  #surplus(turn: number): string {
    const counts = new Map<number, number>();
    for (const { turn: of } of this.#kept.values()) counts.set(of, (counts.get(of) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const from = counts.has(turn) ? turn : null;
    for (const [id, kept] of this.#kept) if (from === null ? counts.get(kept.turn) === most : kept.turn === from) return id;
    throw new Error("nothing is kept");
  }
}

/** The publication in force at that time, or the named one if it was published by then. */
function find(publications: readonly Publication[], { at, snapshotId }: PastQuestion): Publication | undefined {
  const time = timestamp(at * 1_000);
  return publications.findLast((publication) => publication.at <= time && (snapshotId === null || publication.id === snapshotId));
}

function asPast({ manifest, sections }: LoadedSnapshot): LoadedSnapshot {
  const past = pastManifest(manifest);
  return { manifest: past, sections: Object.fromEntries(sectionsOf(past).map((name) => [name, sections[name]])) as LoadedSections };
}

function within(ms: number, done: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  void done.then(() => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
