/** Collections, their documents and indexes. Times are Unix milliseconds, but where the server itself must read or write them: then dates. */

import type { AuditEntry, KeyRecord, PlanRecord } from "@netfacts/keys";
import type { IndexDescription, Long } from "mongodb";
import type { UploadRecord } from "../observation-repository.ts";
import type { RunRecord } from "../run-repository.ts";
import type { StatementRow } from "../statement-repository.ts";
import { StoreError } from "../store-error.ts";
import type { MongoConnection } from "./mongo-connection.ts";
import { operationTimeoutMs } from "./mongo-connection.ts";
import { mongoFault } from "./mongo-faults.ts";

/** Raised when documents change so that an older program would misread them. */
export const schemaVersion = 1;

/** Written as 64-bit integers: the server's arithmetic on plain numbers would be 32-bit or floating. Read as numbers. */
type Counter = number | Long;

export type KeyDocument = Omit<KeyRecord, "id"> & { _id: string };
/** `_id`: the name. */
export type PlanDocument = Omit<PlanRecord, "name"> & { _id: string };
/** `_id`: `<bucket>:<policy>:<windowStartEpochSeconds>`. */
export interface WindowDocument {
  _id: string;
  leased: Counter;
  at: Date;
  expiresAt: Date;
  /** By owner: the number of its last change that was done. */
  marks?: Record<string, number>;
  /** By owner: changes of a lower number are done no more. */
  fences?: Record<string, number>;
  /** By owner: units that it may return, and when it said so. */
  reserved?: Record<string, number>;
  reservedAt?: Record<string, Date>;
  /** By owner: units that it holds unspent, and when it said so. */
  held?: Record<string, number>;
  heldAt?: Record<string, Date>;
}
/** `report` as JSON text: names of its members are anything, and it comes back as it was. */
export type RunDocument = Omit<RunRecord, "id" | "report"> & { _id: string; report: string };
/** `_id`: `<key>:<day>:<class>`; `writers`: the last batch of each that is in the counts, as long as one may be repeated. */
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
/** `_id`: place of the section, and the first bits of the AS numbers. The rows are in ascending order. */
export interface StatementDocument {
  _id: number;
  rows: StatementRow[];
}
/** `_id`: the section; `asOf` as JSON text: names of sources are anything. */
export interface StatementVersionDocument {
  _id: string;
  version: string;
  asOf: string;
}
/** `details` as JSON text. */
export type AuditDocument = Omit<AuditEntry, "id" | "details"> & { _id: string; details: string };
/** `version` counts every change; `seen`: when somebody last looked; the lease ends `ttlMs` after `at`. */
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
 * `_id`: the id that its sender chose or was given. An earlier version knows neither `checksum` nor the bytes that it is of, and leaves both as they are
 * when it stores more.
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
/** Of the collection `markers`. */
export interface BootstrapDocument {
  _id: "bootstrap";
  keyId: string;
}
export interface ClockDocument {
  _id: "clock";
  at: Date;
}
/** There while a restore is under way, and after one that was broken off: until another one has come to its end. */
export interface RestoringDocument {
  _id: "restoring";
  since: Date;
}
interface SchemaDocument {
  _id: "schema";
  version: number;
}

const indexes: Readonly<Record<string, readonly IndexDescription[]>> = {
  keys: [{ key: { createdAt: 1, _id: 1 } }, { key: { plan: 1, createdAt: 1, _id: 1 } }],
  // Housekeeping: the server removes them some time after; readers check the time themselves.
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
 * Idempotent, also for many at a time.
 *
 * @throws StoreError `newer` for a database of a later version of ours; `unavailable` for one that is only partly restored.
 */
export async function prepareSchema(connection: MongoConnection): Promise<void> {
  await makeSchema(connection);
  if (await isRestoring(connection)) {
    const remedy = "wait for the running restore; if it was interrupted, run `netfacts restore` again with the same copy";
    throw new StoreError("unavailable", connection.shown, "is only partly restored", undefined, remedy);
  }
}

/** Whether what is in the database may be half of a copy. */
export async function isRestoring(connection: MongoConnection): Promise<boolean> {
  const markers = connection.db.collection<RestoringDocument>("markers");
  return (await connection.within(operationTimeoutMs, () => markers.findOne({ _id: "restoring" }))) !== null;
}

/** The same for whoever restores. What is there already is not written again: a full database can still be read. */
export async function makeSchema(connection: MongoConnection): Promise<void> {
  const { db, shown } = connection;
  const markers = db.collection<SchemaDocument>("markers");
  const marker = { _id: "schema" } as const;
  const readVersion = async () => (await connection.within(operationTimeoutMs, () => markers.findOne(marker)))?.version;
  let version = await readVersion();
  const isMade = version === schemaVersion;
  if (version === undefined || version < schemaVersion) {
    // $max: it inserts, raises, or leaves alone what another process has raised meanwhile.
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
