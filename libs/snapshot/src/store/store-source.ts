/** A description of a store that can be sent to another thread, which opens the same store. */

import { openFolderStore } from "./folder-store.ts";
import type { Retention } from "./retention.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/**
 * A folder, or a module that exports `openStore: OpenStore`; `options` must be cloneable between threads. `retention`: what publishing keeps; absent:
 * all snapshots that are kept so far.
 */
export type StoreSource =
  | { readonly kind: "folder"; readonly path: string; readonly retention?: Retention }
  | { readonly kind: "module"; readonly url: string; readonly options: unknown };

/** A store and the way to end its connection. */
export interface OpenedStore {
  readonly store: SnapshotStore;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** For work that no current answer waits for: the store may read at a bounded rate. Default: false. */
  readonly background?: boolean;
}

export type OpenStore = (options: unknown, how: OpenOptions) => Promise<OpenedStore>;

/** Loads the modules that `openStoreSource` needs, and opens nothing. If one cannot be loaded, `openStoreSource` reports it. */
export function prepareStoreSource(source: StoreSource): void {
  if (source.kind === "module") import(source.url).catch(() => undefined);
}

/** Opens a store with a connection of its own. Throws what the module throws. */
export async function openStoreSource(source: StoreSource, how: OpenOptions = {}): Promise<OpenedStore> {
  if (source.kind === "folder") {
    const { path, retention = null } = source;
    return { store: openFolderStore(path, { retention }), close: async () => undefined };
  }
  const { openStore } = (await import(source.url)) as { openStore: OpenStore };
  return openStore(source.options, how);
}
