/** Ingest runs in MongoDB. */

import type { RunRecord, RunRepository } from "../run-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import type { RunDocument } from "./mongo-schema.ts";

export function mongoRuns(connection: MongoConnection): RunRepository {
  const runs = connection.db.collection<RunDocument>("runs");

  return {
    async save({ id, report, ...members }) {
      const document = { ...members, report: JSON.stringify(report ?? null) };
      await connection.within(operationTimeoutMs, () => runs.replaceOne({ _id: id }, document, { upsert: true }));
    },

    async find(id) {
      const document = await connection.within(operationTimeoutMs, () => runs.findOne({ _id: id }));
      return document === null ? null : toRecord(document);
    },

    async list(limit) {
      if (limit < 1) return [];
      const documents = await connection.within(operationTimeoutMs, () =>
        runs.find().sort({ startedAt: -1, _id: -1 }).limit(limit).toArray(),
      );
      return documents.map(toRecord);
    },
  };
}

function toRecord({ _id, startedAt, endedAt, state, report }: RunDocument): RunRecord {
  return { id: _id, startedAt, endedAt, state, report: JSON.parse(report) as unknown };
}
