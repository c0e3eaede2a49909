/**
 * The file of a copied database: lines of JSON (NDJSON). First a header, then one line `[collection, document]` for each document in MongoDB's
 * Extended JSON (canonical form, which keeps the types), last the counts and the digest of all lines before.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { BSON, type Document } from "mongodb";
import { fileError, StoreError, type StoreFault } from "../store-error.ts";
import { syncFolder } from "../sync-folder.ts";
import { schemaVersion } from "./mongo-schema.ts";

const { EJSON } = BSON;

/** Increase it when lines change so that an older program would misread them. */
const formatVersion = 1;

export interface CopyHeader {
  readonly netfacts_store_copy: number;
  /** Schema of the documents: `schemaVersion`. */
  readonly schema: number;
  readonly created_at: string;
}

interface CopyEnd {
  readonly documents: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly sha256: string;
}

export interface CopiedDocument {
  readonly collection: string;
  readonly document: Document;
}

/** Number of characters that are gathered for each write. */
const writeCharsMax = 1 << 16;

/** Writes a copy that only its owner may read. A file without `end` counts as incomplete. */
export class CopyWriter {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #digest = createHash("sha256");
  readonly #counts: Record<string, number> = {};
  #held: string[] = [];
  #heldChars = 0;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** @param path  a file that does not exist yet. @throws StoreError */
  static async create(path: string, createdAt: number): Promise<CopyWriter> {
    const file = await open(path, "wx", 0o600).catch((cause: unknown) => {
      throw fileError(path, cause);
    });
    const writer = new CopyWriter(path, file);
    const header: CopyHeader = { netfacts_store_copy: formatVersion, schema: schemaVersion, created_at: new Date(createdAt).toISOString() };
    await writer.#add(JSON.stringify(header));
    return writer;
  }

  async write(collection: string, document: Document): Promise<void> {
    this.#counts[collection] = (this.#counts[collection] ?? 0) + 1;
    await this.#add(EJSON.stringify([collection, document], { relaxed: false }));
  }

  /** Completes the copy: resolves when it is safe on the disk. @returns the number of its documents. */
  async end(): Promise<number> {
    const documents = Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
    await this.#flush();
    const end: CopyEnd = { documents, counts: this.#counts, sha256: this.#digest.digest("hex") };
    try {
      await this.#file.appendFile(`${JSON.stringify(end)}\n`);
      await this.#file.sync();
      await this.#file.close();
      await syncFolder(dirname(this.#path));
    } catch (cause) {
      throw fileError(this.#path, cause);
    }
    return documents;
  }

  /** Removes the unfinished file. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => undefined);
    await rm(this.#path, { force: true });
  }

  async #add(line: string): Promise<void> {
    this.#held.push(`${line}\n`);
    this.#heldChars += line.length;
    if (this.#heldChars >= writeCharsMax) await this.#flush();
  }

  async #flush(): Promise<void> {
    const text = this.#held.join("");
    this.#held = [];
    this.#heldChars = 0;
    this.#digest.update(text);
    try {
      await this.#file.appendFile(text);
    } catch (cause) {
      throw fileError(this.#path, cause);
    }
  }
}

/**
 * The documents of a copy, in the order in which they were written. Read to the end to know that the copy is complete.
 *
 * @throws StoreError: `foreign` for a file of another kind, `newer` for one of a later version of ours, `damaged` for one that is truncated or
 * changed.
 */
export async function* readCopy(path: string): AsyncGenerator<CopiedDocument> {
  const digest = createHash("sha256");
  const counts: Record<string, number> = {};
  let header: CopyHeader | null = null;
  let end: CopyEnd | null = null;
  for await (const line of linesOf(path)) {
    if (end !== null) throw copyFault("damaged", path, "has data after its end");
    if (header === null) {
      header = readHeader(path, line);
      digest.update(`${line}\n`);
      continue;
    }
    const read = readLine(path, line);
    if (!Array.isArray(read)) {
      end = read;
      continue;
    }
    digest.update(`${line}\n`);
    const [collection, document] = read;
    counts[collection] = (counts[collection] ?? 0) + 1;
    yield { collection, document };
  }
  if (header === null) throw copyFault("foreign", path, notOurs);
  if (end === null) throw copyFault("damaged", path, "is truncated: its last line is missing");
  const isSame = Object.entries({ ...end.counts, ...counts }).every(([name]) => end.counts[name] === counts[name]);
  if (!isSame || end.sha256 !== digest.digest("hex")) throw copyFault("damaged", path, "was changed: its digest does not match");
}

/** A file of another kind may be one line of gigabytes; our lines are far shorter. */
const lineCharsMax = 1 << 26;

async function* linesOf(path: string): AsyncGenerator<string> {
  const pieces = createReadStream(path, { encoding: "utf8" });
  let rest = "";
  try {
    for await (const piece of pieces) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > lineCharsMax) throw copyFault("foreign", path, notOurs);
      yield* lines;
    }
  } catch (cause) {
    throw cause instanceof StoreError ? cause : fileError(path, cause);
  }
  if (rest !== "") yield rest;
}

const notOurs = "is not a copy of a database made by `netfacts backup`";

function readHeader(path: string, line: string): CopyHeader {
  let header: Partial<CopyHeader> | null = null;
  try {
    header = JSON.parse(line) as Partial<CopyHeader> | null;
  } catch {
    // Not JSON: reported below.
  }
  const { netfacts_store_copy: format, schema } = header ?? {};
  if (typeof format !== "number" || typeof schema !== "number") throw copyFault("foreign", path, notOurs);
  if (format > formatVersion || schema > schemaVersion) {
    throw copyFault(
      "newer",
      path,
      `has format ${format} and schema version ${schema}; this program supports ${formatVersion} and ${schemaVersion}`,
    );
  }
  return header as CopyHeader;
}

function readLine(path: string, line: string): [string, Document] | CopyEnd {
  try {
    const read = EJSON.parse(line, { relaxed: false }) as unknown;
    if (Array.isArray(read) && read.length === 2 && typeof read[0] === "string") return read as [string, Document];
    const end = JSON.parse(line) as Partial<CopyEnd>;
    if (typeof end.sha256 === "string" && typeof end.counts === "object") return end as CopyEnd;
  } catch {
    // Not JSON: reported below.
  }
  throw copyFault("damaged", path, "has a line that cannot be read");
}

export function copyFault(fault: StoreFault, path: string, explanation: string, cause?: unknown): StoreError {
  const remedies: Partial<Record<StoreFault, string>> = {
    damaged: "use another copy",
    foreign: "choose the file that `netfacts backup` wrote with MONGODB_URI set",
    newer: "use the newer version of Netfacts that wrote it",
  };
  return new StoreError(fault, path, explanation, cause, remedies[fault]);
}
