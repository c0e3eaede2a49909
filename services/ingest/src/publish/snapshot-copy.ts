/** Ingest's own copy of the snapshot in service: what the store of snapshots loses of it is put back. */

import {
  type Manifest,
  openFolderStore,
  SnapshotError,
  type SnapshotStore,
  SnapshotUnavailableError,
  type TakenBackVersion,
} from "@netfacts/snapshot";

export interface SnapshotCopyDeps {
  /** Folder of the copy, for this process alone; made when something is first copied. */
  readonly folder: string;
  readonly store: SnapshotStore;
  /** Lets a published snapshot be served. */
  readonly activate: (id: string) => Promise<unknown>;
  /** Called when parts of the active snapshot were put back. */
  readonly repaired: (id: string) => void;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** Time between two looks at the store's pointer, in ms. Default: 2 s. */
  readonly lookMs?: number;
  /** Time after a copy that the folder did not take until the next one, in ms. Default: a minute. */
  readonly retryMs?: number;
}

const lookMsDefault = 2_000;
const retryMsDefault = 60_000;
/** Time between two complete reads for pods that refuse the snapshot although it is whole, in ms. */
const doubtIntervalMs = 60_000;

/** Belongs to the leader: `start` when leading begins, `stop` when it ends. */
export class SnapshotCopy {
  readonly #deps: SnapshotCopyDeps;
  readonly #copy: SnapshotStore;
  /** One copy or restoration at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** The failure that was logged last: it is logged again when it is another. */
  #reported = "";
  /** The failure of the last try to put something back. */
  #notTaken: unknown = null;
  /** The snapshot that this process copied last, and what was taken back then. */
  #copied = "";
  /** On the clock of `performance.now()`. */
  #noCopyBefore = Number.NEGATIVE_INFINITY;
  /** The snapshot that was whole in the store, and the mark of its objects then: it is read again when either differs. */
  #whole = { id: "", mark: "" };
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

  /** Resolves when nothing of it is under way: a copy ends after the object that it is reading. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#turn.catch(() => undefined);
  }

  /** A pod refuses the snapshot: the next look reads all of it, as files may rot without any sign. */
  doubt(id: string): void {
    const now = performance.now();
    if (id !== this.#whole.id || now - this.#doubtedAtMs < doubtIntervalMs) return;
    this.#doubtedAtMs = now;
    this.#whole = { id: "", mark: "" };
  }

  /**
   * Puts back what the store lacks of the copied snapshot, with the same id and the same objects: all of it where the store has no
   * pointer or a damaged one, else each part that is missing or damaged. Does nothing where another snapshot is active, or nothing was copied so far.
   * Throws `SnapshotUnavailableError`: without an answer nobody knows what the store holds; and when everything is lost and the copy
   * is damaged too. A part that both have lost is left to the next look, which reports it.
   */
  restore(): Promise<void> {
    return this.#inTurn(async () => {
      const missing = (await this.#deps.store.pointer()) === null;
      await this.#restore().catch((error: unknown) => {
        if (missing || error instanceof SnapshotUnavailableError) throw error;
      });
    });
  }

  /** Restores what was lost, and copies what is in service. Never rejects. */
  async #look(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        await this.#restore();
        const { store } = this.#deps;
        const active = (await store.pointer())?.active ?? null;
        if (active === null) return;
        const takenBack = await store.takenBack();
        const wanted = `${active} ${JSON.stringify(takenBack)}`;
        if (wanted === this.#copied || performance.now() < this.#noCopyBefore) return;
        await this.#take(active, takenBack);
        this.#copied = wanted;
      });
      // Until the next copy nothing is known of the last one's failure.
      if (performance.now() >= this.#noCopyBefore) this.#reported = "";
    } catch (err) {
      const { message } = err as Error;
      if (message !== this.#reported) this.#tell(err);
      this.#reported = message;
    }
  }

  #tell(err: unknown): void {
    const { folder, log } = this.#deps;
    if (err === this.#notTaken)
      log.warn(
        { err, folder },
        "the snapshot store lost data, and they cannot be restored from ingest's own copy yet; retrying in seconds",
      );
    // A store that is away has nothing to be restored or copied, and others say that it is away.
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
    const { store } = this.#deps;
    const manifest = await store.getManifest(id);
    for (const { object, bytes } of objectsOf(manifest)) {
      if (this.#stopped) return;
      const isThere = await this.#copy.getObject(object, bytes).then(
        () => true,
        () => false,
      );
      if (isThere) continue;
      const content = await store.getObject(object, bytes);
      await this.#keep(() => this.#copy.putObject(content));
    }
    await this.#keep(() => this.#copy.publish(manifest, { takenBack }));
  }

  /** A full disk is given its room back, for runs and for the lease that hangs on it; and nothing is read again at once that it cannot hold. */
  async #keep(write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#noCopyBefore = performance.now() + (this.#deps.retryMs ?? retryMsDefault);
      await this.#copy.discardUnpublished().catch(() => undefined);
      throw error;
    }
  }

  async #restore(): Promise<void> {
    const { store, activate, log } = this.#deps;
    const id = await this.#copy.currentId();
    if (id === null) return;
    const pointer = await store.pointer();
    if (pointer !== null) {
      if (pointer.active === id) await this.#repair(id, pointer.published === id);
      return;
    }
    // A store with a damaged pointer holds more than an empty one.
    const fault = await store.list().then(
      () => "empty",
      ({ message }: Error) => message,
    );
    const manifest = await this.#copy.getManifest(id);
    for (const { object, bytes } of objectsOf(manifest)) await this.#putBack(store.putObject(await this.#copy.getObject(object, bytes)));
    await this.#putBack(store.publish(manifest, { replaces: null, takenBack: await this.#copy.takenBack() }));
    await activate(id);
    log.warn({ snapshot: id, fault }, "the store of snapshots named no snapshot; the one in service was restored from ingest's own copy");
  }

  /** The store has answered a moment ago: where it fails now, nobody else says so. */
  async #putBack(write: Promise<unknown>): Promise<void> {
    try {
      await write;
    } catch (error) {
      this.#notTaken = error;
      throw error;
    }
  }

  /** @param isPublished  also the last one that was published: its manifest can be stored again. */
  async #repair(id: string, isPublished: boolean): Promise<void> {
    const { store, repaired, log } = this.#deps;
    const mark = await store.objectsMark();
    const manifest = await readable(store.getManifest(id));
    if (manifest !== null && this.#whole.id === id && this.#whole.mark === mark) return;
    const own = await this.#copy.getManifest(id);
    const lost: string[] = [];
    for (const { object, bytes } of objectsOf(own)) {
      if ((await readable(store.getObject(object, bytes))) !== null) continue;
      await this.#putBack(store.putObject(await this.#copy.getObject(object, bytes)));
      lost.push(object);
    }
    if (manifest === null && isPublished) {
      await this.#putBack(store.publish(own, { replaces: id }));
      lost.push("manifest");
    }
    if (lost.length === 0) {
      this.#whole = { id, mark };
      return;
    }
    repaired(id);
    log.warn(
      { snapshot: id, lost },
      "parts of the snapshot in service were missing or damaged in the store; restored from ingest's own copy",
    );
  }
}

/** null: missing or damaged. Throws when the store does not answer. */
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
