/** Cache of texts by key that outlives a process and is shared by replicas. It may lose any text at any time. */

export interface SharedStore {
  /** The last text; null: there is none. Rejects if the store does not answer in time. */
  get(key: string, waitMs: number): Promise<string | null>;
  /** Stores a text, or drops it if that is not possible. Keys are letters, digits, `-` and `.`. */
  put(key: string, text: string): void;
  close(): Promise<void>;
}

export interface SharedStoreOptions {
  /** Maximum size of all texts together. The oldest are removed first. */
  readonly bytesMax: number;
  /** Maximum age of a text. */
  readonly ageMaxSeconds: number;
  /** Called with the reason when the store cannot be used. */
  readonly onFault: (reason: string) => void;
}
