/** The pointer and the manifests of a store of snapshots: keys of a NATS key-value bucket (ADR-8). */

import { isSnapshotId, snapshotNumberOf, timestamp, timestampPattern } from "@netfacts/contracts";
import type { JetStreamClient, JetStreamManager, NatsConnection, StoredMsg } from "@netfacts/messaging/nats-client";
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  type Publication,
  readTakenBack,
  SnapshotError,
  type SnapshotPointer,
  type TakenBack,
} from "@netfacts/snapshot";
import { answered, found, isWrongLastSequence, unavailable } from "./api.ts";

/** The record of the key `current`. */
export interface PointerRecord extends SnapshotPointer {
  /** Ids of the snapshots that are kept whole, oldest publication first. */
  readonly history: readonly string[];
  /**
   * Publications whose snapshots are kept, oldest first. A record of an older version has none: then those of `history`, by the time in their ids.
   */
  readonly publications: readonly Publication[];
  /** Versions that operators took back. A record of an older version has none. */
  readonly taken_back: TakenBack;
}

export interface PointerEntry {
  /** null: a client deleted it, or it is damaged. */
  readonly record: PointerRecord | null;
  /** The revision that the next writer must give. */
  readonly revision: number;
}

const isId = (value: unknown): value is string => typeof value === "string" && isSnapshotId(value);

export class JetStreamKeys {
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #bucket: string;
  readonly #stream: string;
  readonly #replicas: number;
  /** Every write to the pointer appears on this subject, before it is decided whether it is accepted. */
  readonly pointerSubject: string;

  constructor(nc: NatsConnection, jsm: JetStreamManager, bucket: string, replicas: number) {
    this.#js = nc.jetstream();
    this.#jsm = jsm;
    this.#bucket = bucket;
    this.#stream = `KV_${bucket}`;
    this.#replicas = replicas;
    this.pointerSubject = `$KV.${bucket}.current`;
  }

  async makeBucket(): Promise<void> {
    if ((await found("snapshots", this.#jsm.streams.info(this.#stream))) !== null) return;
    await answered("snapshots", this.#js.views.kv(this.#bucket, { replicas: this.#replicas, history: 1 }));
  }

  /** Read from the stream's leader, not from a replica that may lag behind. null: it was never written, or the server lost it. */
  async pointer(): Promise<PointerEntry | null> {
    const message = await found("the pointer", this.#jsm.streams.getMessage(this.#stream, { last_by_subj: this.pointerSubject }));
    return message === null ? null : { record: readRecord(message.string()), revision: message.seq };
  }

  /** False when somebody else wrote since `revision` (0: there was none). Throws `SnapshotUnavailableError`: then the outcome is not known. */
  async movePointer(record: PointerRecord, revision: number): Promise<boolean> {
    try {
      await this.#js.publish(this.pointerSubject, JSON.stringify(record), { expect: { lastSubjectSequence: revision } });
      return true;
    } catch (error) {
      if (isWrongLastSequence(error)) return false;
      throw unavailable("the pointer", error);
    }
  }

  async putManifest(manifest: Manifest): Promise<void> {
    await answered(`manifest ${manifest.id}`, this.#js.publish(this.#manifestSubject(manifest.id), encodeManifest(manifest)));
  }

  /** null: there is no such manifest. Throws `ManifestError`. */
  async manifest(id: string): Promise<Manifest | null> {
    if (!isSnapshotId(id)) throw new SnapshotError(`${JSON.stringify(id.slice(0, 64))} is not a snapshot id: damaged`);
    const message = await this.#storedManifest(id);
    return message === null || message.data.length === 0 ? null : decodeManifest(message.data);
  }

  async manifestIds(): Promise<Set<string>> {
    const prefix = this.#manifestSubject("");
    const info = await found("snapshots", this.#jsm.streams.info(this.#stream, { subjects_filter: `${prefix}>` }));
    return new Set(Object.keys(info?.state.subjects ?? {}).map((subject) => subject.slice(prefix.length)));
  }

  /** Manifests with the times at which the server stored them, oldest first: nearly the times of their publications. */
  async storedManifests(): Promise<Publication[]> {
    const stored: Publication[] = [];
    for (const id of [...(await this.manifestIds())].filter(isId)) {
      const message = await this.#storedManifest(id);
      if (message !== null) stored.push({ id, at: timestamp(message.time.getTime()) });
    }
    return stored.sort((a, b) => (a.at + a.id < b.at + b.id ? -1 : 1));
  }

  async removeManifest(id: string): Promise<void> {
    await found(`manifest ${id}`, this.#jsm.streams.purge(this.#stream, { filter: this.#manifestSubject(id) }));
  }

  #storedManifest(id: string): Promise<StoredMsg | null> {
    return found(`manifest ${id}`, this.#jsm.streams.getMessage(this.#stream, { last_by_subj: this.#manifestSubject(id) }));
  }

  #manifestSubject(id: string): string {
    return `$KV.${this.#bucket}.manifest.${id}`;
  }
}

function readRecord(text: string): PointerRecord | null {
  try {
    const { published, active, history, publications, taken_back } = JSON.parse(text) as Record<string, unknown>;
    if (!isId(published) || !(active === null || isId(active)) || !Array.isArray(history) || !history.every(isId)) return null;
    const isListed = Array.isArray(publications) && publications.every(isPublication);
    const listed = isListed ? publications : history.map(byItsId);
    return { published, active, history, publications: listed, taken_back: readTakenBack(taken_back) };
  } catch {
    return null;
  }
}

const wholeTimestamp = new RegExp(`^${timestampPattern}$`);

function isPublication(value: unknown): value is Publication {
  const { id, at } = (value ?? {}) as Record<string, unknown>;
  return isId(id) && typeof at === "string" && wholeTimestamp.test(at);
}

function byItsId(id: string): Publication {
  return { id, at: timestamp(snapshotNumberOf(id).seconds * 1_000) };
}
