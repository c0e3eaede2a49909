/** Collections, their documents and indexes. Times are Unix milliseconds, or dates where the server itself must read or write them. */

import type { AuditEntry, KeyRecord, PlanRecord } from "@netfacts/keys";
import type { IndexDescription, Long } from "mongodb";
import type { UploadRecord } from "../observation-repository.ts";
import type { RunRecord } from "../run-repository.ts";
import type { StatementRow } from "../statement-repository.ts";
import { StoreError } from "../store-error.ts";
import type { MongoConnection } from "./mongo-connection.ts";
import { operationTimeoutMs } from "./mongo-connection.ts";
import { mongoFault } from "./mongo-faults.ts";

/** Increase it when documents change so that an older program would misread them. */
export const schemaVersion = 1;

/** Written as 64-bit integers: the server's arithmetic on plain numbers would be 32-bit or floating-point. Read as numbers. */
type Counter = number | Long;

export type KeyDocument = Omit<KeyRecord, "id"> & { _id: string };
/** `_id`: the name. */
export type PlanDocument = Omit<PlanRecord, "name"> & { _id: string };
/** `_id`: `<bucket>:<policy>:<windowStartEpochSeconds>`. */
export interface WindowDocument {
  _id: string;
  leased: Counter;
  at: Date;
  /** From then on the server removes it. It may read as 0 before. */
  expiresAt: Date;
  /** By owner: the number of its last change that was done. */
  marks?: Record<string, number>;
  /** By owner: changes with a lower number are no longer done. */
  fences?: Record<string, number>;
  /** By owner: units that it may return, and the time of this report. */
  reserved?: Record<string, number>;
  reservedAt?: Record<string, Date>;
  /** By owner: units that it holds unspent, and the time of this report. */
  held?: Record<string, number>;
  heldAt?: Record<string, Date>;
}
/** `report` is JSON text: its members may have any names, and it is read back unchanged. */
export type RunDocument = Omit<RunRecord, "id" | "report"> & { _id: string; report: string };
/** `_id`: `<key>:<day>:<class>`; `writers`: the last batch of each writer that is included in the counts, as long as it may be repeated. */
export interface UsageDocument {
  _id: string;
  keyId: string;
  bucket: string;
  day: string;
  routeClass: string;
  counted: Counter;
  uncounted: Counter;
  writers?: Record<string, number>;
}
/** `_id`: the AS number; `profile` as JSON text. */
export interface ProfileDocument {
  _id: number;
  profile: string;
  source: string;
  updatedAt: number;
}
/** `_id`: index of the section, and the first bits of the AS numbers. The rows are in ascending order. */
export interface StatementDocument {
  _id: number;
  rows: StatementRow[];
}
/** `_id`: the section; `asOf` is JSON text: sources may have any names. */
export interface StatementVersionDocument {
  _id: string;
  version: string;
  asOf: string;
}
/** `details` as JSON text. */
export type AuditDocument = Omit<AuditEntry, "id" | "details"> & { _id: string; details: string };
/** `version` counts every change; `seen`: time of the last look; the lease ends `ttlMs` after `at`. */
export interface LeaseDocument {
  _id: string;
  owner: string | null;
  fence: number;
  version: number;
  ttlMs: number;
  at: Date;
  seen: Date;
}
/** `_id`: digest of the caller and its Idempotency-Key. */
export interface IdempotencyDocument {
  _id: string;
  bodyHash: string;
  target: string;
  expiresAt: Date;
}
/**
 * `_id`: the id that its sender chose or was given. An earlier version knows neither `checksum` nor `checksumBytes` (the number of bytes that it
 * covers), and leaves both unchanged when it stores more.
 */
export type UploadDocument = Omit<UploadRecord, "id" | "checksum"> & { _id: string; checksum?: number | null; checksumBytes?: number };
/** `_id`: number of the upload and line; `prefix`: its key, which sorts. Members without a value are absent. */
export interface ObservationDocument {
  _id: number;
  prefix: string;
  country?: string;
  region?: string;
  city?: string;
  latitude?: number;
  longitude?: number;
  accuracyKm?: number;
  observedAt?: number;
  method?: string;
}
/** `uploads`: number of the last upload. */
export interface ObservationStateDocument {
  _id: "state";
  revision?: number;
  uploads?: number;
}
/** Documents of the collection `markers`. */
export interface BootstrapDocument {
  _id: "bootstrap";
  keyId: string;
}
export interface ClockDocument {
  _id: "clock";
  at: Date;
}
/** Exists during a restore, and after an interrupted one until another restore is complete. */
export interface RestoringDocument {
  _id: "restoring";
  since: Date;
  /** Whether it replaces uploaded observations, too. Absent in a document of an earlier version. */
  observations?: boolean;
  /** Unique to the restore that may write. Absent in a document of an earlier version. */
  by?: string;
}
interface SchemaDocument {
  _id: "schema";
  version: number;
}

const indexes: Readonly<Record<string, readonly IndexDescription[]>> = {
  keys: [{ key: { createdAt: 1, _id: 1 } }, { key: { plan: 1, createdAt: 1, _id: 1 } }],
  // Housekeeping: the server removes them some time later; readers check the time themselves.
  limit_windows: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
  runs: [{ key: { startedAt: -1, _id: -1 } }],
  usage: [
    { key: { keyId: 1, day: 1, routeClass: 1 }, unique: true },
    { key: { bucket: 1, day: 1 } },
    { key: { day: 1, keyId: 1, routeClass: 1 } },
  ],
  audit: [{ key: { at: -1, _id: -1 } }, { key: { target: 1, at: -1, _id: -1 } }],
  uploads: [{ key: { number: -1 }, unique: true }],
  observations: [{ key: { prefix: 1, _id: 1 } }, { key: { observedAt: 1 } }],
  // Housekeeping, as above.
  idempotency: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
};

/**
 * Idempotent, also with many concurrent callers.
 *
 * @throws StoreError `newer` for a database of a later version of ours; `unavailable` for one that is only partly restored.
 */
export async function prepareSchema(connection: MongoConnection): Promise<void> {
  await makeSchema(connection);
  await checkRestored(connection);
}

/** @throws StoreError while a restore is in progress, and after an interrupted one. */
export async function checkRestored(connection: MongoConnection): Promise<void> {
  if ((await readRestoring(connection)) !== null) {
    const remedy = "wait for the running restore; if it was interrupted, run `netfacts restore` again with the same copy";
    throw new StoreError("unavailable", connection.shown, "is only partly restored", undefined, remedy);
  }
}

/** The marker of a restore that is in progress or was interrupted: the database may hold only a part of its copy. Null: there is none. */
export async function readRestoring(connection: MongoConnection): Promise<RestoringDocument | null> {
  const markers = connection.db.collection<RestoringDocument>("markers");
  return await connection.within(operationTimeoutMs, () => markers.findOne({ _id: "restoring" }));
}

/** As `prepareSchema`, for a restore. Existing collections and indexes are not written again: a full database can still be read. */
export async function makeSchema(connection: MongoConnection): Promise<void> {
  const { db, shown } = connection;
  const markers = db.collection<SchemaDocument>("markers");
  const marker = { _id: "schema" } as const;
  const readVersion = async () => (await connection.within(operationTimeoutMs, () => markers.findOne(marker)))?.version;
  let version = await readVersion();
  const isMade = version === schemaVersion;
  if (version === undefined || version < schemaVersion) {
    // $max inserts or raises the version, and keeps a higher one that another process has written meanwhile.
    const raise = { $max: { version: schemaVersion } };
    await connection.within(operationTimeoutMs, () => markers.updateOne(marker, raise, { upsert: true }));
    version = await readVersion();
  }
  if (version !== schemaVersion) {
    throw mongoFault("newer", shown, `has schema version ${version}; this program supports ${schemaVersion}`);
  }
  for (const [name, wanted] of Object.entries(indexes)) {
    const made = connection.within(operationTimeoutMs, () => db.collection(name).createIndexes([...wanted]));
    await made.catch((error: unknown) => {
      if (!isMade || !(error instanceof StoreError) || error.fault !== "full") throw error;
    });
  }
}
