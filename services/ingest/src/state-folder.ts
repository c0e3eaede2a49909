/** Checks whether ingest can write its state folder, before it leads and regularly after that. A process that cannot write does not lead. */

import { randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@netfacts/runtime";
import { DanglingLinkError, makeFolder } from "@netfacts/storage";

export interface StateFolderDeps {
  readonly folder: string;
  readonly log: Pick<Logger, "info" | "error">;
  /** Called with the fault, and with null once it is gone. */
  readonly explain: (fault: string | null) => void;
  /** Time between two checks, in ms. Default: 5 s. */
  readonly lookMs?: number;
}

const lookMsDefault = 5_000;
/** Size of the file that a check writes: a file system without room for it counts as full. */
const probe = Buffer.alloc(4_096);

const reasons: Readonly<Record<string, string>> = {
  EROFS: "the file system is read-only",
  EACCES: "this user has no permission to write there",
  EPERM: "this user has no permission to write there",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it is not a directory",
  ENOTDIR: "it is not a directory",
};

export class StateFolder {
  readonly #deps: StateFolderDeps;
  #fault: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: StateFolderDeps) {
    this.#deps = deps;
  }

  /** Why the directory cannot be written, beginning with the setting's name; null if it can. */
  get fault(): string | null {
    return this.#fault;
  }

  /**
   * Checks now, and regularly until `stop`.
   *
   * @param onWritable  called when the directory can be written: at first, and after each `onFault`.
   * @param onFault     called when two checks in a row found a fault: a run may fill the disk for a moment.
   */
  async start(onWritable: () => Promise<void>, onFault: (fault: string) => Promise<void>): Promise<void> {
    let isUsed = false;
    const look = async (): Promise<void> => {
      const hadFault = this.#fault !== null;
      await this.#look();
      if (this.#stopped) return;
      this.#timer = setTimeout(() => void look(), this.#deps.lookMs ?? lookMsDefault).unref();
      const fault = this.#fault;
      if (fault === null && !isUsed) {
        isUsed = true;
        await onWritable();
      } else if (fault !== null && hadFault && isUsed) {
        isUsed = false;
        await onFault(fault);
      }
    };
    await look();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { folder, log, explain } = this.#deps;
    const before = this.#fault;
    this.#fault = await writingFault(folder);
    if (this.#fault === before) return;
    explain(this.#fault);
    if (this.#fault === null) log.info({ folder }, "INGEST_STATE_DIR can be written again");
    else log.error({ folder, fault: this.#fault }, "INGEST_STATE_DIR cannot be written; ingest is not ready");
  }
}

/** Writes a small file to the disk and removes it. */
async function writingFault(folder: string): Promise<string | null> {
  const path = join(folder, `.writable-${randomUUID()}`);
  try {
    makeFolder(folder);
    const file = await open(path, "wx");
    try {
      await file.writeFile(probe);
      await file.sync();
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
    return null;
  } catch (error) {
    if (error instanceof DanglingLinkError) return `INGEST_STATE_DIR: ${error.message}`;
    const { code = "", message } = error as NodeJS.ErrnoException;
    return `INGEST_STATE_DIR: ${folder} cannot be written: ${reasons[code] ?? (code || message)}`;
  }
}
