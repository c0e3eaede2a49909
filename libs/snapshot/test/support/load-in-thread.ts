/** Loads one snapshot as a follower does. */

import { type LoadedSnapshot, LoaderThreads, type StoreSource } from "../../src/index.ts";

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
