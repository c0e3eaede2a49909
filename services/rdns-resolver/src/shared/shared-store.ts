/** Texts by key that outlive a process, and that replicas share: a cache, which may lose anything at any time. */

export interface SharedStore {
  /** The text that was put last; null: there is none. Rejects when that is not known within the time. */
  get(key: string, waitMs: number): Promise<string | null>;
  /** Keeps a text; one that cannot be kept is dropped. Keys are letters, digits, `-` and `.`. */
  put(key: string, text: string): void;
  close(): Promise<void>;
}

export interface SharedStoreOptions {
  /** What all texts together may take. The oldest leave first. */
  readonly bytesMax: number;
  /** No text stays longer. */
  readonly ageMaxSeconds: number;
  /** Called when the store cannot be used, and why. */
  readonly onFault: (reason: string) => void;
}
