/** Usage in MongoDB: one document per key, day and class, which records the last batch of each writer that it includes. */

import { type AnyBulkWriteOperation, type Filter, Long } from "mongodb";
import { condense, daysOf, usageId } from "../usage-batch.ts";
import type { UsageCounts, UsagePage, UsageQuery, UsageRepository, UsageRow } from "../usage-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { duplicatesOnly } from "./mongo-faults.ts";
import type { UsageDocument } from "./mongo-schema.ts";

/** Rows of one message to the server. */
const rowsMax = 200;
/** Days before the given day that are searched for writers. Rows of older days have none if this is called often enough. */
const forgetDays = 7;
const dayMs = 86_400_000;
/** Rows of one read when usage is summed. */
const rowsRead = 5_000;

export function mongoUsage(connection: MongoConnection): UsageRepository {
  const usage = () => connection.db.collection<UsageDocument>("usage");

  const list = async (query: UsageQuery, page?: UsagePage): Promise<UsageRow[]> => {
    const documents = await connection.asked(() =>
      usage()
        .find(filterOf(query, page?.after))
        .sort({ keyId: 1, day: 1, routeClass: 1 })
        .limit(page?.limit ?? 0)
        .toArray(),
    );
    return documents.map(toRow);
  };

  const total = async (query: UsageQuery): Promise<UsageCounts> => {
    const sum = { counted: 0, uncounted: 0 };
    let after: UsagePage["after"];
    // By pages: each has its own time limit, and only one is held in memory.
    for (;;) {
      const rows = await list(query, { limit: rowsRead, ...(after !== undefined && { after }) });
      for (const row of rows) {
        sum.counted += row.counted;
        sum.uncounted += row.uncounted;
      }
      after = rows.at(-1);
      if (after === undefined || rows.length < rowsRead) return sum;
    }
  };

  /** @returns the rows for which a document exists that their filter did not match. */
  const write = async (rows: readonly UsageRow[], writer: string, sequence: number, upsert: boolean): Promise<UsageRow[]> => {
    const updates = rows.map((row) => toUpdate(row, writer, sequence, upsert));
    return await connection.within(operationTimeoutMs, async () => {
      try {
        await usage().bulkWrite(updates, { ordered: false });
        return [];
      } catch (error) {
        // Every place comes from `rows`.
        return duplicatesOnly(connection.shown, error).map((place) => rows[place] as UsageRow);
      }
    });
  };

  /** Ids of at most `limit` documents that match. */
  const idsOf = async (filter: Filter<UsageDocument>, limit: number): Promise<string[]> => {
    const found = await connection.asked(() =>
      usage()
        .find(filter, { projection: { _id: 1 } })
        .limit(limit)
        .toArray(),
    );
    return found.map(({ _id }) => _id);
  };

  return {
    async add(batch) {
      const rows = condense(batch);
      for (let start = 0; start < rows.length; start += rowsMax) {
        const met = await write(rows.slice(start, start + rowsMax), batch.writer, batch.sequence, true);
        // Either the document has this batch already, or another writer created it at the same time. Now it exists, and the filter decides.
        if (met.length > 0) await write(met, batch.writer, batch.sequence, false);
      }
    },

    list,

    async latestDay(before) {
      const [latest] = await connection.asked(() =>
        usage()
          .find({ day: { $lt: before } }, { projection: { day: 1 } })
          .sort({ day: -1 })
          .limit(1)
          .toArray(),
      );
      return latest?.day ?? null;
    },

    async removeBefore(day, limit) {
      const ids = await idsOf({ day: { $lt: day } }, limit);
      if (ids.length > 0) await connection.within(operationTimeoutMs, () => usage().deleteMany({ _id: { $in: ids } }));
      return ids.length;
    },

    async forgetWriters(day, limit) {
      const from = new Date(Date.parse(day) - forgetDays * dayMs).toISOString().slice(0, 10);
      const ids = await idsOf({ day: { $gte: from, $lt: day }, writers: { $exists: true } }, limit);
      const update = { $unset: { writers: "" } } as const;
      if (ids.length > 0) await connection.within(operationTimeoutMs, () => usage().updateMany({ _id: { $in: ids } }, update));
      return ids.length;
    },

    total,
    monthTotal: async (bucket, month) => await total({ ...daysOf(month), bucket }),
  };
}

function filterOf({ from, to, keyId, bucket, routeClass }: UsageQuery, after: UsagePage["after"]): Filter<UsageDocument> {
  return {
    day: { $gte: from, $lte: to },
    ...(keyId !== undefined && { keyId }),
    ...(bucket !== undefined && { bucket }),
    ...(routeClass !== undefined && { routeClass }),
    ...(after !== undefined && {
      $or: [
        { keyId: { $gt: after.keyId } },
        { keyId: after.keyId, day: { $gt: after.day } },
        { keyId: after.keyId, day: after.day, routeClass: { $gt: after.routeClass } },
      ],
    }),
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
