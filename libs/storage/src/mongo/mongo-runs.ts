/** Ingest runs in MongoDB. */

import { latestStart, type RunRecord, type RunRepository, reportFrom, runsKept } from "../run-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import type { RunDocument } from "./mongo-schema.ts";

export function mongoRuns(connection: MongoConnection): RunRepository {
  const runs = () => connection.db.collection<RunDocument>("runs");

  const latestFirst = { startedAt: -1, _id: -1 } as const;

  /** The runs that are not in the future, and those that are, which come last. */
  const partsAt = (now: number) => ({ past: { startedAt: { $lte: latestStart(now) } }, future: { startedAt: { $gt: latestStart(now) } } });
  type Part = ReturnType<typeof partsAt>["past" | "future"];

  async function removeLast(now: number): Promise<void> {
    const { past, future } = partsAt(now);
    const kept = await runs().countDocuments(past, { limit: runsKept });
    await removeAfter(past, runsKept);
    await removeAfter(future, runsKept - kept);
  }

  async function removeAfter(part: Part, kept: number): Promise<void> {
    if (kept === 0) {
      await runs().deleteMany(part);
      return;
    }
    const last = await runs()
      .find(part)
      .sort(latestFirst)
      .skip(kept - 1)
      .limit(1)
      .next();
    if (last === null) return;
    const { _id, startedAt } = last;
    await runs().deleteMany({ $and: [part, { $or: [{ startedAt: { $lt: startedAt } }, { startedAt, _id: { $lt: _id } }] }] });
  }

  return {
    async save({ id, report, ...members }) {
      const document = { ...members, report: JSON.stringify(report ?? null) };
      await connection.within(operationTimeoutMs, () => runs().replaceOne({ _id: id }, document, { upsert: true }));
      const { endedAt } = members;
      if (endedAt !== null) await connection.within(operationTimeoutMs, () => removeLast(endedAt));
    },

    async find(id) {
      const document = await connection.asked(() => runs().findOne({ _id: id }));
      return document === null ? null : toRecord(document);
    },

    async list(limit, now = Number.POSITIVE_INFINITY) {
      if (limit < 1) return [];
      const { past, future } = partsAt(now);
      const firstOf = (part: Part, most: number) => connection.asked(() => runs().find(part).sort(latestFirst).limit(most).toArray());
      const documents = await firstOf(past, limit);
      if (documents.length < limit) documents.push(...(await firstOf(future, limit - documents.length)));
      return documents.map(toRecord);
    },
  };
}

function toRecord({ _id, startedAt, endedAt, state, report }: RunDocument): RunRecord {
  return { id: _id, startedAt, endedAt, state, report: reportFrom(report) };
}
