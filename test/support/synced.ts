/** What a piece of work makes safe from a power failure. */

import { type FileHandle, open } from "node:fs/promises";
import { jest } from "@jest/globals";

/** The kinds of what the work syncs through a `FileHandle`, in this order. */
export async function syncedBy(work: () => Promise<unknown>): Promise<("file" | "folder")[]> {
  const any = await open(import.meta.dirname);
  const sync = jest.spyOn(Object.getPrototypeOf(any) as FileHandle, "sync");
  const kinds: ("file" | "folder")[] = [];
  sync.mockImplementation(async function (this: FileHandle) {
    kinds.push((await this.stat()).isDirectory() ? "folder" : "file");
  });
  try {
    await work();
  } finally {
    sync.mockRestore();
    await any.close();
  }
  return kinds;
}
