/**
 * Copies of a database's store: made while it is in use, and restored into one that is not in use. Only plain operations, which work on every server
 * that speaks the protocol.
 */

import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { AnyBulkWriteOperation, Document } from "mongodb";
import { rowId } from "../observation-keys.ts";
import { StoreError } from "../store-error.ts";
import { CopyWriter, copyFault, readCopy } from "./copy-file.ts";
import { MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import {
  checkRestored,
  makeSchema,
  type ObservationStateDocument,
  prepareSchema,
  type RestoringDocument,
  readRestoring,
} from "./mongo-schema.ts";

/**
 * Everything except: leases, which say who leads at the moment; the clock; statements of sources about ASes, which runs build again; and uploaded
 * observations, which have a copy of their own. Collections are read one after the other, so the order keeps them consistent: a change is in the
 * audit before it is made, a key's plan and Idempotency-Key exist before the key, and units are leased before they are counted as used. Collections
 * that are read later may know more, and never less.
 */
const collections = ["keys", "plans", "idempotency", "audit", "usage", "limit_windows", "markers", "profiles", "runs"] as const;
/** In this order, as an upload's rows are stored after its record and before its progress. */
const observationCollections = ["uploads", "observations", "observation_state"] as const;
/** Markers that are copied; the one of the schema is created in the target database. */
const markersCopied = ["bootstrap"];
/** Documents of one request: a run's report may have some hundred kilobytes, a row of observations some hundred bytes. */
const documentsRead = 200;
const rowsRead = 2_000;

const appName = "netfacts-copy";
/** Factor for the time limits of the database. Only commands make copies, and they have time for a slow server. */
const patience = 4;

/** Numbers keep their types: 64-bit counters must not be restored as floating-point numbers. */
const asStored = { promoteValues: false, promoteLongs: false } as const;

/**
 * Writes a complete copy while other processes go on writing. Only its owner may read it: it holds hashes of keys, and who used them.
 *
 * @param target  a file that does not exist yet, in an existing folder.
 * @returns the number of its documents.
 * @throws StoreError; then there is no copy.
 */
export async function backUpMongoStore(uri: string, target: string, now: number): Promise<number> {
  return await withConnection(uri, async (connection) => {
    return await copyWhole(connection, target, now, collections);
  });
}

/**
 * Writes a copy of the uploaded observations, also during an upload, which can resume after a restore. The copy may contain rows of an upload that is
 * deleted meanwhile.
 *
 * @returns the number of its documents; null: nothing was uploaded, and there is no copy.
 * @throws StoreError; then there is no copy.
 */
export async function backUpMongoObservations(uri: string, target: string, now: number): Promise<number | null> {
  return await withConnection(uri, async (connection) => {
    const isThere = await holdsAnything(connection, ["uploads"]);
    return isThere ? await copyWhole(connection, target, now, observationCollections) : null;
  });
}

export interface RestoreOptions {
  readonly now: number;
  /**
   * A copy of uploaded observations. Absent: those of the database stay unchanged. Then a restore is refused after an interrupted one that had begun to
   * replace them.
   */
  readonly observations?: string | null;
  /** The file for a copy of the database's content, which is then replaced. Absent: only an empty database is written to. */
  readonly replacedTo?: string;
}

export interface RestoreOutcome {
  readonly documents: number;
  /** The file with the copy of the replaced content; null if there was none, or only that of an interrupted restore. */
  readonly replaced: string | null;
  /** The same for uploaded observations. */
  readonly replacedObservations: string | null;
}

/** Path of the copy of uploaded observations, next to that of the store. */
export function observationsOf(copy: string): string {
  return `${copy}.observations`;
}

/**
 * Restores a copy into a database that no service uses. The copy is read to its end before anything is written. From then on, until the restore is
 * complete, the store cannot be opened; an interrupted restore is repeated by another call. If it was not interrupted, it fails, and that call goes on.
 *
 * @returns null for a database that is not empty; then it is unchanged.
 * @throws StoreError: `foreign`, `newer` or `damaged` for the copy, `locked` for a database that is written to or restored by another process
 * meanwhile, `unavailable` for a copy without the observations that an interrupted restore had begun to replace.
 */
export async function restoreMongoStore(copy: string, uri: string, options: RestoreOptions): Promise<RestoreOutcome | null> {
  const { now, observations = null, replacedTo } = options;
  await checkCopy(copy, collections);
  if (observations !== null) await checkCopy(observations, observationCollections);
  return await withConnection(uri, async (connection) => {
    await makeSchema(connection);
    const half = await readRestoring(connection);
    if (half?.observations === true && observations === null) throw halfObservations(connection, copy);
    const isInUse = half === null && (await holdsAnything(connection, collections));
    // An interrupted restore that did not replace them left them whole. A marker of an earlier version does not say so.
    const areWhole = half === null || half.observations === false;
    const hasObservations = areWhole && observations !== null && (await holdsAnything(connection, ["uploads"]));
    if ((isInUse || hasObservations) && replacedTo === undefined) return null;
    const replaced = isInUse && replacedTo !== undefined ? replacedTo : null;
    const replacedObservations = hasObservations && replacedTo !== undefined ? observationsOf(replacedTo) : null;
    if (replaced !== null) await copyTo(connection, replaced, now, collections);
    if (replacedObservations !== null) await copyTo(connection, replacedObservations, now, observationCollections);
    const claim = await mark(connection, half, { since: new Date(now), observations: observations !== null }).catch(async (error) => {
      // Otherwise the mark may be there, and its answer was lost: another call replaces what these copies have.
      const others = error instanceof StoreError && error.fault === "locked" ? [replaced, replacedObservations] : [];
      for (const file of others) if (file !== null) await rm(file, { force: true });
      throw error;
    });
    for (const name of collections) await empty(claim, name);
    const documents = await fill(claim, copy);
    if (observations !== null) {
      for (const name of observationCollections) await empty(claim, name);
      await fill(claim, observations);
      await raiseRevision(connection, now);
    }
    await claim.end();
    return { documents, replaced, replacedObservations };
  });
}

/** @throws StoreError, too, if a restore is in progress, or begins meanwhile; then there is no copy. */
async function copyWhole(connection: MongoConnection, target: string, now: number, names: readonly string[]): Promise<number> {
  await prepareSchema(connection);
  const documents = await copyTo(connection, target, now, names);
  try {
    await checkRestored(connection);
    return documents;
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

async function checkCopy(copy: string, names: readonly string[]): Promise<void> {
  for await (const { collection } of readCopy(copy))
    if (!names.includes(collection)) throw copyFault("damaged", copy, `has documents of ${collection}`);
}

/** Forces the next run to read these rows: no run has seen them, whatever the revision of the copy is. */
async function raiseRevision(connection: MongoConnection, now: number): Promise<void> {
  const state = connection.db.collection<ObservationStateDocument>("observation_state");
  const filter = { _id: "state" } as const;
  await connection.within(operationTimeoutMs, () => state.updateOne(filter, { $max: { revision: now } }, { upsert: true }));
  await connection.within(operationTimeoutMs, () => state.updateOne(filter, { $inc: { revision: 1 } }));
}

async function withConnection<T>(uri: string, work: (connection: MongoConnection) => Promise<T>): Promise<T> {
  const connection = new MongoConnection(uri, appName, patience);
  try {
    await connection.connect();
    return await work(connection);
  } finally {
    await connection.close();
  }
}

async function copyTo(connection: MongoConnection, target: string, now: number, names: readonly string[]): Promise<number> {
  const writer = await CopyWriter.create(target, now);
  /** The last upload that was copied: rows of later ones are left out. */
  let lastUpload = 0;
  try {
    for (const name of names) {
      const filter = name === "observations" ? { _id: { $lt: rowId(lastUpload + 1, 0) } } : {};
      for await (const document of documentsOf(connection, name, filter)) {
        if (name === "uploads") lastUpload = Math.max(lastUpload, Number((document as { number?: unknown }).number));
        await writer.write(name, document);
      }
    }
    return await writer.end();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** Reads by pages in the order of ids. Each page has its own time limit, and writes meanwhile neither repeat a document nor hide one. */
async function* documentsOf(connection: MongoConnection, name: string, only: object = {}): AsyncGenerator<Document> {
  const collection = connection.db.collection<{ _id: unknown }>(name);
  const most = pageOf(name);
  const own = name === "markers" ? { _id: { $in: markersCopied } } : only;
  for (let after: unknown; ; ) {
    const filter = after === undefined ? own : { $and: [own, { _id: { $gt: after } }] };
    const page: Document[] = await connection.within(operationTimeoutMs, () =>
      collection
        .find(filter as object, asStored)
        .sort({ _id: 1 })
        .limit(most)
        .toArray(),
    );
    yield* page;
    after = page.at(-1)?._id;
    if (page.length < most || name === "markers") return;
  }
}

function pageOf(collection: string): number {
  return collection === "observations" ? rowsRead : documentsRead;
}

async function holdsAnything(connection: MongoConnection, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    for await (const _ of documentsOf(connection, name)) return true;
  }
  return false;
}

function markersOf({ db }: MongoConnection) {
  return db.collection<RestoringDocument>("markers");
}

/** The right to replace the content of a database. Another restore may take it, as it cannot know whether this one was interrupted. */
interface Claim {
  readonly connection: MongoConnection;
  /** @throws StoreError when another restore has taken it. */
  check(): Promise<void>;
  /** Lets programs open the store. @throws as `check` */
  end(): Promise<void>;
}

/** @param half  the marker that was read; null: there was none. @throws StoreError if another restore has begun since. */
async function mark(
  connection: MongoConnection,
  half: RestoringDocument | null,
  members: Pick<RestoringDocument, "since" | "observations">,
): Promise<Claim> {
  const by = randomUUID();
  const within = <T>(work: () => Promise<T>): Promise<T> => connection.within(operationTimeoutMs, work);
  const lost = (cause?: unknown): StoreError =>
    new StoreError("locked", connection.shown, "is being restored by another process", cause, "wait until that restore has ended");
  const own = { _id: "restoring", by } as const;
  try {
    const { by: before } = half ?? {};
    const asRead = { _id: "restoring", ...(half !== null && { by: before ?? { $exists: false } }) } as const;
    if (half === null) await within(() => markersOf(connection).insertOne({ ...own, ...members }));
    else if ((await within(() => markersOf(connection).updateOne(asRead, { $set: { by, ...members } }))).matchedCount === 0) throw lost();
  } catch (error) {
    throw isDuplicateKey(error) ? lost(error) : error;
  }
  return {
    connection,
    async check() {
      if ((await within(() => markersOf(connection).findOne(own))) === null) throw lost();
    },
    async end() {
      if ((await within(() => markersOf(connection).deleteOne(own))).deletedCount === 0) throw lost();
    },
  };
}

function halfObservations({ shown }: MongoConnection, copy: string): StoreError {
  const explanation = `its uploaded observations are only partly restored, and there is no ${observationsOf(copy)} to complete them`;
  const remedy = "restore the copy again whose restore was interrupted, or another one with observations";
  return new StoreError("unavailable", shown, explanation, undefined, remedy);
}

/** Deletes by pages, too: a year of usage takes longer to delete than one operation may. */
async function empty({ connection, check }: Claim, name: string): Promise<void> {
  for (let ids: unknown[] = []; ; ids = []) {
    for await (const { _id } of documentsOf(connection, name)) if (ids.push(_id) === pageOf(name)) break;
    if (ids.length === 0) return;
    await check();
    const collection = connection.db.collection<{ _id: unknown }>(name);
    await connection.within(operationTimeoutMs, () => collection.deleteMany({ _id: { $in: ids } } as object));
  }
}

async function fill({ connection, check }: Claim, copy: string): Promise<number> {
  let documents = 0;
  let held: AnyBulkWriteOperation<Document>[] = [];
  let into = "";
  const write = async (): Promise<void> => {
    await check();
    if (held.length > 0) await connection.within(operationTimeoutMs, () => insert(connection, into, held));
    documents += held.length;
    held = [];
  };
  for await (const { collection, document } of readCopy(copy)) {
    if (collection !== into || held.length === pageOf(collection)) await write();
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
