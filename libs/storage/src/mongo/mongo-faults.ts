/** Errors of the driver as StoreErrors. */

import {
  MongoBulkWriteError,
  MongoError,
  MongoInvalidArgumentError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from "mongodb";
import { StoreError, type StoreFault } from "../store-error.ts";

const remedies: Partial<Record<StoreFault, string>> = {
  unavailable: "check that the MongoDB server runs and can be reached from here; nothing needs to be restarted",
  readonly: "give the user of its URI the role readWrite on this database",
  full: "give the server more disk space, or free some",
};

const loginRemedy = "check user and password in its URI, and set its authSource if the user was created in another database, such as admin";
const tlsRemedy = "check the host, tls, tlsCAFile and tlsCertificateKeyFile in its URI, and the certificate of the server";
const closedRemedy = "check that the MongoDB server runs, and whether it requires tls=true in its URI";

const indexRemedy = "drop that index, which another program made: this one makes its own";

/** Atlas has one code for all its refusals: logins, and writes beyond the space of the cluster. */
const atlasError = 8_000;
const authenticationFailed = 18;
/** IndexOptionsConflict and IndexKeySpecsConflict: an index with the same fields or the same name exists. */
const indexConflicts: ReadonlySet<number> = new Set([85, 86]);

/** Server error codes that are more specific than "unavailable" (mongodb.com/docs/manual/reference/error-codes). */
const faultsByCode: Readonly<Record<number, StoreFault>> = {
  13: "readonly", // Unauthorized
  [authenticationFailed]: "readonly",
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

export function mongoFault(fault: StoreFault, shown: string, explanation: string, cause?: unknown, remedy = remedies[fault]): StoreError {
  return new StoreError(fault, shown, explanation, cause, remedy);
}

/** Converts every error of the driver; our own faults (an invalid argument, an unexpected duplicate key) stay unchanged. */
export function asStoreError(shown: string, error: unknown): unknown {
  if (isBrokenConnection(error)) return mongoFault("unavailable", shown, error.message, error);
  if (!(error instanceof MongoError) || error instanceof MongoInvalidArgumentError || isDuplicateKey(error)) return error;
  if (closedNames.has(error.name)) return mongoFault("closed", shown, "is closed", error);
  const code = codeOf(error);
  const isOverQuota = code === atlasError && /quota/i.test(error.message);
  const explanation = error instanceof MongoServerSelectionError ? serversSeen(error) : error.message;
  const fault = isOverQuota ? "full" : (faultsByCode[code] ?? "unavailable");
  return mongoFault(fault, shown, explanation, error, remedyOf(explanation, code));
}

/** The server's code; for an operation that was not sent, that of the refusal which made the driver count the server as away. */
function codeOf(error: MongoError): number {
  const { code } = error.name === "MongoPoolClearedError" && error.cause instanceof MongoError ? error.cause : error;
  return typeof code === "number" ? code : 0;
}

/** States of servers as the driver names them. */
const states: Readonly<Record<string, string>> = {
  RSSecondary: "is a secondary",
  RSArbiter: "is an arbiter",
  RSOther: "is a hidden member, or not ready",
  RSGhost: "is in a replica set that is not initiated",
};

/** Says what the driver found, where it says only that its time is over, or only what one of several servers did. */
function serversSeen({ message, reason }: MongoServerSelectionError): string {
  const { setName = null, servers = new Map() } = reason as Partial<TopologyDescription>;
  if (setName !== null && servers.size === 0) return `none of its hosts is in a replica set named "${setName}"`;
  const seen = [...servers.values()].map(
    ({ address, type, error }) => `${address} ${error?.message ?? states[type] ?? "gave no usable answer"}`,
  );
  const isKnown = setName === null && /^(?!Server selection timed out)/.test(message);
  return isKnown || seen.length === 0
    ? message
    : `no primary${setName === null ? "" : ` of the replica set "${setName}"`} was found: ${seen.join(", ")}`;
}

/** Only the text says that TLS failed: codes of Node and OpenSSL are many. @returns undefined: the usual one of the fault. */
function remedyOf(explanation: string, code: number): string | undefined {
  const isLogin = code === authenticationFailed || /requires authentication/.test(explanation);
  if (isLogin || (code === atlasError && /auth/i.test(explanation))) return loginRemedy;
  if (code !== 0) return indexConflicts.has(code) ? indexRemedy : undefined;
  if (/in a replica set/.test(explanation)) return "check hosts and replicaSet in its URI, and rs.status() on the server";
  if (/certificate|TLS|SSL|routines:/.test(explanation)) return tlsRemedy;
  return /connection <monitor> .* closed/.test(explanation) ? closedRemedy : undefined;
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
