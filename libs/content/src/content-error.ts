/** The reason why a file's content cannot be read. */

/**
 * - `unreadable`: the operating system refuses the file (`cause` has the reason).
 * - `truncated`: the compressed data end early.
 * - `damaged`: the compressed data are inconsistent (checksum, code, size).
 * - `trailing`: the compressed data are followed by something that is not another member.
 * - `unsupported`: a compression that is not supported, or too many empty frames in a row.
 */
export type ContentErrorCode = "unreadable" | "truncated" | "damaged" | "trailing" | "unsupported";

export class ContentError extends Error {
  readonly code: ContentErrorCode;
  readonly path: string;
  /** Offset in the stored file up to which it was sound: for bzip2 the start of the block, for gzip at most one read (1 MiB) before the fault. */
  readonly offset: number;

  constructor(code: ContentErrorCode, path: string, offset: number, detail: string, options?: { cause?: unknown }) {
    // A file that was not opened has no offset.
    super(`${path}: ${detail}${code === "unreadable" && offset === 0 ? "" : ` (at byte ${offset} of the file)`}`, options);
    this.name = "ContentError";
    this.code = code;
    this.path = path;
    this.offset = offset;
  }
}

/** The code of an error of the system or of zlib. By its shape: `instanceof` fails for errors of another realm. */
export function codeOf(error: unknown): string | null {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : null;
}

/** The most frequent codes of errno(3), in words. */
const systemReasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  ELOOP: "its symbolic links form a loop",
  EIO: "disk error",
};

/** The reason why the system refused a file, in words; also for other errors. */
export function systemReason(error: unknown): string {
  return systemReasons[codeOf(error) ?? ""] ?? "the system refused it";
}
