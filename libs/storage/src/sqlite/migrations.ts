/** The schema, by versions: `PRAGMA user_version` is the number of these steps that were applied to a file. Only append steps. */

import type { SqliteConnection } from "./connection.ts";
import { checkKind, type FileKind, migrateFile } from "./own-file.ts";

const steps: readonly string[] = [
  `
  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    hash_algorithm TEXT NOT NULL CHECK (hash_algorithm IN ('sha256', 'hmac-sha256')),
    pepper_id TEXT,
    environment TEXT NOT NULL CHECK (environment IN ('live', 'test')),
    last_four TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    allowed_cidrs TEXT NOT NULL,
    plan TEXT NOT NULL,
    rate_limit INTEGER,
    rate_window_seconds INTEGER,
    month_limit INTEGER,
    bucket TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    replaced_by TEXT,
    valid_until INTEGER,
    version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Tells readers that a key changed, apart from the many writes of leases; triggers, so that edits by hand count too.
  CREATE TABLE key_revision (revision INTEGER NOT NULL) STRICT;
  INSERT INTO key_revision VALUES (0);
  CREATE TRIGGER key_inserted AFTER INSERT ON keys BEGIN UPDATE key_revision SET revision = revision + 1; END;
  CREATE TRIGGER key_updated AFTER UPDATE ON keys BEGIN UPDATE key_revision SET revision = revision + 1; END;
  CREATE TRIGGER key_deleted AFTER DELETE ON keys BEGIN UPDATE key_revision SET revision = revision + 1; END;

  CREATE TABLE limit_windows (
    bucket TEXT NOT NULL,
    policy TEXT NOT NULL,
    start INTEGER NOT NULL,
    leased INTEGER NOT NULL CHECK (leased >= 0),
    at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (bucket, policy, start)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX limit_windows_by_expiry ON limit_windows (expires_at);

  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    state TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed')),
    report TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX runs_by_start ON runs (started_at);

  CREATE TABLE markers (name TEXT PRIMARY KEY, key_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE usage (
    key_id TEXT NOT NULL,
    day TEXT NOT NULL,
    route_class TEXT NOT NULL,
    bucket TEXT NOT NULL,
    counted INTEGER NOT NULL,
    uncounted INTEGER NOT NULL,
    PRIMARY KEY (key_id, day, route_class)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_by_bucket ON usage (bucket, day);
  CREATE INDEX usage_by_day ON usage (day);
  -- The last batch of each writer that is in the counts.
  CREATE TABLE usage_writers (writer TEXT PRIMARY KEY, sequence INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE profiles (
    asn INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    source TEXT NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE audit (
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    address TEXT,
    key_id TEXT,
    details TEXT NOT NULL,
    PRIMARY KEY (at, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only appended to'); END;

  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    owner TEXT,
    fence INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE keys ADD COLUMN concurrency_limit INTEGER;
  ALTER TABLE keys ADD COLUMN rotated_at INTEGER;
  ALTER TABLE keys ADD COLUMN stepping_down INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX keys_by_creation ON keys (created_at, id);
  CREATE INDEX keys_by_plan ON keys (plan, created_at, id);

  CREATE TABLE plans (
    name TEXT PRIMARY KEY,
    rate_limit INTEGER NOT NULL,
    rate_window_seconds INTEGER NOT NULL,
    month_limit INTEGER NOT NULL,
    concurrency_limit INTEGER,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- The limits of a key are its plan's: a change of a plan is one of its keys.
  CREATE TRIGGER plan_inserted AFTER INSERT ON plans BEGIN UPDATE key_revision SET revision = revision + 1; END;
  CREATE TRIGGER plan_updated AFTER UPDATE ON plans BEGIN UPDATE key_revision SET revision = revision + 1; END;
  CREATE TRIGGER plan_deleted AFTER DELETE ON plans BEGIN UPDATE key_revision SET revision = revision + 1; END;

  -- The same key hashed anew with another pepper is no change that a reader must hear of.
  DROP TRIGGER key_updated;
  CREATE TRIGGER key_updated AFTER UPDATE ON keys WHEN new.hash = old.hash
    BEGIN UPDATE key_revision SET revision = revision + 1; END;

  CREATE INDEX audit_by_target ON audit (target, at, id);

  -- What an Idempotency-Key stands for (docs/design/protocols.md#keys).
  CREATE TABLE idempotency (
    id TEXT PRIMARY KEY,
    body_hash TEXT NOT NULL,
    target TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- When it wrote last, in Unix ms; unknown for those of before.
  ALTER TABLE usage_writers ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX usage_writers_by_time ON usage_writers (at);
  `,
  `
  -- What sources say of ASes; id: place of the section, and AS number.
  CREATE TABLE as_statements (id INTEGER PRIMARY KEY, statements TEXT NOT NULL) STRICT;
  CREATE TABLE as_statement_versions (section TEXT PRIMARY KEY, version TEXT NOT NULL, as_of TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
];

/** "NFST" */
const applicationId = 0x4e465354;
const kind: FileKind = { applicationId, version: steps.length, name: "a Netfacts store" };

/** Migrates the file to the newest schema, as `migrateFile`. */
export function migrate(connection: SqliteConnection): void {
  migrateFile(connection, kind, (version) => {
    for (const step of steps.slice(version)) connection.exec(step);
  });
}

/** As `checkKind`, for the store. */
export function checkIsStore(connection: SqliteConnection): void {
  checkKind(connection, kind);
}
