/** Ingest runs in MongoDB. */

import { type RunRecord, type RunRepository, reportFrom, runsKept } from "../run-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import type { RunDocument } from "./mongo-schema.ts";

export function mongoRuns(connection: MongoConnection): RunRepository {
  const runs = () => connection.db.collection<RunDocument>("runs");

  const latestFirst = { startedAt: -1, _id: -1 } as const;

  async function removeOldest(): Promise<void> {
    const last = await runs()
      .find()
      .sort(latestFirst)
      .skip(runsKept - 1)
      .limit(1)
      .next();
    if (last === null) return;
    const { _id, startedAt } = last;
    await runs().deleteMany({ $or: [{ startedAt: { $lt: startedAt } }, { startedAt, _id: { $lt: _id } }] });
  }

  return {
    async save({ id, report, ...members }) {
      const document = { ...members, report: JSON.stringify(report ?? null) };
      await connection.within(operationTimeoutMs, () => runs().replaceOne({ _id: id }, document, { upsert: true }));
      if (members.endedAt !== null) await connection.within(operationTimeoutMs, removeOldest);
    },

    async find(id) {
      const document = await connection.asked(() => runs().findOne({ _id: id }));
      return document === null ? null : toRecord(document);
    },

    async list(limit) {
      if (limit < 1) return [];
      const documents = await connection.asked(() => runs().find().sort(latestFirst).limit(limit).toArray());
      return documents.map(toRecord);
    },
  };
}

function toRecord({ _id, startedAt, endedAt, state, report }: RunDocument): RunRecord {
  return { id: _id, startedAt, endedAt, state, report: reportFrom(report) };
}
