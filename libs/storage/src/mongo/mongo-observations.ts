/** Uploaded observations in MongoDB. A row's `_id` is a number that sorts by upload and line, so that an upload is one range of ids. */

import type { Prefix } from "@netfacts/address";
import { MongoBulkWriteError } from "mongodb";
import { coveringKeys, keysWithin, lineOfRow, prefixKey, prefixOfKey, rowId, uploadOfRow } from "../observation-keys.ts";
import {
  type ObservationRepository,
  type ObservationRow,
  type RowSelector,
  type StoredRow,
  type UploadRecord,
  uploadNumberMax,
} from "../observation-repository.ts";
import { StoreError } from "../store-error.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { duplicateKey, isDuplicateKey } from "./mongo-faults.ts";
import type { ObservationDocument, ObservationStateDocument, UploadDocument } from "./mongo-schema.ts";

const groupRows = 2_000;
const after = { returnDocument: "after" } as const;

export function mongoObservations(connection: MongoConnection): ObservationRepository {
  const rows = () => connection.db.collection<ObservationDocument>("observations");
  const uploads = () => connection.db.collection<UploadDocument>("uploads");
  const state = () => connection.db.collection<ObservationStateDocument>("observation_state");
  const within = <T>(work: () => Promise<T>): Promise<T> => connection.within(operationTimeoutMs, work);
  const stateFilter = { _id: "state" } as const;
  const changed = () => within(() => state().updateOne(stateFilter, { $inc: { revision: 1 } }, { upsert: true }));

  const find = async (id: string): Promise<UploadRecord | null> => {
    const found = await connection.asked(() => uploads().findOne({ _id: id }));
    return found === null ? null : toUpload(found);
  };

  async function insert(documents: ObservationDocument[]): Promise<void> {
    try {
      await within(() => rows().insertMany(documents, { ordered: false }));
    } catch (error) {
      // Duplicates are rows that were stored before, without their progress.
      const codes = error instanceof MongoBulkWriteError ? bulkFaults(error) : [];
      const isRepeated = codes.length > 0 && codes.every((code) => code === duplicateKey);
      if (!isRepeated) throw error;
    }
  }

  async function* groups(filter: object): AsyncGenerator<StoredRow[], void> {
    for (let last = 0; ; ) {
      const documents = await within(() =>
        rows()
          .find({ $and: [filter, { _id: { $gt: last } }] })
          .sort({ _id: 1 })
          .limit(groupRows)
          .toArray(),
      );
      if (documents.length > 0) yield documents.map(toRow);
      if (documents.length < groupRows) return;
      last = documents.at(-1)?._id as number;
    }
  }

  /** Reads in the order of prefixes, so that each group is one scan of the index. */
  async function* groupsBetween(first: string, last: string): AsyncGenerator<StoredRow[], void> {
    let [key, id] = [first, 0];
    for (;;) {
      const filter = { $or: [{ prefix: key, _id: { $gt: id } }, { prefix: { $gt: key, $lte: last } }] };
      const documents = await within(() => rows().find(filter).sort({ prefix: 1, _id: 1 }).limit(groupRows).toArray());
      if (documents.length > 0) yield documents.map(toRow);
      const end = documents.at(-1);
      if (end === undefined || documents.length < groupRows) return;
      [key, id] = [end.prefix, end._id];
    }
  }

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
      if (stored.length > 0) await insert(stored.map((row) => toDocument(number, row)));
      const update = { $set: { ...progress, checksumBytes: progress.offset, updatedAt: at } };
      const updated = await within(() => uploads().findOneAndUpdate(asRead, update, after));
      if (stored.length > 0) await changed();
      if (updated !== null) return toUpload(updated);
      // If the upload was removed in between, its rows must go too. If another request stored the same bytes, the rows stay.
      if ((await find(id))?.number !== number && stored.length > 0) {
        const ids = stored.map(({ line }) => rowId(number, line));
        await within(() => rows().deleteMany({ _id: { $in: ids } }));
      }
      return null;
    },

    async forget(number) {
      await within(() => uploads().deleteOne({ number }));
    },

    async revision() {
      return Number((await connection.asked(() => state().findOne(stateFilter)))?.revision ?? 0);
    },

    async rowCount() {
      return within(() => rows().estimatedDocumentCount());
    },

    async hasRows(number) {
      const filter = { _id: { $gte: rowId(number, 0), $lt: rowId(number + 1, 0) } };
      return (await within(() => rows().findOne(filter))) !== null;
    },

    async newest() {
      const filter = { observedAt: { $gte: 0 } };
      const [found] = await within(() => rows().find(filter).sort({ observedAt: -1 }).limit(1).toArray());
      return found?.observedAt ?? null;
    },

    all: () => groups({}),

    async *about(prefix: Prefix) {
      for (const key of coveringKeys(prefix)) yield* groups({ prefix: key });
      const { first, last } = keysWithin(prefix, true);
      yield* groupsBetween(first, last);
    },

    async remove(selector, limit) {
      const filter = filterOf(selector);
      const order = "oldest" in selector ? ({ observedAt: 1 } as const) : null;
      const found = await within(() => {
        const cursor = rows().find(filter, { projection: { _id: 1 } });
        return (order === null ? cursor : cursor.sort(order)).limit(limit).toArray();
      });
      if (found.length === 0) return 0;
      await within(() => rows().deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }));
      await changed();
      return found.length;
    },
  };
}

function bulkFaults({ writeErrors }: MongoBulkWriteError): (number | undefined)[] {
  return (Array.isArray(writeErrors) ? writeErrors : [writeErrors]).map(({ code }) => code);
}

function filterOf(selector: RowSelector): object {
  if ("within" in selector) {
    const { first, last } = keysWithin(selector.within, false);
    return { prefix: { $gte: first, $lte: last } };
  }
  if ("fromUpload" in selector) return { _id: { $gte: rowId(selector.fromUpload, 0), $lt: rowId(selector.toUpload + 1, 0) } };
  if ("observedBefore" in selector) return { observedAt: { $gte: 0, $lt: selector.observedBefore } };
  return { observedAt: { $gte: 0 } };
}

/** Leaves out members without a value: with millions of documents, each name counts. */
function toDocument(upload: number, row: ObservationRow): ObservationDocument {
  const { line, prefix, ...members } = row;
  const known = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
  return { _id: rowId(upload, line), prefix: prefixKey(prefix), ...known };
}

function toRow({ _id, prefix, ...members }: ObservationDocument): StoredRow {
  const { country, region, city, latitude, longitude, accuracyKm, observedAt, method } = members;
  return {
    upload: uploadOfRow(_id),
    line: lineOfRow(_id),
    prefix: prefixOfKey(prefix),
    country: country ?? null,
    region: region ?? null,
    city: city ?? null,
    latitude: latitude ?? null,
    longitude: longitude ?? null,
    accuracyKm: accuracyKm ?? null,
    observedAt: observedAt ?? null,
    method: method ?? null,
  };
}

function toUpload({ _id, checksum = null, checksumBytes, ...members }: UploadDocument): UploadRecord {
  return { id: _id, checksum: checksumBytes === members.offset ? checksum : null, ...members };
}
