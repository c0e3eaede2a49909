/**
 * Objects in a bucket of the NATS Object Store (ADR-20), named by their SHA-256: chunks on `$O.<bucket>.C.<nuid>`, and their common description on
 * `$O.<bucket>.M.<name>`. Written and read here instead of by the client, which computes SHA-256 in JavaScript.
 */

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  consumerOpts,
  DiscardPolicy,
  headers,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
  nuid,
  type StoredMsg,
} from "@netfacts/messaging/nats-client";
import { type ObjectBytes, objectMemory, piecesOf, SnapshotError } from "@netfacts/snapshot";
import { answered, found, isRefused, unavailable } from "./api.ts";

/** The chunk size of the Object Store's other clients. */
const chunkBytesMax = 128 * 1024;
/** Chunks that are sent before the first of them is acknowledged. */
const unacknowledgedMax = 32;
/** A consumer that delivers nothing for this time is abandoned, and the next chunks are requested one by one. */
const stallMs = 1_000;
/** Pause between two attempts when nobody answers; after `silencesMax` of them the read fails. */
const silenceMs = 3_000;
const silencesMax = 4;
const digestPrefix = "SHA-256=";

/** The part of an object's description that is used here. */
interface ObjectInfo {
  readonly nuid: string;
  readonly size: number;
  readonly chunks: number;
  readonly digest: string;
  readonly deleted?: boolean;
}

export interface ObjectsOptions {
  readonly replicas: number;
  /** Limit of the rate at which the server sends an object; null: none. */
  readonly bytesPerSecond: number | null;
}

/** Subjects of all objects and chunks that are stored at one time. */
export interface StoredObjects {
  readonly meta: readonly string[];
  readonly chunks: readonly string[];
}

export class JetStreamObjects {
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #bucket: string;
  readonly #stream: string;
  readonly #options: ObjectsOptions;

  constructor(nc: NatsConnection, jsm: JetStreamManager, bucket: string, options: ObjectsOptions) {
    this.#nc = nc;
    this.#js = nc.jetstream();
    this.#jsm = jsm;
    this.#bucket = bucket;
    this.#stream = `OBJ_${bucket}`;
    this.#options = options;
  }

  /** Stores bytes under their digest; an object that is complete is not written again. */
  async put(bytes: ObjectBytes): Promise<string> {
    const { pieces, length } = piecesOf(bytes);
    const hash = createHash("sha256");
    for (const piece of pieces) hash.update(piece);
    const sha256 = hash.digest();
    const name = sha256.toString("hex");
    await this.#makeBucket();
    const before = await this.#info(name);
    if (before !== null && (await this.#isWhole(name, before, length))) return name;

    const id = nuid.next();
    const subject = `$O.${this.#bucket}.C.${id}`;
    const chunkBytes = Math.min(chunkBytesMax, this.#nc.info?.max_payload ?? chunkBytesMax);
    let isDescriptionSent = false;
    try {
      const chunks = await this.#sendChunks(subject, pieces, chunkBytes);
      const info = {
        name,
        description: "",
        options: { max_chunk_size: chunkBytes },
        bucket: this.#bucket,
        nuid: id,
        size: length,
        chunks,
        mtime: new Date().toISOString(),
        digest: `${digestPrefix}${padded(sha256)}`,
        deleted: false,
      };
      const rollup = headers();
      rollup.set("Nats-Rollup", "sub");
      isDescriptionSent = true;
      await this.#js.publish(this.#metaSubject(name), JSON.stringify(info), { headers: rollup });
    } catch (cause) {
      // Without an answer, the description may be stored, and another publisher may have named the object since: its chunks stay.
      if (!isDescriptionSent || isRefused(cause)) await this.#purge(subject).catch(() => undefined);
      throw unavailable(`object ${name}`, cause);
    }
    // The replaced chunks are not needed; if they cannot be removed now, `removeExcept` will remove them.
    if (before !== null) await this.#purge(`$O.${this.#bucket}.C.${before.nuid}`).catch(() => undefined);
    return name;
  }

  /** Throws `SnapshotError` for an object that is missing, has another size, or is damaged; `SnapshotUnavailableError`. */
  async get(name: string, size: number): Promise<Uint8Array<SharedArrayBuffer>> {
    const info = await this.#info(name);
    if (info === null) throw new SnapshotError(`${this.#place(name)}: the snapshot's object is missing, or its description is damaged`);
    // Checked before memory is allocated: a manifest may claim more than the object has.
    if (info.size !== size) throw new SnapshotError(`${this.#place(name)}: ${info.size} bytes, but the manifest says ${size}`);
    const whole = objectMemory(size);
    await this.#read(name, info, (chunk, at) => whole.set(chunk, at));
    return whole;
  }

  async has(name: string): Promise<boolean> {
    return (await this.#info(name)) !== null;
  }

  /** Also changes when the server was restarted: its files may have been damaged meanwhile. */
  async mark(): Promise<string> {
    const info = await found("snapshots", this.#jsm.streams.info(this.#stream));
    if (info === null) return "no bucket";
    const { messages, bytes, first_seq, last_seq, num_deleted = 0 } = info.state;
    return [this.#nc.info?.server_id, info.created, messages, bytes, first_seq, last_seq, num_deleted].join(" ");
  }

  /** As `mark`, for one object: its description, the number of its chunks, and the place of the last one. */
  async markOf(name: string): Promise<string> {
    const described = await found(`object ${name}`, this.#jsm.streams.getMessage(this.#stream, { last_by_subj: this.#metaSubject(name) }));
    const info = described === null ? null : readInfo(described);
    if (described === null || info === null) return "";
    const chunks = await this.#chunksOf(info.nuid);
    const last = { last_by_subj: `$O.${this.#bucket}.C.${info.nuid}` };
    const chunk = await found(`object ${name}`, this.#jsm.streams.getMessage(this.#stream, last));
    return [this.#nc.info?.server_id, described.seq, chunks, chunk?.seq].join(" ");
  }

  async stored(): Promise<StoredObjects> {
    return { meta: await this.#subjects("M"), chunks: await this.#subjects("C") };
  }

  /**
   * Removes of what was stored every other object, and chunks that a writer left without their description.
   *
   * @param confirm  awaited before each removal; its rejection ends the removal. Default: nothing is asked.
   */
  async removeExcept(names: ReadonlySet<string>, { meta, chunks }: StoredObjects, confirm = async () => {}): Promise<void> {
    const keptChunks = new Set<string>();
    for (const name of names) {
      const info = await this.#info(name);
      if (info !== null) keptChunks.add(`$O.${this.#bucket}.C.${info.nuid}`);
    }
    const keptMeta = new Set([...names].map((name) => this.#metaSubject(name)));
    const others = [...meta.filter((subject) => !keptMeta.has(subject)), ...chunks.filter((subject) => !keptChunks.has(subject))];
    for (const subject of others) {
      await confirm();
      await this.#purge(subject);
    }
  }

  /** @param confirm  as for `removeExcept` */
  async remove(names: Iterable<string>, confirm: () => Promise<void>): Promise<void> {
    for (const name of names) {
      await confirm();
      const info = await this.#info(name);
      await this.#purge(this.#metaSubject(name));
      if (info !== null) await this.#purge(`$O.${this.#bucket}.C.${info.nuid}`);
    }
  }

  #place(name: string): string {
    return `bucket ${this.#bucket}, object ${name}`;
  }

  #metaSubject(name: string): string {
    return `$O.${this.#bucket}.M.${padded(Buffer.from(name))}`;
  }

  async #makeBucket(): Promise<void> {
    if ((await found("snapshots", this.#jsm.streams.info(this.#stream))) !== null) return;
    // The client's own call adds a field that a strict server refuses.
    const stream = {
      name: this.#stream,
      subjects: [`$O.${this.#bucket}.C.>`, `$O.${this.#bucket}.M.>`],
      num_replicas: this.#options.replicas,
      discard: DiscardPolicy.New,
      allow_rollup_hdrs: true,
      allow_direct: true,
    };
    await answered("snapshots", this.#jsm.streams.add(stream));
  }

  /** null: it is missing or damaged. Both mean the same: a writer that has the object stores it again. */
  async #info(name: string): Promise<ObjectInfo | null> {
    const message = await found(`object ${name}`, this.#jsm.streams.getMessage(this.#stream, { last_by_subj: this.#metaSubject(name) }));
    const info = message === null ? null : readInfo(message);
    return info === null || info.deleted === true ? null : info;
  }

  async #isWhole(name: string, info: ObjectInfo, size: number): Promise<boolean> {
    if (info.size !== size) return false;
    try {
      await this.#read(name, info, () => undefined);
      return true;
    } catch (error) {
      if (error instanceof SnapshotError && error.name === "SnapshotError") return false;
      throw error;
    }
  }

  async #sendChunks(subject: string, pieces: readonly Uint8Array[], chunkBytes: number): Promise<number> {
    const sent = new Set<Promise<unknown>>();
    let chunks = 0;
    for (const chunk of chunksOf(pieces, chunkBytes)) {
      // One that fails stays: the race that reports it may have ended by an acknowledgement of the same moment.
      const acknowledged: Promise<unknown> = this.#js.publish(subject, chunk).then(() => sent.delete(acknowledged));
      sent.add(acknowledged);
      chunks += 1;
      if (sent.size >= unacknowledgedMax) await Promise.race(sent);
    }
    await Promise.all(sent);
    return chunks;
  }

  /** Passes on an object's chunks in order, and checks size and digest. */
  async #read(name: string, info: ObjectInfo, take: (chunk: Uint8Array, at: number) => void): Promise<void> {
    const hash = createHash("sha256");
    let at = 0;
    let lastSeq = 0;
    let silences = 0;
    while (at < info.size) {
      const before = lastSeq;
      let there: number;
      try {
        there = await this.#chunksOf(info.nuid);
      } catch (error) {
        // A server that comes back needs some time before it answers for a stream of this size.
        if (++silences > silencesMax) throw error;
        await sleep(silenceMs);
        continue;
      }
      if (there < info.chunks) throw new SnapshotError(`${this.#place(name)}: has ${there} of ${info.chunks} chunks: damaged`);
      const takeNext = (seq: number, chunk: Uint8Array): boolean => {
        if (seq <= lastSeq) return true;
        lastSeq = seq;
        if (at + chunk.length > info.size) throw new SnapshotError(`${this.#place(name)}: longer than its recorded size: damaged`);
        hash.update(chunk);
        take(chunk, at);
        at += chunk.length;
        return at < info.size;
      };
      const ended = await (silences === 0
        ? this.#readFrom(info.nuid, lastSeq + 1, takeNext)
        : this.#readEach(info.nuid, lastSeq + 1, takeNext));
      if (ended) break;
      silences = lastSeq > before ? 1 : silences + 1;
      if (silences > silencesMax) throw unavailable(`object ${name}`);
    }
    if (at < info.size) throw new SnapshotError(`${this.#place(name)}: ended at byte ${at} of ${info.size}: damaged`);
    if (hash.digest("hex") !== name) throw new SnapshotError(`${this.#place(name)}: its SHA-256 differs from its name: damaged`);
  }

  /**
   * Delivers messages of one consumer until `take` wants no more (true) or nothing came for a while (false): a server that was restarted may have
   * forgotten the consumer. Rejects with the error of `take`.
   */
  async #readFrom(id: string, seq: number, take: (seq: number, chunk: Uint8Array) => boolean): Promise<boolean> {
    let settle: (ended: boolean) => void = () => undefined;
    let fail: (error: unknown) => void = () => undefined;
    const done = new Promise<boolean>((resolve, reject) => {
      settle = resolve;
      fail = reject;
    });
    let lastAt = performance.now();
    let over = false;
    const options = consumerOpts().orderedConsumer().bindStream(this.#stream).startSequence(seq);
    if (this.#options.bytesPerSecond !== null) options.limit(8 * this.#options.bytesPerSecond);
    options.callback((error, message) => {
      if (over) return;
      lastAt = performance.now();
      try {
        if (error !== null) throw error;
        if (message !== null && (!take(message.seq, message.data) || message.info.pending === 0)) {
          over = true;
          settle(true);
        }
      } catch (cause) {
        over = true;
        if (cause instanceof SnapshotError) fail(cause);
        else settle(false);
      }
    });
    const watchdog = setInterval(() => {
      if (performance.now() - lastAt > stallMs) settle(false);
    }, stallMs / 4);
    const subscribing = this.#js.subscribe(`$O.${this.#bucket}.C.${id}`, options);
    subscribing.catch(() => setTimeout(settle, stallMs, false));
    try {
      return await done;
    } finally {
      over = true;
      clearInterval(watchdog);
      void subscribing.then(
        (subscription) => subscription.destroy().catch(() => undefined),
        () => undefined,
      );
    }
  }

  /**
   * As `#readFrom`, with one request for each message. A consumer is silent about a message that is damaged on the server's disk, and about all that
   * follow; a request reports that the message is missing.
   */
  async #readEach(id: string, from: number, take: (seq: number, chunk: Uint8Array) => boolean): Promise<boolean> {
    for (let seq = from; ; ) {
      const next = { seq, next_by_subj: `$O.${this.#bucket}.C.${id}` };
      let message: StoredMsg | null;
      try {
        message = await found("a chunk", this.#jsm.streams.getMessage(this.#stream, next as { seq: number }));
      } catch {
        return false;
      }
      if (message === null || !take(message.seq, message.data)) return true;
      seq = message.seq + 1;
    }
  }

  async #chunksOf(id: string): Promise<number> {
    const subject = `$O.${this.#bucket}.C.${id}`;
    const info = await found("snapshots", this.#jsm.streams.info(this.#stream, { subjects_filter: subject }));
    return info?.state.subjects?.[subject] ?? 0;
  }

  async #subjects(kind: "M" | "C"): Promise<string[]> {
    const info = await found("snapshots", this.#jsm.streams.info(this.#stream, { subjects_filter: `$O.${this.#bucket}.${kind}.>` }));
    return Object.keys(info?.state.subjects ?? {});
  }

  async #purge(subject: string): Promise<void> {
    await found("snapshots", this.#jsm.streams.purge(this.#stream, { filter: subject }));
  }
}

function readInfo(message: StoredMsg): ObjectInfo | null {
  try {
    return message.json<ObjectInfo | null>();
  } catch {
    return null;
  }
}

/** Chunks of one size, the last one shorter; only a chunk that spans two pieces is a copy. */
function* chunksOf(pieces: readonly Uint8Array[], chunkBytes: number): Generator<Uint8Array> {
  let begun = new Uint8Array(chunkBytes);
  let filled = 0;
  for (const piece of pieces) {
    let at = 0;
    while (at < piece.length) {
      if (filled === 0 && piece.length - at >= chunkBytes) {
        yield piece.subarray(at, at + chunkBytes);
        at += chunkBytes;
        continue;
      }
      const part = piece.subarray(at, at + chunkBytes - filled);
      begun.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < chunkBytes) continue;
      yield begun;
      begun = new Uint8Array(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield begun.subarray(0, filled);
}

/** Base64 for names and file systems, with padding: the form of the Object Store's names and digests. */
function padded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
