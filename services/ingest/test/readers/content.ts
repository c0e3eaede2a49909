/** Made-up sources for the tests of the readers. */

import { openContent } from "@netfacts/content";
import type { SourceContent } from "../../src/readers/reader-report.ts";

/** Text or bytes as a source, cut into pieces of the given size. */
export function contentOf(text: string | Uint8Array, pieceBytes = 65_536, bounds: Partial<SourceContent> = {}): SourceContent {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  return { file: "made-up", chunks: pieces(), bytesMax: 1e9, secondsMax: 60, badRecordsMax: 0.01, ...bounds };
}

/** A file as a source, unpacked. */
export function contentOfFile(path: string): SourceContent {
  return { file: path, chunks: openContent(path).stream, bytesMax: 1e9, secondsMax: 60, badRecordsMax: 0.01 };
}

/** What a reading threw; fails when it threw nothing. */
export async function failureOf(reading: Promise<unknown>): Promise<Error> {
  try {
    await reading;
  } catch (error) {
    return error as Error;
  }
  throw new Error("expected a refusal, and it was read");
}
