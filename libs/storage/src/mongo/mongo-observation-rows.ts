/** The rows of uploaded observations in MongoDB. A row's `_id` is a number that sorts by upload and line, so that an upload is one range of ids. */

import type { Prefix } from "@netfacts/address";
import { coveringKeys, keysWithin, lineOfRow, prefixKey, prefixOfKey, rowId, uploadOfRow } from "../observation-keys.ts";
import type { ObservationRow, RowSelector, StoredRow } from "../observation-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { duplicatesOnly } from "./mongo-faults.ts";
import type { ObservationDocument } from "./mongo-schema.ts";

const groupRows = 2_000;

export class MongoObservationRows {
  readonly #connection: MongoConnection;

  constructor(connection: MongoConnection) {
    this.#connection = connection;
  }

  /** Stores rows of an upload; those that are there already stay. */
  async insert(upload: number, stored: readonly ObservationRow[]): Promise<void> {
    const documents = stored.map((row) => toDocument(upload, row));
    try {
      await this.#within(() => this.#rows.insertMany(documents, { ordered: false }));
    } catch (error) {
      // Duplicates are rows that were stored before, without their progress.
      duplicatesOnly(this.#connection.shown, error);
    }
  }

  /** Removes rows of an upload. */
  async delete(upload: number, stored: readonly ObservationRow[]): Promise<void> {
    await this.#delete(stored.map(({ line }) => rowId(upload, line)));
  }

  /** Removes at most `limit` rows. @returns their number */
  async remove(selector: RowSelector, limit: number): Promise<number> {
    const filter = filterOf(selector);
    const order = "oldest" in selector ? ({ observedAt: 1 } as const) : null;
    const found = await this.#within(() => {
      const cursor = this.#rows.find(filter, { projection: { _id: 1 } });
      return (order === null ? cursor : cursor.sort(order)).limit(limit).toArray();
    });
    if (found.length > 0) await this.#delete(found.map(({ _id }) => _id));
    return found.length;
  }

  count(): Promise<number> {
    return this.#within(() => this.#rows.estimatedDocumentCount());
  }

  async hasAny(upload: number): Promise<boolean> {
    const filter = { _id: { $gte: rowId(upload, 0), $lt: rowId(upload + 1, 0) } };
    return (await this.#within(() => this.#rows.findOne(filter))) !== null;
  }

  async newest(): Promise<number | null> {
    const filter = { observedAt: { $gte: 0 } };
    const [found] = await this.#within(() => this.#rows.find(filter).sort({ observedAt: -1 }).limit(1).toArray());
    return found?.observedAt ?? null;
  }

  all(): AsyncGenerator<StoredRow[], void> {
    return this.#groups({});
  }

  async *about(prefix: Prefix): AsyncGenerator<StoredRow[], void> {
    for (const key of coveringKeys(prefix)) yield* this.#groups({ prefix: key });
    const { first, last } = keysWithin(prefix, true);
    yield* this.#groupsBetween(first, last);
  }

  async *#groups(filter: object): AsyncGenerator<StoredRow[], void> {
    for (let last = 0; ; ) {
      const documents = await this.#within(() =>
        this.#rows
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
  async *#groupsBetween(first: string, last: string): AsyncGenerator<StoredRow[], void> {
    let [key, id] = [first, 0];
    for (;;) {
      const filter = { $or: [{ prefix: key, _id: { $gt: id } }, { prefix: { $gt: key, $lte: last } }] };
      const documents = await this.#within(() => this.#rows.find(filter).sort({ prefix: 1, _id: 1 }).limit(groupRows).toArray());
      if (documents.length > 0) yield documents.map(toRow);
      const end = documents.at(-1);
      if (end === undefined || documents.length < groupRows) return;
      [key, id] = [end.prefix, end._id];
    }
  }

  async #delete(ids: readonly number[]): Promise<void> {
    await this.#within(() => this.#rows.deleteMany({ _id: { $in: [...ids] } }));
  }

  get #rows() {
    return this.#connection.db.collection<ObservationDocument>("observations");
  }

  #within<T>(work: () => Promise<T>): Promise<T> {
    return this.#connection.within(operationTimeoutMs, work);
  }
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
