/** Ingest's own copy of the snapshot in service. Parts that the snapshot store loses are restored from it. */

import {
  type Manifest,
  openFolderStore,
  SnapshotError,
  type SnapshotStore,
  SnapshotUnavailableError,
  type TakenBackVersion,
} from "@netfacts/snapshot";

export interface SnapshotCopyDeps {
  /** Folder of the copy. It is created with the first copy. Only the leader writes to it, and an earlier one that does not know yet that it is none. */
  readonly folder: string;
  readonly store: SnapshotStore;
  /** Activates a published snapshot. */
  readonly activate: (id: string) => Promise<unknown>;
  /** Called after parts of the active snapshot were restored. */
  readonly repaired: (id: string) => void;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** Time between two checks of the store's pointer, in ms. Default: 2 s. */
  readonly lookMs?: number;
  /** Time after a copy that could not be written until the next one, in ms. Default: a minute. */
  readonly retryMs?: number;
  /** Time after which objects that were found intact are read again, in the copy and in the store, in ms. Default: a day. */
  readonly readAgainMs?: number;
}

const lookMsDefault = 2_000;
const retryMsDefault = 60_000;
/** Objects can decay without any sign. They are hundreds of megabytes, which not every publication should read. */
const readAgainMsDefault = 86_400_000;
/** Shortest time between two complete reads that pods cause by refusing an intact snapshot, in ms. */
const doubtIntervalMs = 60_000;

/** Used by the leader only: call `start` when a term begins, and `stop` when it ends. */
export class SnapshotCopy {
  readonly #deps: SnapshotCopyDeps;
  readonly #copy: SnapshotStore;
  /** The last queued copy or restoration: there is one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** The failure that was logged last. Only a different one is logged again. */
  #reported = "";
  /** The failure of the last attempt to restore something. */
  #notTaken: unknown = null;
  /** The snapshot that this process copied last, with the versions that were taken back at that time. */
  #copied = "";
  /** On the clock of `performance.now()`. */
  #noCopyBefore = Number.NEGATIVE_INFINITY;
  /** The objects of the copy, the mark of its files when it was written, and the time at which this process last read or wrote all of them. */
  #own = { objects: new Set<string>(), mark: "", readAtMs: Number.NEGATIVE_INFINITY };
  /** The snapshot that was last found intact in the store, and the mark of its objects. It is read again if either differs. */
  #whole = { id: "", mark: "" };
  /** Objects of the store that this process has read and found intact: the mark that each had before, and when it was read. */
  #intact = new Map<string, { readonly mark: string; readonly readAtMs: number }>();
  #doubtedAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: SnapshotCopyDeps) {
    this.#deps = deps;
    this.#copy = openFolderStore(deps.folder, { retention: { last: 1, days: 0 } });
  }

  start(): void {
    const { lookMs = lookMsDefault } = this.#deps;
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => {
        if (!this.#stopped) this.start();
      });
    }, lookMs).unref();
  }

  /** Resolves when no work is in progress. A copy stops after the object that it is reading. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#turn.catch(() => undefined);
  }

  /** Call it when a pod refuses the snapshot. The next check reads all of it, because files can decay without any sign. */
  doubt(id: string): void {
    const now = performance.now();
    if (id !== this.#whole.id || now - this.#doubtedAtMs < doubtIntervalMs) return;
    this.#doubtedAtMs = now;
    this.#whole = { id: "", mark: "" };
    this.#intact.clear();
  }

  /**
   * Restores what the store lacks of the copied snapshot, with the same id and the same objects: all of it if the store has no pointer
   * or a damaged one, else each part that is missing or damaged. Does nothing if another snapshot is active, or if nothing was copied yet.
   * Throws `SnapshotUnavailableError` if the store does not answer, because its content is then unknown. Throws `SnapshotError` if the
   * store has lost everything and the copy is damaged too. A part that both have lost is left to the next check, which reports it.
   */
  restore(): Promise<void> {
    return this.#inTurn(async () => {
      const missing = (await this.#deps.store.pointer()) === null;
      await this.#restore().catch((error: unknown) => {
        if (missing || error instanceof SnapshotUnavailableError) throw error;
      });
    });
  }

  /** Restores what was lost, and copies the snapshot in service. Never rejects. */
  async #look(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        await this.#restore();
        const { store } = this.#deps;
        const active = (await store.pointer())?.active ?? null;
        if (active === null) return;
        const takenBack = await store.takenBack();
        const wanted = `${active} ${JSON.stringify(takenBack)}`;
        if ((wanted === this.#copied && (await this.#isAsWritten(active))) || performance.now() < this.#noCopyBefore) return;
        await this.#take(active, takenBack);
        this.#copied = wanted;
      });
      // Until the next copy it is unknown whether the reason of the last failure remains.
      if (performance.now() >= this.#noCopyBefore) this.#reported = "";
    } catch (err) {
      const { message } = err as Error;
      if (message !== this.#reported) this.#tell(err);
      this.#reported = message;
    }
  }

  /** Whether nobody else wrote to the copy: on a shared volume an earlier leader that was frozen may put its own snapshot there when it goes on. */
  async #isAsWritten(active: string): Promise<boolean> {
    return (await this.#copy.currentId()) === active && (await this.#copy.objectsMark()) === this.#own.mark;
  }

  #tell(err: unknown): void {
    const { folder, log } = this.#deps;
    if (err === this.#notTaken)
      log.warn(
        { err, folder },
        "the snapshot store lost data, and they cannot be restored from ingest's own copy yet; retrying in seconds",
      );
    // An unavailable store is reported elsewhere, and nothing can be restored or copied.
    else if (!(err instanceof SnapshotUnavailableError))
      log.warn({ err, folder }, "ingest's own copy of the snapshot in service failed; retrying within a minute");
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(
      () => (this.#stopped ? undefined : work()),
      () => (this.#stopped ? undefined : work()),
    );
    this.#turn = turn;
    return turn;
  }

  async #take(id: string, takenBack: readonly TakenBackVersion[]): Promise<void> {
    const { store, readAgainMs = readAgainMsDefault } = this.#deps;
    const manifest = await store.getManifest(id);
    const now = performance.now();
    const { objects, mark, readAtMs } = this.#own;
    const isKnown = now - readAtMs < readAgainMs && (await this.#copy.objectsMark()) === mark;
    for (const { object, bytes } of objectsOf(manifest)) {
      if (this.#stopped) return;
      if (isKnown && objects.has(object)) continue;
      const isThere = await this.#copy.getObject(object, bytes).then(
        () => true,
        () => false,
      );
      if (isThere) continue;
      const content = await this.#readIntact(object, bytes);
      await this.#keep(() => this.#copy.putObject(content));
    }
    if (this.#stopped) return;
    await this.#keep(() => this.#copy.publish(manifest, { takenBack }));
    const written = objectsOf(manifest).map(({ object }) => object);
    const markNow = await this.#copy.objectsMark();
    const isWhole = !(await Promise.all(written.map((object) => this.#copy.objectMark(object)))).includes("");
    this.#own = {
      objects: new Set(written),
      mark: isWhole ? markNow : "not whole",
      readAtMs: isKnown ? readAtMs : now,
    };
  }

  /** On failure frees the space of the unfinished copy, because runs and the lease need it, and delays the next copy, which would fail again. */
  async #keep(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#noCopyBefore = performance.now() + (this.#deps.retryMs ?? retryMsDefault);
      await this.#copy.discardUnpublished().catch(() => undefined);
      throw error;
    }
  }

  /** Publishes with `isAlone: false`: an import may have stored objects that it has not published yet. */
  async #restore(): Promise<void> {
    const { store, activate, log } = this.#deps;
    const id = await this.#copy.currentId();
    if (id === null) return;
    const pointer = await store.pointer();
    if (pointer !== null) {
      if (pointer.active === id) await this.#repair(id, pointer.published === id);
      return;
    }
    // For the log: a store with a damaged pointer is not empty.
    const fault = await store.list().then(
      () => "empty",
      ({ message }: Error) => message,
    );
    const manifest = await this.#copy.getManifest(id);
    for (const { object, bytes } of objectsOf(manifest)) await this.#putBack(store.putObject(await this.#copy.getObject(object, bytes)));
    await this.#putBack(store.publish(manifest, { replaces: null, isAlone: false, takenBack: await this.#copy.takenBack() }));
    await activate(id);
    log.warn({ snapshot: id, fault }, "the store of snapshots named no snapshot; the one in service was restored from ingest's own copy");
  }

  /** Keeps the failure for the log. The store has just answered, so nothing else reports it. */
  async #putBack(write: Promise<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      this.#notTaken = error;
      throw error;
    }
  }

  /** Reads an object of the store, and remembers that it is intact. Throws as `getObject`. */
  async #readIntact(object: string, bytes: number): Promise<Uint8Array> {
    const { store } = this.#deps;
    const readAtMs = performance.now();
    const mark = await store.objectMark(object);
    const content = await store.getObject(object, bytes);
    this.#intact.set(object, { mark, readAtMs });
    return content;
  }

  async #isKnownIntact(object: string): Promise<boolean> {
    const { store, readAgainMs = readAgainMsDefault } = this.#deps;
    const known = this.#intact.get(object);
    if (known === undefined || performance.now() - known.readAtMs >= readAgainMs) return false;
    return (await store.objectMark(object)) === known.mark;
  }

  /**
   * Restores parts of the active snapshot. Reads the objects that this process has not found intact within a day, or whose mark has changed:
   * after a publication none, because `#take` has read the new ones. All of a full table are 150 MiB, which take 1 s of both processes
   * (docs/decisions/0096-objects-found-intact-are-not-read-again.md).
   *
   * @param isPublished  whether it is also the last published snapshot, whose manifest can be stored again.
   */
  async #repair(id: string, isPublished: boolean): Promise<void> {
    const { store, repaired, log } = this.#deps;
    const mark = await store.objectsMark();
    const manifest = await readable(store.getManifest(id));
    if (manifest !== null && this.#whole.id === id && this.#whole.mark === mark) return;
    const own = await this.#copy.getManifest(id);
    const lost: string[] = [];
    for (const { object, bytes } of objectsOf(own)) {
      if ((await this.#isKnownIntact(object)) || (await readable(this.#readIntact(object, bytes))) !== null) continue;
      await this.#putBack(store.putObject(await this.#copy.getObject(object, bytes)));
      lost.push(object);
    }
    if (manifest === null && isPublished) {
      await this.#putBack(store.publish(own, { replaces: id, isAlone: false }));
      lost.push("manifest");
    }
    if (lost.length === 0) {
      this.#whole = { id, mark };
      const named = new Set(objectsOf(own).map(({ object }) => object));
      for (const object of this.#intact.keys()) if (!named.has(object)) this.#intact.delete(object);
      return;
    }
    repaired(id);
    log.warn(
      { snapshot: id, lost },
      "parts of the snapshot in service were missing or damaged in the store; restored from ingest's own copy",
    );
  }
}

/** Null if missing or damaged. Throws if the store does not answer. */
async function readable<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof SnapshotUnavailableError || !(error instanceof SnapshotError)) throw error;
    return null;
  }
}

function objectsOf({ sections, ingest_objects }: Manifest): { readonly object: string; readonly bytes: number }[] {
  return [...Object.values(sections), ...Object.values(ingest_objects)];
}
