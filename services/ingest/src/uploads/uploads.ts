/** Uploads of observations that this process receives, and the deletion of what they stored. */

import { randomBytes } from "node:crypto";
import { formatPrefix, type Prefix } from "@netfacts/address";
import { ProblemError } from "@netfacts/contracts";
import type { ObservationRepository, Store, UploadFormat, UploadProgress, UploadRecord } from "@netfacts/storage";
import { type ReceiveBounds, receive } from "./receive.ts";
import { allUploads } from "./stored-rows.ts";
import { uploadRecordsMax } from "./sweep.ts";

export interface UploadsDeps extends ReceiveBounds {
  readonly repository: ObservationRepository;
  readonly audit: Store["audit"];
  /** Most uploads that are received at the same time. */
  readonly uploadsMax: number;
  readonly clock: { now(): number };
}

export interface UploadRequest {
  /** Null: a new upload. */
  readonly id: string | null;
  readonly offset: number;
  /** Null: the source of the existing upload, or the id of a new one. */
  readonly source: string | null;
  readonly format: UploadFormat;
  readonly isPart: boolean;
  readonly by: Operator;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The selection of rows to delete. */
export type Deletion = { readonly address: Prefix } | { readonly prefix: Prefix } | { readonly source: string } | { readonly key: string };

/** The requester, for the audit. */
export interface Operator {
  readonly actor: string;
  readonly keyId: string | null;
  readonly address: string | null;
}

/** An hour, which is also the default for sources. */
const skewSeconds = 3_600;
/** Above this number, the oldest uploads are about to be removed, and new ones are refused. */
const uploadsRefusedAt = uploadRecordsMax * 1.1;
const removedAtOnce = 2_000;
/** Wait for a request whose upload another request is sending. */
const retryAfterSeconds = 2;
/** Longest time of a deletion; then it answers, even if there is more to delete. */
const deletionMsMax = 10_000;

export class Uploads {
  readonly #deps: UploadsDeps;
  readonly #active = new Set<string>();
  /** Uploads and deletions that use the store. */
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(deps: UploadsDeps) {
    this.#deps = deps;
  }

  get repository(): ObservationRepository {
    return this.#deps.repository;
  }

  /** Ends uploads and deletions in progress, each with an answer. Resolves when none of them uses the store any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#underWay);
  }

  /**
   * Stores a body. The audit records the key that begins an upload, and each request of another key. @throws ProblemError, StoreError, and the errors
   * of the body
   */
  receive(request: UploadRequest): Promise<UploadRecord> {
    return this.#counted(this.#receive(request));
  }

  #counted<T>(work: Promise<T>): Promise<T> {
    const counted = work.finally(() => this.#underWay.delete(counted));
    this.#underWay.add(counted);
    return counted;
  }

  async #receive({ id, offset, source, format, isPart, by, body }: UploadRequest): Promise<UploadRecord> {
    const { repository, audit, uploadsMax, rowsMax, clock } = this.#deps;
    const uploadId = id ?? randomBytes(12).toString("hex");
    if (this.#active.has(uploadId)) throw conflict("The upload is in progress: another request sends to it.", retryAfterSeconds);
    if (this.#active.size >= uploadsMax)
      throw new ProblemError("too_many_uploads", { detail: `This process receives at most ${uploadsMax} uploads at the same time.` });
    this.#active.add(uploadId);
    try {
      if ((await repository.rowCount()) > rowsMax * 1.1) throw new ProblemError("observations_full");
      const existing = await repository.find(uploadId);
      if (existing === null && (await repository.uploadCount()) > uploadsRefusedAt)
        throw new ProblemError("observations_full", {
          detail: `There are more than ${uploadRecordsMax} uploads; ingest is about to delete the oldest. Send fewer and larger files.`,
        });
      const begun = { id: uploadId, format, source: source ?? existing?.source ?? uploadId, keyId: by.keyId };
      // Further parts by the key that began the upload belong to the same change.
      if (existing === null || existing.keyId !== by.keyId) {
        const details = { upload: uploadId, format };
        await audit.append({ at: clock.now(), ...by, action: "observations.upload", target: begun.source, details });
      }
      const upload = await repository.begin(begun, clock.now());
      if (upload.format !== format) throw conflict(`The upload has the format ${upload.format}.`);
      if (source !== null && upload.source !== source) throw conflict(`The upload has the source ${upload.source}.`);
      if (offset > upload.offset) throw conflict(`Only ${upload.offset} bytes of the upload are stored: send it from there.`);
      return await receive({ ...this.#deps, upload, offset, body, isPart, skewSeconds, stopping: this.#stopping.signal });
    } finally {
      this.#active.delete(uploadId);
    }
  }

  /** Deletes rows at once, and records that in the audit. */
  delete(what: Deletion, by: Operator): Promise<{ readonly deleted: number; readonly complete: boolean }> {
    return this.#counted(this.#delete(what, by));
  }

  async #delete(what: Deletion, by: Operator): Promise<{ readonly deleted: number; readonly complete: boolean }> {
    const { audit, clock } = this.#deps;
    const { details, target } = told(what);
    // First, so that nothing is deleted without a record.
    await audit.append({ at: clock.now(), ...by, action: "observations.delete", target, details });
    return this.#erase(what);
  }

  async #erase(what: Deletion): Promise<{ readonly deleted: number; readonly complete: boolean }> {
    const { repository, clock } = this.#deps;
    const until = performance.now() + deletionMsMax;
    const progress = { deleted: 0, complete: true };
    const removeAll = async (selector: Parameters<ObservationRepository["remove"]>[0]): Promise<boolean> => {
      for (;;) {
        const removed = await repository.remove(selector, removedAtOnce);
        progress.deleted += removed;
        if (removed < removedAtOnce) return true;
        if (performance.now() > until || this.#stopping.signal.aborted) return false;
      }
    };
    if ("address" in what || "prefix" in what) {
      progress.complete = await removeAll({ within: "address" in what ? what.address : what.prefix });
      return progress;
    }
    for await (const upload of allUploads(repository)) {
      if ("source" in what ? upload.source !== what.source : upload.keyId !== what.key) continue;
      // Marks the upload complete: a request that still sends it finds it changed, and stores nothing more. It may have gone on since it was read.
      // A geofeed with 0 rows does not count, so that this one does not replace the one before.
      for (
        let last: UploadRecord | null = upload;
        last?.number === upload.number && !last.complete;
        last = await repository.find(upload.id)
      )
        if ((await repository.store(last, [], { ...progressOf(last), rows: 0, complete: true }, clock.now())) !== null) break;
      const rows = { fromUpload: upload.number, toUpload: upload.number };
      progress.complete = await removeAll(rows);
      if (!progress.complete) break;
      await repository.forget(upload.number);
      // Rows that such a request was storing meanwhile. From here on, the upload is gone and it stores none.
      progress.complete = await removeAll(rows);
      if (!progress.complete) break;
    }
    return progress;
  }
}

function told(what: Deletion): { readonly target: string; readonly details: Readonly<Record<string, string>> } {
  if ("address" in what) return { target: formatPrefix(what.address), details: { by: "address" } };
  if ("prefix" in what) return { target: formatPrefix(what.prefix), details: { by: "prefix" } };
  return "source" in what ? { target: what.source, details: { by: "source" } } : { target: what.key, details: { by: "key" } };
}

function progressOf({ offset, checksum, lines, rows, bad, badLines, header, complete }: UploadRecord): UploadProgress {
  return { offset, checksum, lines, rows, bad, badLines, header, complete };
}

/** @param retryAfterSeconds  null: a repeated request would be refused too */
function conflict(detail: string, retryAfterSeconds: number | null = null): ProblemError {
  return new ProblemError("upload_conflict", { detail, retryAfterSeconds });
}
