/** Calls to JetStream, with its two kinds of failure distinguished: something is missing, or nobody answered. */

import type { NatsError } from "@netfacts/messaging/nats-client";
import { SnapshotUnavailableError } from "@netfacts/snapshot";

/** There is no such stream, message or consumer. */
const notFound = "404";
/** Another message was first (`Expected-Last-Subject-Sequence`). */
const wrongLastSequence = 10_071;
/** The storage is full: that of the account, or of the server (two codes). */
const full: readonly number[] = [10_002, 10_023, 10_047];

/** The answer; null when the requested item is missing. Throws `SnapshotUnavailableError`. */
export async function found<T>(what: string, call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (cause) {
    if ((cause as NatsError).code === notFound) return null;
    throw unavailable(what, cause);
  }
}

/** The answer. Throws `SnapshotUnavailableError`. */
export async function answered<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw unavailable(what, cause);
  }
}

export function isWrongLastSequence(error: unknown): boolean {
  return (error as NatsError).api_error?.err_code === wrongLastSequence;
}

/** Whether the server answered that it did not store a message. False: nobody answered, and it may be stored. */
export function isRefused(error: unknown): boolean {
  return (error as NatsError).api_error !== undefined;
}

export function unavailable(what: string, cause?: unknown): SnapshotUnavailableError {
  return new SnapshotUnavailableError(`${what}: JetStream: ${cause === undefined ? "no response" : reasonOf(cause as NatsError)}`, {
    cause,
  });
}

/** The server's description if there is one: for some errors the client keeps only the number. */
function reasonOf({ api_error: error, message, code }: NatsError): string {
  const reason = error?.description || message || code;
  const isFull = full.includes(error?.err_code ?? 0);
  return isFull ? `${reason}: its storage is full; allow it more (max_file_store), or delete other streams` : reason;
}
