/** Errors of the driver as StoreErrors. */

import { MongoBulkWriteError, MongoError, MongoInvalidArgumentError, MongoServerError } from "mongodb";
import { StoreError, type StoreFault } from "../store-error.ts";

const remedies: Partial<Record<StoreFault, string>> = {
  unavailable: "check that the MongoDB server runs and can be reached from here; nothing needs to be restarted",
  readonly: "check user and password in its URI, and give the user the role readWrite on this database",
  full: "give the server more disk space, or free some",
};

/** Atlas has one code for all its refusals: logins, and writes beyond the space of the cluster. */
const atlasError = 8_000;

/** Server error codes that are more specific than "unavailable" (mongodb.com/docs/manual/reference/error-codes). */
const faultsByCode: Readonly<Record<number, StoreFault>> = {
  13: "readonly", // Unauthorized
  18: "readonly", // AuthenticationFailed
  [atlasError]: "readonly",
  14031: "full", // OutOfDiskSpace
};

/** We closed the client. */
const closedNames = new Set([
  "MongoNotConnectedError",
  "MongoTopologyClosedError",
  "MongoClientClosedError",
  "MongoServerClosedError",
  "PoolClosedError",
  "MongoPoolClosedError",
]);

export function mongoFault(fault: StoreFault, shown: string, explanation: string, cause?: unknown): StoreError {
  return new StoreError(fault, shown, explanation, cause, remedies[fault]);
}

/** Converts every error of the driver; our own faults (an invalid argument, an unexpected duplicate key) stay unchanged. */
export function asStoreError(shown: string, error: unknown): unknown {
  if (isBrokenConnection(error)) return mongoFault("unavailable", shown, error.message, error);
  if (!(error instanceof MongoError) || error instanceof MongoInvalidArgumentError || isDuplicateKey(error)) return error;
  if (closedNames.has(error.name)) return mongoFault("closed", shown, "is closed", error);
  const code = error instanceof MongoServerError && typeof error.code === "number" ? error.code : 0;
  const isOverQuota = code === atlasError && /quota/i.test(error.message);
  return mongoFault(isOverQuota ? "full" : (faultsByCode[code] ?? "unavailable"), shown, error.message, error);
}

/** `ECONNRESET`, `EPIPE` and similar codes, `ERR_STREAM_DESTROYED`, `ERR_SOCKET_CLOSED`. */
const systemOrSocketCode = /^(E[A-Z]+|ERR_(STREAM|SOCKET)_\w+)$/;

/** A socket that breaks while the driver writes to it fails with Node's own error, which the driver passes on unchanged. */
function isBrokenConnection(error: unknown): error is NodeJS.ErrnoException {
  if (error instanceof MongoError || !Error.isError(error)) return false;
  return systemOrSocketCode.test((error as NodeJS.ErrnoException).code ?? "");
}

const duplicateKey = 11_000;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey;
}

/**
 * The places of the documents that met a duplicate key in an unordered bulk write.
 *
 * @param error  of the bulk write.
 * @throws the error if anything else failed; StoreError if the outcome is unknown, because the write concern failed too: then documents that were
 * written may still be lost, and the write must be repeated.
 */
export function duplicatesOnly(shown: string, error: unknown): number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const faults = [error.writeErrors].flat();
  const areDuplicates = faults.length > 0 && faults.every(({ code }) => code === duplicateKey);
  if (areDuplicates && error.result.getWriteConcernError() === undefined) return faults.map(({ index }) => index);
  // The error has the code of its first fault, which says nothing about the others.
  throw isDuplicateKey(error) ? mongoFault("unavailable", shown, error.message, error) : error;
}
