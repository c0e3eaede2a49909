/** Uploaded observations in MongoDB: the uploads with their progress, and the state that tells when rows changed. */

import { type ObservationRepository, type UploadRecord, uploadNumberMax } from "../observation-repository.ts";
import { StoreError } from "../store-error.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import { MongoObservationRows } from "./mongo-observation-rows.ts";
import type { ObservationStateDocument, UploadDocument } from "./mongo-schema.ts";

const after = { returnDocument: "after" } as const;

export function mongoObservations(connection: MongoConnection): ObservationRepository {
  const rows = new MongoObservationRows(connection);
  const uploads = () => connection.db.collection<UploadDocument>("uploads");
  const state = () => connection.db.collection<ObservationStateDocument>("observation_state");
  const within = <T>(work: () => Promise<T>): Promise<T> => connection.within(operationTimeoutMs, work);
  const stateFilter = { _id: "state" } as const;
  const changed = () => within(() => state().updateOne(stateFilter, { $inc: { revision: 1 } }, { upsert: true }));

  const find = async (id: string): Promise<UploadRecord | null> => {
    const found = await connection.asked(() => uploads().findOne({ _id: id }));
    return found === null ? null : toUpload(found);
  };

  return {
    async begin({ id, format, source, keyId }, at) {
      const known = await find(id);
      if (known !== null) return known;
      const counted = await within(() => state().findOneAndUpdate(stateFilter, { $inc: { uploads: 1 } }, { upsert: true, ...after }));
      const number = Number(counted?.uploads);
      if (!(number <= uploadNumberMax)) throw new StoreError("full", connection.shown, "has no number left for another upload");
      const progress = { offset: 0, checksum: 0, lines: 0, rows: 0, bad: 0, badLines: [], header: null, complete: false };
      const document: UploadDocument = {
        _id: id,
        number,
        format,
        source,
        keyId,
        createdAt: at,
        updatedAt: at,
        ...progress,
        checksumBytes: 0,
      };
      try {
        await within(() => uploads().insertOne(document));
        return toUpload(document);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return (await find(id)) ?? toUpload(document);
      }
    },

    find,

    async uploads(limit, before = Number.MAX_SAFE_INTEGER) {
      if (limit < 1) return [];
      const found = await within(() =>
        uploads()
          .find({ number: { $lt: before } })
          .sort({ number: -1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(toUpload);
    },

    async uploadCount() {
      return within(() => uploads().countDocuments({}));
    },

    async store(upload, stored, progress, at) {
      const { id, number, offset, lines, complete } = upload;
      const asRead = { _id: id, number, offset, lines, complete };
      // No row of a removed upload may be stored again.
      if ((await connection.asked(() => uploads().findOne(asRead))) === null) return null;
      if (stored.length > 0) await rows.insert(number, stored);
      const update = { $set: { ...progress, checksumBytes: progress.offset, updatedAt: at } };
      const updated = await within(() => uploads().findOneAndUpdate(asRead, update, after));
      if (stored.length > 0) await changed();
      if (updated !== null) return toUpload(updated);
      // If the upload was removed in between, its rows must go too. If another request stored the same bytes, the rows stay.
      if ((await find(id))?.number !== number && stored.length > 0) await rows.delete(number, stored);
      return null;
    },

    async forget(number, asRead) {
      const filter = asRead && { offset: asRead.offset, lines: asRead.lines, complete: asRead.complete };
      const { deletedCount } = await within(() => uploads().deleteOne({ number, ...filter }));
      return deletedCount === 1 || (await within(() => uploads().findOne({ number }))) === null;
    },

    async revision() {
      return Number((await connection.asked(() => state().findOne(stateFilter)))?.revision ?? 0);
    },

    rowCount: () => rows.count(),
    hasRows: (number) => rows.hasAny(number),
    newest: () => rows.newest(),
    all: () => rows.all(),
    about: (prefix) => rows.about(prefix),

    async remove(selector, limit) {
      const removed = await rows.remove(selector, limit);
      if (removed > 0) await changed();
      return removed;
    },
  };
}

function toUpload({ _id, checksum = null, checksumBytes, ...members }: UploadDocument): UploadRecord {
  return { id: _id, checksum: checksumBytes === members.offset ? checksum : null, ...members };
}
