/** Idempotency-Keys in SQLite. */

import type { IdempotencyOutcome, IdempotencyRepository } from "@netfacts/keys";
import type { SqliteConnection } from "./connection.ts";

export function sqliteIdempotency(connection: SqliteConnection): IdempotencyRepository {
  return {
    async claim({ id, bodyHash, target, expiresAt }, now) {
      return await connection.durably((): IdempotencyOutcome => {
        connection.run("DELETE FROM idempotency WHERE expires_at <= ?", now);
        const known = connection.get("SELECT body_hash, target FROM idempotency WHERE id = ?", id);
        if (known !== undefined) return { outcome: "known", bodyHash: known.body_hash as string, target: known.target as string };
        connection.run("INSERT INTO idempotency (id, body_hash, target, expires_at) VALUES (?, ?, ?, ?)", id, bodyHash, target, expiresAt);
        return { outcome: "claimed" };
      });
    },

    async settle({ id, bodyHash, target }) {
      await connection.durably(() => {
        connection.run("UPDATE idempotency SET target = ? WHERE id = ? AND body_hash = ?", target, id, bodyHash);
      });
    },

    async release({ id, bodyHash }) {
      await connection.durably(() => {
        connection.run("DELETE FROM idempotency WHERE id = ? AND body_hash = ?", id, bodyHash);
      });
    },
  };
}
