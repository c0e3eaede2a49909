/** Copies of a database's store: taken while it is in use, and put into one that is not. By plain operations, on every server that speaks the protocol. */

import type { AnyBulkWriteOperation, Document } from "mongodb";
import { StoreError } from "../store-error.ts";
import { CopyWriter, copyFault, readCopy } from "./copy-file.ts";
import { MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import { isRestoring, makeSchema, prepareSchema, type RestoringDocument } from "./mongo-schema.ts";

/**
 * Everything but leases, which say who leads at the moment, the clock, what sources say of ASes, which runs make again, and uploaded observations, whose files their senders have. One collection is read after the other, so the order is what keeps
 * them together: a change is in the audit before it is made, a key's plan and Idempotency-Key are there before the key, and units are
 * leased before they are counted as used. What is read later may know more, and never less.
 */
const collections = ["keys", "plans", "idempotency", "audit", "usage", "limit_windows", "markers", "profiles", "runs"] as const;
/** Of the markers; that of the schema is made where a copy is put. */
const markersCopied = ["bootstrap"];
/** In one request: a run's report may have some hundred kilobytes. */
const documentsRead = 200;

const appName = "netfacts-copy";

/** Numbers come as the types they have: 64-bit counters must not come back as floating ones. */
const asStored = { promoteValues: false, promoteLongs: false } as const;

/**
 * Writes a whole copy while other processes go on to write. Only its owner may read it: it holds hashes of keys, and who used them.
 *
 * @param target  a file that is not there yet, in a folder that is.
 * @returns how many documents it holds.
 * @throws StoreError; then there is no copy.
 */
export async function backUpMongoStore(uri: string, target: string, now: number): Promise<number> {
  return await withConnection(uri, async (connection) => {
    await prepareSchema(connection);
    return await copyTo(connection, target, now);
  });
}

export interface RestoreOptions {
  readonly now: number;
  /** Takes the place of what is in the database, which is copied to this file first. Absent: only an empty one is written to. */
  readonly replacedTo?: string;
}

export interface RestoreOutcome {
  readonly documents: number;
  /** Where what was there is copied to; null where nothing was, or only the half of a restore that was broken off. */
  readonly replaced: string | null;
}

/**
 * Puts a copy into a database that no service uses. The copy is read to its end before anything is written; from then on until all of it is
 * there the store cannot be opened, and a restore that was broken off is begun again by another call.
 *
 * @returns null for a database that is not empty; nothing of it was changed.
 * @throws StoreError: `foreign`, `newer` or `damaged` for the copy, `locked` for a database that is written to meanwhile.
 */
export async function restoreMongoStore(copy: string, uri: string, { now, replacedTo }: RestoreOptions): Promise<RestoreOutcome | null> {
  for await (const { collection } of readCopy(copy)) {
    if (!(collections as readonly string[]).includes(collection)) throw copyFault("damaged", copy, `has documents of ${collection}`);
  }
  return await withConnection(uri, async (connection) => {
    await makeSchema(connection);
    const isHalf = await isRestoring(connection);
    const isInUse = !isHalf && (await holdsAnything(connection));
    if (isInUse && replacedTo === undefined) return null;
    const replaced = isInUse && replacedTo !== undefined ? replacedTo : null;
    if (replaced !== null) await copyTo(connection, replaced, now);
    await mark(connection, now);
    for (const name of collections) await empty(connection, name);
    const documents = await fill(connection, copy);
    await connection.within(operationTimeoutMs, () => markersOf(connection).deleteOne({ _id: "restoring" }));
    return { documents, replaced };
  });
}

async function withConnection<T>(uri: string, work: (connection: MongoConnection) => Promise<T>): Promise<T> {
  const connection = new MongoConnection(uri, appName);
  try {
    await connection.connect();
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function copyTo(connection: MongoConnection, target: string, now: number): Promise<number> {
  const writer = await CopyWriter.create(target, now);
  try {
    for (const name of collections) {
      for await (const document of documentsOf(connection, name)) await writer.write(name, document);
    }
    return await writer.end();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** By pages in the order of ids, so that each has its time, and no document is met twice or left out though others are written. */
async function* documentsOf(connection: MongoConnection, name: string): AsyncGenerator<Document> {
  const collection = connection.db.collection<{ _id: unknown }>(name);
  for (let after: unknown; ; ) {
    const filter = { ...(name === "markers" && { _id: { $in: markersCopied } }), ...(after !== undefined && { _id: { $gt: after } }) };
    const page: Document[] = await connection.within(operationTimeoutMs, () =>
      collection
        .find(filter as object, asStored)
        .sort({ _id: 1 })
        .limit(documentsRead)
        .toArray(),
    );
    yield* page;
    after = page.at(-1)?._id;
    if (page.length < documentsRead || name === "markers") return;
  }
}

async function holdsAnything(connection: MongoConnection): Promise<boolean> {
  for (const name of collections) {
    for await (const _ of documentsOf(connection, name)) return true;
  }
  return false;
}

function markersOf({ db }: MongoConnection) {
  return db.collection<RestoringDocument>("markers");
}

async function mark(connection: MongoConnection, now: number): Promise<void> {
  const update = { $set: { since: new Date(now) } };
  await connection.within(operationTimeoutMs, () => markersOf(connection).updateOne({ _id: "restoring" }, update, { upsert: true }));
}

/** By pages, too: a year of usage takes longer to delete than one operation may. */
async function empty(connection: MongoConnection, name: string): Promise<void> {
  for (let ids: unknown[] = []; ; ids = []) {
    for await (const { _id } of documentsOf(connection, name)) if (ids.push(_id) === documentsRead) break;
    if (ids.length === 0) return;
    const collection = connection.db.collection<{ _id: unknown }>(name);
    await connection.within(operationTimeoutMs, () => collection.deleteMany({ _id: { $in: ids } } as object));
  }
}

async function fill(connection: MongoConnection, copy: string): Promise<number> {
  let documents = 0;
  let held: AnyBulkWriteOperation<Document>[] = [];
  let into = "";
  const write = async (): Promise<void> => {
    if (held.length > 0) await connection.within(operationTimeoutMs, () => insert(connection, into, held));
    documents += held.length;
    held = [];
  };
  for await (const { collection, document } of readCopy(copy)) {
    if (collection !== into || held.length === documentsRead) await write();
    into = collection;
    held.push({ insertOne: { document } });
  }
  await write();
  return documents;
}

async function insert({ db, shown }: MongoConnection, into: string, documents: AnyBulkWriteOperation<Document>[]): Promise<void> {
  try {
    await db.collection<Document>(into).bulkWrite(documents);
  } catch (cause) {
    if (!isDuplicateKey(cause)) throw cause;
    const remedy = "stop gateways and ingest, and restore again";
    throw new StoreError("locked", shown, `was written to by another program during the restore (collection ${into})`, cause, remedy);
  }
}
