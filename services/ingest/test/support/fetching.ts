/** Fetches of a test: into a folder of its own, without waiting between tries. */

import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FetchContext, type FetchOutcome, fetchSource, type RemoteSource } from "../../src/fetch/index.ts";

export interface Fetching {
  readonly downloads: string;
  /** How long each pause between tries would have been, ms. */
  readonly pauses: number[];
  fetch(url: string, source?: SourceOptions, context?: Partial<FetchContext>): Promise<FetchOutcome & { readonly content: Buffer }>;
  remove(): void;
}

type SourceOptions = Partial<Omit<RemoteSource, "fetch">> & Partial<RemoteSource["fetch"]>;

/** Loopback is allowed, as the servers of tests are there. */
export function fetching(): Fetching {
  const downloads = mkdtempSync(join(tmpdir(), "netfacts-fetch-"));
  const pauses: number[] = [];
  return {
    downloads,
    pauses,
    async fetch(url, { name = "source", bytesMax = 1 << 20, secondsMax = 60, ...fetch } = {}, context = {}) {
      const source: RemoteSource = {
        name,
        bytesMax,
        secondsMax,
        fetch: {
          url,
          everySeconds: 0,
          allowPrivate: true,
          allowDowngrade: false,
          md5: "no",
          caFile: null,
          authorizationFile: null,
          ...fetch,
        },
      };
      const outcome = await fetchSource(source, {
        downloads,
        userAgent: "netfacts/test",
        caFile: "",
        random: () => 0.5,
        pause: async (ms) => void pauses.push(ms),
        ...context,
      });
      return { ...outcome, content: await readFile(outcome.path) };
    },
    remove: () => rmSync(downloads, { recursive: true }),
  };
}

/** The error of a fetch that must fail. */
export async function failure(
  fetch: Promise<unknown>,
): Promise<Error & { readonly fault?: string; readonly retryAfterMs?: number | null }> {
  try {
    await fetch;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not fail");
}
