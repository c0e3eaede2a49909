/** Where snapshots are kept: objects by digest, manifests by id, and one pointer to the manifests that count. */

import type { Manifest } from "../manifest.ts";
import type { Publication } from "./retention.ts";
import type { TakenBack } from "./taken-back.ts";

/** What the pointer names. Where there is one process to follow it, both are always the same. */
export interface SnapshotPointer {
  /** Published last: to be loaded. */
  readonly published: string;
  /** To be served, which is the one before until the followers had time to load the new one; null before the first. */
  readonly active: string | null;
}

export interface PublishOptions {
  /**
   * The id that the publisher found current when it began, null for none: if another one is current by now, it lost the race.
   * Left out: only a publication during the call itself is one that it loses to.
   */
  readonly replaces?: string | null;
  /**
   * False: another publisher may be storing objects that no manifest names yet. So only manifests that are not kept are removed, with the
   * objects that they alone name. Default: true.
   */
  readonly isAlone?: boolean;
  /** What operators took back, from now on. Default: what the store has of it. */
  readonly takenBack?: TakenBack;
}

/** An object's bytes: whole, or in pieces that follow one another. */
export type ObjectBytes = Uint8Array | readonly Uint8Array[];

/** Pieces of an object that hold anything, and how many bytes they are together. */
export function piecesOf(bytes: ObjectBytes): { readonly pieces: readonly Uint8Array[]; readonly length: number } {
  const pieces = [bytes].flat().filter((piece) => piece.length > 0);
  return { pieces, length: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}

/** Snapshots behind one interface: a folder, a pack, or the object store of a message server. */
export interface SnapshotStore {
  /** Stores an object under its SHA-256 (64 hex digits), which it returns. One that is there is not written again, unless it is damaged. */
  putObject(bytes: ObjectBytes): Promise<string>;
  /**
   * Reads an object into shared memory and checks its digest.
   *
   * Throws `SnapshotError`: missing, short, or damaged; `SnapshotUnavailableError` when the store does not answer.
   */
  getObject(digest: string, bytes: number): Promise<Uint8Array<SharedArrayBuffer>>;
  /** Differs once any object was stored, replaced or lost; reads none of them. Throws `SnapshotUnavailableError`. */
  objectsMark(): Promise<string>;
  /**
   * Stores the manifest and then moves the pointer to it; its objects must be stored. Removes what is no longer kept (`decideKept`).
   *
   * Throws `PublicationConflictError` when another publisher was first; the pointer is then theirs.
   */
  publish(manifest: Manifest, options?: PublishOptions): Promise<void>;
  /**
   * Removes the objects that are stored now and that no kept manifest names. Only for a publisher that is alone: others may be about to publish theirs.
   *
   * Throws `SnapshotError` when a manifest that is kept cannot be read: nothing is removed then.
   */
  discardUnpublished(): Promise<void>;
  /** Lets the snapshot that was published last be served. Throws `SnapshotError` when another one was published since. */
  activate(id: string): Promise<void>;
  /** null before the first publication. A damaged one may be null, too: the next publication replaces it. */
  pointer(): Promise<SnapshotPointer | null>;
  /** The manifest's id that was published last; null as `pointer`. */
  currentId(): Promise<string | null>;
  /** What operators took back and no run has built since; a damaged record is empty. Throws `SnapshotUnavailableError`. */
  takenBack(): Promise<TakenBack>;
  /** Throws `SnapshotError` when there is no such manifest or it is damaged. */
  getManifest(id: string): Promise<Manifest>;
  /** Ids of the snapshots that are kept whole, oldest publication first. The one that is served is kept, however old. */
  list(): Promise<string[]>;
  /**
   * Publications whose snapshots are kept, oldest first: those of `list`, and those of earlier days, which have the sections of
   * `pastManifest` only. Throws `SnapshotUnavailableError`.
   */
  publications(): Promise<Publication[]>;
  /** Calls back with the pointer as it is, if there is one, and soon (≤ 1 s) after each change. */
  watch(listener: (pointer: SnapshotPointer) => void): PointerWatch;
}

/** What follows a store's pointer, until it is stopped. */
export interface PointerWatch {
  /** Reads the pointer now. Resolves when the listener was told of a change; also when the store does not answer. */
  look(): Promise<void>;
  /** The listener is not called any more. */
  stop(): void;
}

/** A snapshot, or a part of one, that is missing or damaged. The message names it. */
export class SnapshotError extends Error {
  override readonly name: string = "SnapshotError";
}

/** The store did not answer: nothing is known of the snapshot, and it is worth asking again. */
export class SnapshotUnavailableError extends SnapshotError {
  override readonly name = "SnapshotUnavailableError";
}

/** Another publisher moved the pointer first. Begin anew from what is current. */
export class PublicationConflictError extends SnapshotError {
  override readonly name = "PublicationConflictError";

  constructor(id: string, current: string | null, options?: ErrorOptions) {
    super(`snapshot ${id} was not published: another publisher was first, and ${current ?? "another snapshot"} is current`, options);
  }
}
