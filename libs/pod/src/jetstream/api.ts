/** Calls to JetStream, with its two kinds of failure told apart: something is not there, and nobody answered. */

import type { NatsError } from "@netfacts/messaging/nats-client";
import { SnapshotUnavailableError } from "@netfacts/snapshot";

/** No such stream, message or consumer. */
const notFound = "404";
/** Another message came first (`Expected-Last-Subject-Sequence`). */
const wrongLastSequence = 10_071;

/** The answer; null when what was asked for is not there. Throws `SnapshotUnavailableError`. */
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

export function unavailable(what: string, cause?: unknown): SnapshotUnavailableError {
  const why = cause === undefined ? "no response" : (cause as Error).message || (cause as NatsError).code;
  return new SnapshotUnavailableError(`${what}: JetStream: ${why}`, { cause });
}
