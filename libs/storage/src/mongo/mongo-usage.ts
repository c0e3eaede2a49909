/** Usage in MongoDB: one document per key, day and class, which knows the last batch that it took of each writer. */

import { type AnyBulkWriteOperation, type Filter, Long, MongoBulkWriteError } from "mongodb";
import { condense, daysOf, usageId } from "../usage-batch.ts";
import type { UsageQuery, UsageRepository, UsageRow } from "../usage-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { duplicateKey, mongoFault } from "./mongo-faults.ts";
import type { UsageDocument } from "./mongo-schema.ts";

/** Of one message to the server. */
const rowsMax = 200;

export function mongoUsage(connection: MongoConnection): UsageRepository {
  const usage = connection.db.collection<UsageDocument>("usage");

  const list = async ({ from, to, keyId, bucket }: UsageQuery): Promise<UsageRow[]> => {
    const filter: Filter<UsageDocument> = { day: { $gte: from, $lte: to } };
    if (keyId !== undefined) filter.keyId = keyId;
    if (bucket !== undefined) filter.bucket = bucket;
    const documents = await connection.within(operationTimeoutMs, () =>
      usage.find(filter).sort({ keyId: 1, day: 1, routeClass: 1 }).toArray(),
    );
    return documents.map(toRow);
  };

  /** @returns the rows that met a document which they did not match. */
  const write = async (rows: readonly UsageRow[], writer: string, sequence: number, upsert: boolean): Promise<UsageRow[]> => {
    const updates = rows.map((row) => toUpdate(row, writer, sequence, upsert));
    return await connection.within(operationTimeoutMs, async () => {
      try {
        await usage.bulkWrite(updates, { ordered: false });
        return [];
      } catch (error) {
        if (!(error instanceof MongoBulkWriteError)) throw error;
        const faults = [error.writeErrors].flat();
        const onlyDuplicates = faults.length > 0 && faults.every(({ code }) => code === duplicateKey);
        // Without its write concern a row may yet be lost: then all is unknown, and the batch is to be repeated.
        if (!onlyDuplicates || error.result.getWriteConcernError() !== undefined) {
          throw mongoFault("unavailable", connection.shown, error.message, error);
        }
        // Every index is one of `rows`.
        return faults.map(({ index }) => rows[index] as UsageRow);
      }
    });
  };

  return {
    async add(batch) {
      const rows = condense(batch);
      for (let start = 0; start < rows.length; start += rowsMax) {
        const met = await write(rows.slice(start, start + rowsMax), batch.writer, batch.sequence, true);
        // The document has this batch already, or another writer made it at the same moment: now it is there, and its filter decides.
        if (met.length > 0) await write(met, batch.writer, batch.sequence, false);
      }
    },

    list,

    async monthTotal(bucket, month) {
      const total = { counted: 0, uncounted: 0 };
      for (const row of await list({ ...daysOf(month), bucket })) {
        total.counted += row.counted;
        total.uncounted += row.uncounted;
      }
      return total;
    },
  };
}

function toUpdate(row: UsageRow, writer: string, sequence: number, upsert: boolean): AnyBulkWriteOperation<UsageDocument> {
  const { keyId, bucket, day, routeClass } = row;
  const field = `writers.${writer}`;
  return {
    updateOne: {
      // Not `$lt`, which matches no document without the field.
      filter: { _id: usageId(row), [field]: { $not: { $gte: sequence } } },
      update: {
        $inc: { counted: Long.fromNumber(row.counted), uncounted: Long.fromNumber(row.uncounted) },
        $set: { [field]: sequence },
        $setOnInsert: { keyId, bucket, day, routeClass },
      } as object,
      upsert,
    },
  };
}

function toRow({ keyId, bucket, day, routeClass, counted, uncounted }: UsageDocument): UsageRow {
  return { keyId, bucket, day, routeClass, counted: Number(counted), uncounted: Number(uncounted) };
}
