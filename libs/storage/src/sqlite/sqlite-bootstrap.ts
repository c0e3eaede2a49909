/** The bootstrap marker in SQLite. */

import type { BootstrapRepository } from "@netfacts/keys";
import type { SqliteConnection } from "./connection.ts";

const marker = "bootstrap";

export function sqliteBootstrap(connection: SqliteConnection): BootstrapRepository {
  const read = (): string | null => {
    const row = connection.get("SELECT key_id FROM markers WHERE name = ?", marker);
    return row === undefined ? null : (row.key_id as string);
  };

  return {
    async claim(keyId) {
      return await connection.durably(() => {
        const created = connection.run("INSERT INTO markers (name, key_id) VALUES (?, ?) ON CONFLICT DO NOTHING", marker, keyId) === 1;
        return { keyId: created ? keyId : (read() ?? keyId), created };
      });
    },

    async read() {
      return read();
    },
  };
}
