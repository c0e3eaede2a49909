/** The only error of the store: on one line, the place, the cause, and what to do. */

export type StoreFault = "damaged" | "locked" | "readonly" | "full" | "newer" | "foreign" | "unavailable" | "closed" | "invalid";

const remedies: Record<StoreFault, string> = {
  damaged: "restore it from a backup, or move it away to start with an empty store",
  locked: "another program uses it: wait, or stop that program",
  readonly: "give this user write permission to the file and its folder",
  full: "free some space on its disk",
  newer: "start the newer version of Netfacts that wrote it",
  foreign: "choose another path: this file belongs to another program",
  unavailable: "check that the folder exists and the disk works",
  invalid: "correct it in the database",
  closed: "this program closed it too early; report this bug",
};

const fullDisk: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);
const notWritable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS"]);

/** Whether the code of a system error means that the disk, a quota or a file size is at its limit. */
export const isDiskFull = (code = ""): boolean => fullDisk.has(code);

/** Whether the code of a system error means that this user, or any user, may not write there. */
export const isNotWritable = (code = ""): boolean => notWritable.has(code);

/** A system error for a file of the store, or of a copy of it. */
export function fileError(path: string, cause: unknown): StoreError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  if (code === "EEXIST") return new StoreError("unavailable", path, "already exists", cause, "choose another path, or remove it first");
  const fault = isNotWritable(code) ? "readonly" : isDiskFull(code) ? "full" : "unavailable";
  return new StoreError(fault, path, message, cause);
}

/** `message` is one line for people: `store PATH: CAUSE; REMEDY`. The remedies above are for a file. */
export class StoreError extends Error {
  readonly fault: StoreFault;
  /** For a server, its URI without user and password. */
  readonly path: string;
  /** The cause, without path and remedy; one line. */
  readonly explanation: string;

  constructor(fault: StoreFault, path: string, explanation: string, cause?: unknown, remedy: string = remedies[fault]) {
    const line = explanation.replaceAll(/\s+/g, " ");
    super(`store ${path}: ${line}; ${remedy}`, cause === undefined ? {} : { cause });
    this.explanation = line;
    this.name = "StoreError";
    this.fault = fault;
    this.path = path;
  }
}
