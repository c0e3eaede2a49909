/** Ingest runs in SQLite. */

import { latestStart, type RunRecord, type RunRepository, type RunState, reportFrom, runsKept } from "../run-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const columns = "id, started_at, ended_at, state, report";
const latestFirst = "ORDER BY started_at DESC, id DESC";
const tooMany = `SELECT id FROM runs ORDER BY started_at > ?, started_at DESC, id DESC LIMIT -1 OFFSET ?`;

export function sqliteRuns(connection: SqliteConnection): RunRepository {
  return {
    async save(run) {
      const report = JSON.stringify(run.report ?? null);
      await connection.durably(() => {
        connection.run(`REPLACE INTO runs (${columns}) VALUES (?, ?, ?, ?, ?)`, run.id, run.startedAt, run.endedAt, run.state, report);
        if (run.endedAt !== null) connection.run(`DELETE FROM runs WHERE id IN (${tooMany})`, latestStart(run.endedAt), runsKept);
      });
    },

    async find(id) {
      const row = connection.get(`SELECT ${columns} FROM runs WHERE id = ?`, id);
      return row === undefined ? null : toRecord(row);
    },

    async list(limit, now = Number.POSITIVE_INFINITY) {
      const latest = latestStart(now);
      const rows = connection.all(`SELECT ${columns} FROM runs WHERE started_at <= ? ${latestFirst} LIMIT ?`, latest, limit);
      const left = limit - rows.length;
      if (left > 0) rows.push(...connection.all(`SELECT ${columns} FROM runs WHERE started_at > ? ${latestFirst} LIMIT ?`, latest, left));
      return rows.map(toRecord);
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
