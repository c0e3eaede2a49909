/** Stores of snapshots: objects by digest, manifests by id, and one pointer to the manifests in use. */

import type { Manifest } from "../manifest.ts";
import type { Publication } from "./retention.ts";
import type { TakenBack } from "./taken-back.ts";

/** Content of the pointer. If only one process follows it, both are always the same. */
export interface SnapshotPointer {
  /** The snapshot that was published last: followers load it. */
  readonly published: string;
  /** The snapshot to serve: the previous one until followers had time to load the new one; null before the first. */
  readonly active: string | null;
}

export interface PublishOptions {
  /**
   * The id that the publisher found current when it began, null for none. If another one is current by now, the publisher lost the race. Absent: it
   * loses only to a publication during the call itself.
   */
  readonly replaces?: string | null;
  /**
   * False: another publisher may be storing objects that no manifest names yet. Then only manifests that are not kept are removed, with the objects
   * that no other manifest names. Default: true.
   */
  readonly isAlone?: boolean;
  /** Versions that operators took back, from now on. Default: unchanged. */
  readonly takenBack?: TakenBack;
}

/** The bytes of an object: whole, or in consecutive pieces. */
export type ObjectBytes = Uint8Array | readonly Uint8Array[];

/** The pieces of an object that are not empty, and their total length. */
export function piecesOf(bytes: ObjectBytes): { readonly pieces: readonly Uint8Array[]; readonly length: number } {
  const pieces = [bytes].flat().filter((piece) => piece.length > 0);
  return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}

/** Snapshots behind one interface: a folder, a pack, or the object store of a message server. */
export interface SnapshotStore {
  /** Stores an object under its SHA-256 (64 hex digits), which it returns. An object that exists is not written again, unless it is damaged. */
  putObject(bytes: ObjectBytes): Promise<string>;
  /**
   * Reads an object into shared memory and checks its digest.
   *
   * Throws `SnapshotError`: missing, short, or damaged; `SnapshotUnavailableError` when the store does not answer.
   */
  getObject(digest: string, bytes: number): Promise<Uint8Array<SharedArrayBuffer>>;
  /** A mark that changes when any object is stored, replaced or lost; reads no objects. Throws `SnapshotUnavailableError`. */
  objectsMark(): Promise<string>;
  /**
   * The same for one object: a mark that changes when it is stored anew, replaced or lost, or when a part of it is. Reads at most a small part of it,
   * so that it shows no decay of bytes. Throws `SnapshotUnavailableError`.
   */
  objectMark(digest: string): Promise<string>;
  /**
   * Stores the manifest and then moves the pointer to it. Its objects must be stored already. Removes what is no longer kept (`decideKept`).
   *
   * Throws `PublicationConflictError` when another publisher was first; the pointer is then theirs.
   */
  publish(manifest: Manifest, options?: PublishOptions): Promise<void>;
  /**
   * Removes stored objects that no kept manifest names. Only for a publisher that is alone: others may be about to publish theirs.
   *
   * Throws `SnapshotError` when a kept manifest cannot be read; then nothing is removed.
   */
  discardUnpublished(): Promise<void>;
  /** Activates the snapshot that was published last. Throws `SnapshotError` when another one was published since. */
  activate(id: string): Promise<void>;
  /** null before the first publication. May be null for a damaged pointer, too: the next publication replaces it. */
  pointer(): Promise<SnapshotPointer | null>;
  /** The id of the manifest that was published last; null as for `pointer`. */
  currentId(): Promise<string | null>;
  /** Versions that operators took back and that no run has built since; a damaged record counts as empty. Throws `SnapshotUnavailableError`. */
  takenBack(): Promise<TakenBack>;
  /** Throws `SnapshotError` when the manifest is missing or damaged. */
  getManifest(id: string): Promise<Manifest>;
  /** Ids of the snapshots that are kept whole, oldest publication first. The one in service is kept, however old. */
  list(): Promise<string[]>;
  /**
   * Publications whose snapshots are kept, oldest first: those of `list`, and those of earlier days, which have the sections of
   * `pastManifest` only. Throws `SnapshotUnavailableError`.
   */
  publications(): Promise<Publication[]>;
  /** Calls the listener with the current pointer, if there is one, and soon (≤ 1 s) after each change. */
  watch(listener: (pointer: SnapshotPointer) => void): PointerWatch;
}

/** Follows a store's pointer until it is stopped. */
export interface PointerWatch {
  /** Reads the pointer now. Resolves when the listener was called if there was a change; also when the store does not answer. */
  look(): Promise<void>;
  /** Stops: the listener is not called any more. */
  stop(): void;
}

/** A snapshot, or a part of one, that is missing or damaged. The message names it. */
export class SnapshotError extends Error {
  override readonly name: string = "SnapshotError";
}

/** The store did not answer: nothing is known about the snapshot, and the call may be retried. */
export class SnapshotUnavailableError extends SnapshotError {
  override readonly name = "SnapshotUnavailableError";
}

/** Another publisher moved the pointer first. Start again from the current snapshot. */
export class PublicationConflictError extends SnapshotError {
  override readonly name = "PublicationConflictError";

  constructor(id: string, current: string | null, options?: ErrorOptions) {
    super(`snapshot ${id} was not published: another publisher was first, and ${current ?? "another snapshot"} is current`, options);
  }
}
