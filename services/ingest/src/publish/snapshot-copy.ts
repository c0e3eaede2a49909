/** Ingest's own copy of the snapshot in service: it is put back when the store of snapshots lost everything. */

import { type Manifest, openFolderStore, type SnapshotStore } from "@netfacts/snapshot";

export interface SnapshotCopyDeps {
  /** Folder of the copy, for this process alone; made when something is first copied. */
  readonly folder: string;
  readonly store: SnapshotStore;
  /** Lets a published snapshot be served. */
  readonly activate: (id: string) => Promise<unknown>;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** Time between two looks at the store's pointer, in ms. Default: 2 s. */
  readonly lookMs?: number;
}

const lookMsDefault = 2_000;

/** Belongs to the leader: `start` when leading begins, `stop` when it ends. */
export class SnapshotCopy {
  readonly #deps: SnapshotCopyDeps;
  readonly #copy: SnapshotStore;
  /** One copy or restoration at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  /** The failure that was logged last: it is logged again when it is another. */
  #told = "";

  constructor(deps: SnapshotCopyDeps) {
    this.#deps = deps;
    this.#copy = openFolderStore(deps.folder, { manifestsKept: 1 });
  }

  start(): void {
    const { lookMs = lookMsDefault } = this.#deps;
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => {
        if (!this.#stopped) this.start();
      });
    }, lookMs).unref();
  }

  /** Ends when nothing of it is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#turn.catch(() => undefined);
  }

  /**
   * Puts the copy back where the store has no snapshot at all: with the same id and the same objects. Does nothing where it has one, or
   * where nothing was copied so far. Throws what the store throws: without an answer nobody knows what it holds.
   */
  restore(): Promise<void> {
    return this.#inTurn(() => this.#restore());
  }

  /** Restores what was lost, or copies what is in service. Never rejects. */
  async #look(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        const pointer = await this.#deps.store.pointer().catch(() => undefined);
        if (pointer === null) await this.#restore();
        else if (pointer?.active != null && (await this.#copy.currentId()) !== pointer.active) await this.#take(pointer.active);
      });
      this.#told = "";
    } catch (err) {
      const { message } = err as Error;
      if (message !== this.#told)
        this.#deps.log.warn({ err, folder: this.#deps.folder }, "ingest's own copy of the snapshot in service failed; retrying in seconds");
      this.#told = message;
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(
      () => (this.#stopped ? undefined : work()),
      () => (this.#stopped ? undefined : work()),
    );
    this.#turn = turn;
    return turn;
  }

  async #take(id: string): Promise<void> {
    const { store } = this.#deps;
    const manifest = await store.getManifest(id);
    for (const { object, bytes } of objectsOf(manifest)) {
      const isThere = await this.#copy.getObject(object, bytes).then(
        () => true,
        () => false,
      );
      if (!isThere) await this.#copy.putObject(await store.getObject(object, bytes));
    }
    await this.#copy.publish(manifest);
  }

  async #restore(): Promise<void> {
    const { store, activate, log } = this.#deps;
    if ((await store.pointer()) !== null) return;
    const id = await this.#copy.currentId();
    if (id === null) return;
    const manifest = await this.#copy.getManifest(id);
    for (const { object, bytes } of objectsOf(manifest)) await store.putObject(await this.#copy.getObject(object, bytes));
    await store.publish(manifest, { replaces: null });
    await activate(id);
    log.warn({ snapshot: id }, "the store of snapshots was empty; the snapshot in service was restored from ingest's own copy");
  }
}

function objectsOf({ sections, ingest_objects }: Manifest): { readonly object: string; readonly bytes: number }[] {
  return [...Object.values(sections), ...Object.values(ingest_objects)];
}
