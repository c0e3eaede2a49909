/** Statements of sources about ASes, in SQLite. */

import { setImmediate as othersTurn } from "node:timers/promises";
import { type StatedSection, type StatedVersion, type StatementRepository, statedSections } from "../statement-repository.ts";
import type { SqliteConnection } from "./connection.ts";

const put = "INSERT INTO as_statements (id, statements) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET statements = excluded.statements";

export function sqliteStatements(connection: SqliteConnection): StatementRepository {
  return {
    async list(section, limit, after = -1) {
      const sql = "SELECT id, statements FROM as_statements WHERE id > ? AND id < ? ORDER BY id LIMIT ?";
      const rows = connection.all(sql, rowKey(section, after), rowKey(section, asNumbers), limit);
      return rows.map(({ id, statements }) => ({ asn: (id as number) % asNumbers, text: statements as string }));
    },

    async write(section, rows) {
      await connection.patiently(() =>
        connection.transaction(() => {
          for (const { asn, text } of rows) {
            const id = rowKey(section, asn);
            if (text === null) connection.run("DELETE FROM as_statements WHERE id = ?", id);
            else connection.run(put, id, text);
          }
        }),
      );
      await othersTurn();
    },

    async version(section) {
      const row = connection.get("SELECT version, as_of FROM as_statement_versions WHERE section = ?", section);
      return row === undefined ? null : { version: row.version as string, asOf: JSON.parse(row.as_of as string) as StatedVersion["asOf"] };
    },

    async setVersion(section, { version, asOf }) {
      const sql = "REPLACE INTO as_statement_versions (section, version, as_of) VALUES (?, ?, ?)";
      await connection.patiently(() => connection.run(sql, section, version, JSON.stringify(asOf)));
    },
  };
}

const asNumbers = 2 ** 32;

/** The rows of a section are one range of ids, in the order of AS numbers. */
function rowKey(section: StatedSection, asn: number): number {
  return statedSections.indexOf(section) * asNumbers + asn;
}
