/** How a store fails, for tests. */

import { expect } from "@jest/globals";
import { StoreError } from "../src/index.ts";

/** The StoreError with which it fails, which is one line. */
export async function rejection(work: Promise<unknown>): Promise<StoreError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreError)) throw new Error(`expected a StoreError, got ${String(error)}`);
  expect(error.message).not.toContain("\n");
  return error;
}

export async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const started = performance.now();
  const result = await work;
  return { result, ms: performance.now() - started };
}
