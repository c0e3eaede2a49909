/** Ingest runs in SQLite. */

import { type RunRecord, type RunRepository, type RunState, reportFrom, runsKept } from "../run-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const columns = "id, started_at, ended_at, state, report";
const tooMany = "SELECT id FROM runs ORDER BY started_at DESC, id DESC LIMIT -1 OFFSET ?";

export function sqliteRuns(connection: SqliteConnection): RunRepository {
  return {
    async save(run) {
      const report = JSON.stringify(run.report ?? null);
      await connection.durably(() => {
        connection.run(`REPLACE INTO runs (${columns}) VALUES (?, ?, ?, ?, ?)`, run.id, run.startedAt, run.endedAt, run.state, report);
        if (run.endedAt !== null) connection.run(`DELETE FROM runs WHERE id IN (${tooMany})`, runsKept);
      });
    },

    async find(id) {
      const row = connection.get(`SELECT ${columns} FROM runs WHERE id = ?`, id);
      return row === undefined ? null : toRecord(row);
    },

    async list(limit) {
      return connection.all(`SELECT ${columns} FROM runs ORDER BY started_at DESC, id DESC LIMIT ?`, limit).map(toRecord);
    },
  };
}

function toRecord(row: Row): RunRecord {
  return {
    id: row.id as string,
    startedAt: row.started_at as number,
    endedAt: row.ended_at as number | null,
    state: row.state as RunState,
    report: reportFrom(row.report as string),
  };
}
