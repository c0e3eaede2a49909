/** Loads one snapshot in a thread. */

import { type LoadedSnapshot, LoaderThreads, type StoreSource } from "../../src/index.ts";
import { BackgroundLoader } from "../../src/loader.ts";

/** As a follower does. */
export async function loadInThread(
  source: StoreSource,
  id: string,
  loading?: Parameters<LoaderThreads["load"]>[1],
): Promise<LoadedSnapshot> {
  const threads = new LoaderThreads(source);
  try {
    return await threads.load(id, loading);
  } finally {
    await threads.close();
  }
}

/** As for a question about the past. */
export function loadInBackground(source: StoreSource, id: string): Promise<LoadedSnapshot> {
  return new BackgroundLoader(source).load(id);
}
