/** The folder in which a run of tests keeps its temporary files: in memory if there is plenty of it, because writing to a disk takes time. */

import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "netfacts-test-";
/** Linux has a file system in memory there. Its owner may have limited it: containers have 64 MB by default. */
const linuxFolder = "/dev/shm";
const tmpfsType = 0x01021994;
/** A run has used 0.9 GiB. Test files and their programs take the rest. */
const freeBytesMin = 8 * 2 ** 30;
/** No run takes so long. A run that was killed has left a folder of this age. */
const leftMs = 24 * 60 * 60 * 1_000;

interface Memory {
  readonly folder: string;
  /** @returns type and free bytes of the file system that holds `path`. */
  fileSystem(path: string): { readonly type: number; readonly freeBytes: number };
  /** Memory that programs can still take, in bytes. */
  freeBytes(): number;
}

const thisMemory: Memory = {
  folder: linuxFolder,
  fileSystem: (path) => {
    const { type, bavail, bsize } = statfsSync(path);
    return { type, freeBytes: bavail * bsize };
  },
  freeBytes: () => process.availableMemory(),
};

/** @returns the path of a new folder. The caller removes it. If TMPDIR is set, the folder is there. */
export function makeTemporaryFolder(memory: Memory = thisMemory): string {
  if (process.env.TMPDIR || !hasRoom(memory)) return makeFolder(tmpdir());
  removeLeft(memory.folder);
  const folder = makeFolder(memory.folder);
  if (runsPrograms(folder)) return folder;
  rmSync(folder, { recursive: true });
  return makeFolder(tmpdir());
}

function makeFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, prefix));
  // Tests also run programs as another user.
  chmodSync(folder, 0o755);
  return folder;
}

function hasRoom({ folder, fileSystem, freeBytes }: Memory): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { type, freeBytes: folderBytes } = fileSystem(folder);
    return type === tmpfsType && Math.min(folderBytes, freeBytes()) >= freeBytesMin;
  } catch {
    return false;
  }
}

/** Whether programs may be run from there, which tests do. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name);
    try {
      if (name.startsWith(prefix) && statSync(path).mtimeMs < Date.now() - leftMs) rmSync(path, { recursive: true });
    } catch {
      // It is another user's, or another run has removed it.
    }
  }
}
