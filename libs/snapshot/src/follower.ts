/** Follows the pointer of a store: loads the published snapshot, serves the active one, and keeps replaced ones for a while. */

import { Generation, type LoadedSnapshot } from "./generation.ts";
import type { Ipv4IndexForm } from "./ipv4-index.ts";
import { buffersOf, bytesOf } from "./loaded-memory.ts";
import { type LoaderThreads, RefusedSnapshotError } from "./loader.ts";
import { lostSections, type Manifest } from "./manifest.ts";
import { ReleasedMemory } from "./released-memory.ts";
import { type PointerWatch, type SnapshotPointer, type SnapshotStore, SnapshotUnavailableError } from "./store/snapshot-store.ts";

/** The generation in service, and the others that a question may name. */
export interface DatasetHolder {
  /** null until the first snapshot is loaded. */
  current(): Generation | null;
  /** The generation of a snapshot: in service, replaced a while ago, or not active yet. Otherwise whether it may still come or is gone for good. */
  at(id: string): Generation | "not_yet" | "gone";
}

/** Called when something changed, or failed to change. */
export interface FollowerEvents {
  /** A snapshot is loaded and waits to be activated; not called where a published snapshot is active at once. */
  prepared?(id: string, loadMs: number): void;
  /** A generation is in service from now on; `loadMs` is the time that loading it took. */
  activated?(generation: Generation, loadMs: number): void;
  /** A snapshot was refused. The one in service goes on serving, and its answers say that they are stale. */
  refused?(id: string, error: Error): void;
  /** Whether answers say that they are stale because a newer snapshot was refused. Called at each change, and not before the first. */
  stale?(stale: boolean): void;
  /** The store did not answer while a snapshot was read; it is tried again. */
  unavailable?(id: string, error: Error): void;
}

export interface FollowerOptions {
  /** Time that a replaced generation is kept for questions that name it. */
  readonly keepMs?: number;
  /**
   * Memory that replaced generations may take beyond as much as the one in service takes, in bytes. Sections that are also in service do not count.
   * Before they take more, the ones that were replaced first are dropped; the last one stays.
   */
  readonly spareBytes?: number;
  /** Time after which a refused snapshot is tried again while the pointer does not move: it may have been repaired. */
  readonly retryRefusedMs?: number;
  /** Time after which a snapshot is tried again if the store did not answer. */
  readonly retryUnavailableMs?: number;
  /** The form of the IPv4 index of routes. */
  readonly ipv4Index?: Ipv4IndexForm;
  /** Whether names are indexed for search. Default: false. */
  readonly words?: boolean;
}

export const followerDefaults = {
  keepMs: 60_000,
  spareBytes: 64 * 2 ** 20,
  retryRefusedMs: 60_000,
  retryUnavailableMs: 2_000,
  ipv4Index: "auto",
  words: false,
} as const;

/** Most ids that are remembered as gone. Older ids are recognised by the time in them, others by the pointer. */
const goneMax = 256;
/** Digits of an id that give its time. */
const timeDigits = 16;

interface Held {
  readonly loaded: LoadedSnapshot;
  readonly generation: Generation;
  readonly loadMs: number;
  /** Time from which it may be dropped, on the clock of `performance.now()`; null: it was not replaced. */
  dropAtMs: number | null;
}

interface Failure {
  readonly failedAtMs: number;
  readonly retryAtMs: number;
  readonly manifest: Manifest | null;
  /** True: the snapshot is at fault. False: the store did not answer. */
  readonly refused: boolean;
}

/** State of a follower, for reports. */
export interface FollowerState {
  readonly serving: string | null;
  /** The snapshot that was loaded or refused last. */
  readonly last: { readonly id: string; readonly outcome: "loaded" | "refused"; readonly reason: string | null } | null;
}

/**
 * Holds the generation in service. A worker loads one snapshot at a time, and a swap replaces one reference. A snapshot that cannot be loaded is
 * refused and reported; it is tried again when the pointer moves and after a while.
 */
export class SnapshotFollower implements DatasetHolder {
  readonly #store: SnapshotStore;
  readonly #loader: LoaderThreads;
  readonly #options: Required<FollowerOptions>;
  readonly #listeners: FollowerEvents[];
  readonly #stopping = new AbortController();
  readonly #held = new Map<string, Held>();
  readonly #failures = new Map<string, Failure>();
  readonly #memory = new ReleasedMemory();
  #gone: string[] = [];
  #pointer: SnapshotPointer | null = null;
  #current: Generation | null = null;
  #last: FollowerState["last"] = null;
  #stale = false;
  #watch: PointerWatch | null = null;
  #working: Promise<void> | null = null;
  /** Something changed during the current round, which may not have seen it. */
  #again = false;
  #seeking = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param loader  loads from the same store; `stop` closes it. */
  constructor(store: SnapshotStore, loader: LoaderThreads, events: FollowerEvents = {}, options: FollowerOptions = {}) {
    this.#store = store;
    this.#loader = loader;
    this.#listeners = [events];
    this.#options = { ...followerDefaults, ...options };
  }

  current(): Generation | null {
    return this.#current;
  }

  at(id: string): Generation | "not_yet" | "gone" {
    if (this.#current?.id === id) return this.#current;
    const held = this.#held.get(id);
    if (held !== undefined) return held.generation;
    if (this.#gone.includes(id)) return "gone";
    const [oldest] = [...this.#held.keys()].sort();
    if (oldest !== undefined && id.slice(0, timeDigits) < oldest.slice(0, timeDigits)) return "gone";
    this.#seek(id);
    return "not_yet";
  }

  /** All snapshots in memory, including those that are loaded and not in service. */
  held(): readonly LoadedSnapshot[] {
    return [...this.#held.values()].map(({ loaded }) => loaded);
  }

  state(): FollowerState {
    return { serving: this.#current?.id ?? null, last: this.#last };
  }

  /** Adds a listener. */
  listen(events: FollowerEvents): void {
    this.#listeners.push(events);
  }

  /**
   * Loads the active snapshot, if there is one, and follows the pointer from then on. If the active one is damaged, it is refused, and the newest
   * kept one that can be loaded serves. Resolves when the first attempts are over; if the store does not answer, there are none.
   */
  async start(): Promise<void> {
    this.#watch = this.#store.watch((pointer) => this.#follow(pointer));
    await this.look();
    await this.#working;
  }

  /**
   * Reads the pointer now; call it after `start`, on a hint that the pointer moved. Resolves when the pointer was read; loading goes on.
   *
   * @param hinted  a snapshot that may have been repaired. If it was refused, it is tried again as soon as after a store that did not answer.
   */
  async look(hinted?: string): Promise<void> {
    const failure = hinted === undefined ? undefined : this.#failures.get(hinted);
    if (hinted !== undefined && failure !== undefined)
      this.#failures.set(hinted, {
        ...failure,
        retryAtMs: Math.min(failure.retryAtMs, failure.failedAtMs + this.#options.retryUnavailableMs),
      });
    await this.#watch?.look();
    if (failure !== undefined) this.#advance();
  }

  /** Stops following and cancels loading. The generation in service goes on serving. */
  stop(): void {
    this.#watch?.stop();
    this.#watch = null;
    clearTimeout(this.#timer);
    this.#stopping.abort(new Error("the follower was stopped"));
    void this.#loader.close();
  }

  #follow(pointer: SnapshotPointer): void {
    if (this.#stopping.signal.aborted) return;
    const isNew = pointer.published !== this.#pointer?.published;
    if (isNew) this.#failures.delete(pointer.published);
    this.#pointer = pointer;
    if (isNew) this.#tellHeld(pointer);
    this.#serveActive();
    this.#advance();
  }

  /** A snapshot that is published again, for example by a rollback, may still be in memory: reports it as loaded at once. */
  #tellHeld({ published, active }: SnapshotPointer): void {
    const held = this.#held.get(published);
    if (held === undefined || published === active) return;
    this.#last = { id: published, outcome: "loaded", reason: null };
    this.#tell((events) => events.prepared?.(published, held.loadMs));
  }

  /**
   * Finds out whether an unknown snapshot is one of before this process, whose id may be as late as the current one: ids have the time of data, and a
   * rollback goes to earlier data. It is, if the pointer names the current one alone.
   */
  #seek(id: string): void {
    if (this.#current === null || this.#seeking) return;
    this.#seeking = true;
    void this.#store
      .pointer()
      .catch(() => null)
      .then((pointer) => {
        this.#seeking = false;
        if (pointer?.active === this.#current?.id && pointer?.published !== id && !this.#held.has(id)) this.#addGone(id);
      });
  }

  #addGone(id: string): void {
    this.#gone = [...this.#gone, id].slice(-goneMax);
  }

  /** Works until there is nothing to load. A change meanwhile is handled by the same run. */
  #advance(): void {
    if (this.#working !== null) {
      this.#again = true;
      return;
    }
    this.#working = this.#work().finally(() => {
      this.#working = null;
      if (this.#again) {
        this.#again = false;
        this.#advance();
      } else this.#sleep();
    });
  }

  async #work(): Promise<void> {
    for (let next = await this.#next(); next !== null && !this.#stopping.signal.aborted; next = await this.#next()) {
      await this.#load(next);
      // An older snapshot stands in for the one that the pointer names. Serve it now: `#serveActive` would drop it as not needed.
      if (this.#current === null && this.#held.has(next) && !this.#named(next)) this.#serve(next);
      this.#serveActive();
    }
  }

  /** The next snapshot to load: the active one, then the published one. If neither can be loaded and nothing is in service, the newest kept one. */
  async #next(): Promise<string | null> {
    const wanted = [this.#pointer?.active ?? null, this.#pointer?.published ?? null];
    const named = wanted.find((id) => id !== null && this.#isDue(id));
    if (named !== undefined) return named;
    if (this.#current !== null || this.#pointer === null || wanted[0] === null) return null;
    const kept = await this.#store.list().catch(() => []);
    return kept.reverse().find((id) => this.#isDue(id)) ?? null;
  }

  #named(id: string): boolean {
    return id === this.#pointer?.active || id === this.#pointer?.published;
  }

  #isDue(id: string): boolean {
    const failure = this.#failures.get(id);
    return !this.#held.has(id) && (failure === undefined || failure.retryAtMs <= performance.now());
  }

  async #load(id: string): Promise<void> {
    const started = performance.now();
    try {
      const reuse = this.held();
      // If the manifest cannot be read, the loader reports why.
      const manifest = await this.#store.getManifest(id).catch(() => null);
      if (manifest !== null) this.#checkComplete(manifest);
      const loading = { reuse, ipv4Index: this.#options.ipv4Index, words: this.#options.words, manifest };
      const loaded = await this.#loader.load(id, loading, this.#stopping.signal);
      this.#checkComplete(loaded.manifest);
      const loadMs = performance.now() - started;
      this.#memory.watch(buffersOf(loaded));
      this.#held.set(id, { loaded, generation: Generation.of(loaded), loadMs, dropAtMs: null });
      this.#failures.delete(id);
      this.#last = { id, outcome: "loaded", reason: null };
      if (this.#pointer?.active !== id && this.#named(id)) this.#tell((events) => events.prepared?.(id, loadMs));
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#fail(id, error as Error);
    }
  }

  /** Refuses a snapshot that lacks sections in service, unless they were removed on purpose. */
  #checkComplete(manifest: Manifest): void {
    const lost = this.#current === null ? [] : lostSections(this.#current.manifest, manifest);
    if (lost.length > 0)
      throw new RefusedSnapshotError(`snapshot ${manifest.id} lacks sections in service that nobody removed: ${lost.join(", ")}`, manifest);
  }

  #fail(id: string, error: Error): void {
    const refused = !(error instanceof SnapshotUnavailableError);
    const failedAtMs = performance.now();
    const retryAtMs = failedAtMs + (refused ? this.#options.retryRefusedMs : this.#options.retryUnavailableMs);
    const manifest = error instanceof RefusedSnapshotError ? error.manifest : null;
    // A store that does not answer does not undo an earlier refusal.
    const before = refused ? undefined : this.#failures.get(id);
    this.#failures.set(id, {
      failedAtMs,
      retryAtMs,
      manifest: manifest ?? before?.manifest ?? null,
      refused: refused || before?.refused === true,
    });
    if (refused) this.#last = { id, outcome: "refused", reason: error.message };
    this.#showStale();
    this.#tell((events) => (refused ? events.refused?.(id, error) : events.unavailable?.(id, error)));
  }

  #serveActive(): void {
    const active = this.#pointer?.active ?? null;
    if (active !== null && active !== this.#current?.id && this.#held.has(active)) this.#serve(active);
    else this.#showStale();
    this.#letGo();
  }

  #serve(id: string): void {
    const held = this.#held.get(id) as Held;
    const before = this.#current === null ? undefined : this.#held.get(this.#current.id);
    if (before !== undefined) before.dropAtMs = performance.now() + this.#options.keepMs;
    held.dropAtMs = null;
    this.#gone = this.#gone.filter((gone) => gone !== id);
    this.#current = held.generation;
    this.#showStale();
    this.#tell((events) => events.activated?.(held.generation, held.loadMs));
  }

  /** Marks the generation in service as stale if a newer snapshot was refused. */
  #showStale(): void {
    const held = this.#current === null ? undefined : this.#held.get(this.#current.id);
    if (held === undefined) return;
    const newer = this.#pointer?.published ?? held.generation.id;
    const failure = newer === held.generation.id ? undefined : this.#failures.get(newer);
    if (failure?.refused !== true) this.#current = held.generation;
    else if (this.#current === held.generation) this.#current = held.generation.overtakenBy(failure.manifest);
    const stale = failure?.refused === true;
    if (stale === this.#stale) return;
    this.#stale = stale;
    this.#tell((events) => events.stale?.(stale));
  }

  #letGo(): void {
    const now = performance.now();
    const surplus = this.#surplus();
    const heldBefore = this.#held.size;
    for (const [id, held] of this.#held) {
      const { dropAtMs } = held;
      if (id === this.#current?.id || this.#named(id) || (dropAtMs !== null && dropAtMs > now && !surplus.has(held))) continue;
      this.#held.delete(id);
      if (dropAtMs !== null) this.#addGone(id);
    }
    if (this.#held.size < heldBefore) this.#memory.collectSoon(bytesOf(new Set(this.held().flatMap(buffersOf))));
    // With nothing in service, other kept snapshots are tried too. A failure whose time is over would set a timer again and again.
    for (const [id, { retryAtMs }] of this.#failures)
      if (!this.#named(id) && (this.#current !== null || retryAtMs <= now)) this.#failures.delete(id);
  }

  /** Replaced generations that take more memory than they may, which happens when snapshots are published in quick succession. */
  #surplus(): ReadonlySet<Held> {
    const serving = this.#current === null ? undefined : this.#held.get(this.#current.id);
    const replaced = [...this.#held.values()].filter(({ dropAtMs }) => dropAtMs !== null);
    if (serving === undefined || replaced.length < 2) return new Set();
    const counted = new Set(buffersOf(serving.loaded));
    const bytesMax = 2 * bytesOf(counted) + this.#options.spareBytes;
    const newestFirst = replaced.sort((one, other) => (other.dropAtMs ?? 0) - (one.dropAtMs ?? 0));
    return new Set(
      newestFirst.filter((held, index) => {
        for (const buffer of buffersOf(held.loaded)) counted.add(buffer);
        return index > 0 && bytesOf(counted) > bytesMax;
      }),
    );
  }

  /** Sets the timer for the next generation to drop or the next failure to try again. */
  #sleep(): void {
    clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    const times = [
      // One that the pointer names is not dropped, however long it waits to be activated: a timer for it would run again and again.
      ...[...this.#held].flatMap(([id, { dropAtMs }]) => (this.#named(id) ? [] : (dropAtMs ?? []))),
      ...[...this.#failures.values()].map(({ retryAtMs }) => retryAtMs),
    ];
    if (times.length === 0) return;
    this.#timer = setTimeout(
      () => {
        this.#letGo();
        this.#advance();
      },
      Math.max(1, Math.ceil(Math.min(...times) - performance.now())),
    );
    this.#timer.unref();
  }

  #tell(call: (events: FollowerEvents) => void): void {
    for (const events of this.#listeners) call(events);
  }
}
