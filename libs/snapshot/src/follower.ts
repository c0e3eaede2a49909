/** Follows the pointer of a store: loads what is published, serves what is active, and keeps what served before for a while. */

import { Generation, type LoadedSnapshot } from "./generation.ts";
import type { Ipv4IndexForm } from "./ipv4-index.ts";
import { type LoaderThreads, RefusedSnapshotError } from "./loader.ts";
import { lostSections, type Manifest } from "./manifest.ts";
import { type PointerWatch, type SnapshotPointer, type SnapshotStore, SnapshotUnavailableError } from "./store/snapshot-store.ts";

/** The generation in service, and those that a question may name. */
export interface DatasetHolder {
  /** null until the first snapshot is loaded. */
  current(): Generation | null;
  /** The generation of a snapshot, also one that served until a while ago or will soon; else whether it may still come, or is gone for good. */
  at(id: string): Generation | "not_yet" | "gone";
}

/** Called when something changed, or could not be. */
export interface FollowerEvents {
  /** A snapshot is loaded and waits to be activated; not called where publishing is activating. */
  prepared?(id: string, loadMs: number): void;
  /** A generation is in service from now on; `loadMs` is what loading it had taken. */
  activated?(generation: Generation, loadMs: number): void;
  /** A snapshot was refused; what served before still does, and its answers say that they are stale. */
  refused?(id: string, error: Error): void;
  /** Whether answers say that they are stale, as a newer snapshot was refused; at each change, and not before the first. */
  stale?(stale: boolean): void;
  /** The store did not answer while a snapshot was read; it is tried again. */
  unavailable?(id: string, error: Error): void;
}

export interface FollowerOptions {
  /** How long a generation stays after it was replaced, for questions that name it. */
  readonly keepMs?: number;
  /** When a refused snapshot is tried again while the pointer does not move: it may have been repaired. */
  readonly retryRefusedMs?: number;
  /** The same when the store did not answer. */
  readonly retryUnavailableMs?: number;
  /** The form of the IPv4 index of routes. */
  readonly ipv4Index?: Ipv4IndexForm;
  /** Whether names are indexed for search. Default: false. */
  readonly words?: boolean;
}

export const followerDefaults = {
  keepMs: 60_000,
  retryRefusedMs: 60_000,
  retryUnavailableMs: 2_000,
  ipv4Index: "auto",
  words: false,
} as const;

/** Ids that are remembered as gone. Older ones are told by the time in them. */
const goneMax = 256;
/** Digits of an id that tell its time. */
const timeDigits = 16;

interface Held {
  readonly loaded: LoadedSnapshot;
  readonly generation: Generation;
  readonly loadMs: number;
  /** `performance.now()` from which it is not needed any more; null: not replaced. */
  dropAtMs: number | null;
}

interface Failure {
  readonly failedAtMs: number;
  readonly retryAtMs: number;
  readonly manifest: Manifest | null;
  /** The snapshot is at fault; else the store did not answer. */
  readonly refused: boolean;
}

/** What a follower has come to, for reports. */
export interface FollowerState {
  readonly serving: string | null;
  /** The snapshot that was loaded or refused last. */
  readonly last: { readonly id: string; readonly outcome: "loaded" | "refused"; readonly reason: string | null } | null;
}

/**
 * Holds the generation in service. Loading happens in a worker, one snapshot at a time, and swapping is one reference. A snapshot
 * that cannot be loaded is refused and told; it is tried again when the pointer moves and after a while.
 */
export class SnapshotFollower implements DatasetHolder {
  readonly #store: SnapshotStore;
  readonly #loader: LoaderThreads;
  readonly #options: Required<FollowerOptions>;
  readonly #listeners: FollowerEvents[];
  readonly #stopping = new AbortController();
  readonly #held = new Map<string, Held>();
  readonly #failures = new Map<string, Failure>();
  #gone: string[] = [];
  #pointer: SnapshotPointer | null = null;
  #current: Generation | null = null;
  #last: FollowerState["last"] = null;
  #stale = false;
  #watch: PointerWatch | null = null;
  #working: Promise<void> | null = null;
  /** Something moved while working: the round that ends may not have seen it. */
  #again = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param loader  of the same store; it is closed by `stop`. */
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
    return oldest !== undefined && id.slice(0, timeDigits) < oldest.slice(0, timeDigits) ? "gone" : "not_yet";
  }

  /** Everything that is in memory, with what is loaded and not in service. */
  held(): readonly LoadedSnapshot[] {
    return [...this.#held.values()].map(({ loaded }) => loaded);
  }

  state(): FollowerState {
    return { serving: this.#current?.id ?? null, last: this.#last };
  }

  /** Tells these too from now on. */
  listen(events: FollowerEvents): void {
    this.#listeners.push(events);
  }

  /**
   * Loads the active snapshot, if there is one, and follows from then on. One that is damaged is refused, and the newest of the
   * kept ones that can be loaded serves. Resolves when the first tries are over, also without any when the store does not answer.
   */
  async start(): Promise<void> {
    this.#watch = this.#store.watch((pointer) => this.#follow(pointer));
    await this.look();
    await this.#working;
  }

  /**
   * Reads the pointer now, from `start` on: for a hint that it moved. Resolves when that is done; loading goes on.
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

  /** Follows no more and gives up what is being loaded; what serves goes on serving. */
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

  /** What is published again, as by a rollback, may be held still: whoever waits for it to be loaded is told at once. */
  #tellHeld({ published, active }: SnapshotPointer): void {
    const held = this.#held.get(published);
    if (held === undefined || published === active) return;
    this.#last = { id: published, outcome: "loaded", reason: null };
    this.#tell((events) => events.prepared?.(published, held.loadMs));
  }

  /** Works until there is nothing to load; what moves meanwhile is seen by the same round. */
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
      // A kept one, in place of what the pointer names: before it is let go as not needed.
      if (this.#current === null && this.#held.has(next) && !this.#named(next)) this.#serve(next);
      this.#serveActive();
    }
  }

  /** What is active comes first, then what is published; with neither to be had and nothing in service, the newest kept one. */
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
      // What is wrong with one that cannot be had is the loader's to tell.
      const manifest = await this.#store.getManifest(id).catch(() => null);
      if (manifest !== null) this.#checkComplete(manifest);
      const loading = { reuse, ipv4Index: this.#options.ipv4Index, words: this.#options.words, manifest };
      const loaded = await this.#loader.load(id, loading, this.#stopping.signal);
      this.#checkComplete(loaded.manifest);
      const loadMs = performance.now() - started;
      this.#held.set(id, { loaded, generation: Generation.of(loaded), loadMs, dropAtMs: null });
      this.#failures.delete(id);
      this.#last = { id, outcome: "loaded", reason: null };
      if (this.#pointer?.active !== id && this.#named(id)) this.#tell((events) => events.prepared?.(id, loadMs));
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#fail(id, error as Error);
    }
  }

  /** Data that serve are not given up for none, unless somebody meant it. */
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
    // A store that is away takes nothing back of what it told before.
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

  /** What serves although a newer one was refused says so in its answers. */
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
    for (const [id, { dropAtMs }] of this.#held) {
      if (id === this.#current?.id || this.#named(id) || (dropAtMs !== null && dropAtMs > now)) continue;
      this.#held.delete(id);
      if (dropAtMs !== null) this.#gone = [...this.#gone, id].slice(-goneMax);
    }
    for (const id of this.#failures.keys()) if (this.#current !== null && !this.#named(id)) this.#failures.delete(id);
  }

  /** Until the next generation is to be dropped or the next failure to be tried again. */
  #sleep(): void {
    clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    const times = [
      ...[...this.#held.values()].flatMap(({ dropAtMs }) => dropAtMs ?? []),
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
