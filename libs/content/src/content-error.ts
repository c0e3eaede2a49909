/** Why a file's content could not be had. */

/**
 * - `unreadable`: the operating system refuses the file (`cause` says why).
 * - `truncated`: the compressed data end early.
 * - `damaged`: the compressed data contradict themselves (checksum, code, size).
 * - `trailing`: something that is no further member stands behind the compressed data.
 * - `unsupported`: a compression that is not read here, or more empty frames in a row than are read.
 */
export type ContentErrorCode = "unreadable" | "truncated" | "damaged" | "trailing" | "unsupported";

export class ContentError extends Error {
  readonly code: ContentErrorCode;
  readonly path: string;
  /** Byte of the file as it is stored up to which it was sound: for bzip2 where the block begins, for gzip at most one read (1 MiB) before the fault. */
  readonly offset: number;

  constructor(code: ContentErrorCode, path: string, offset: number, detail: string, options?: { cause?: unknown }) {
    // Of what was not opened there is no byte to tell.
    super(`${path}: ${detail}${code === "unreadable" && offset === 0 ? "" : ` (at byte ${offset} of the file)`}`, options);
    this.name = "ContentError";
    this.code = code;
    this.path = path;
    this.offset = offset;
  }
}

/** The code of a system's or zlib's error. By shape: `instanceof` fails for errors of another realm. */
export function codeOf(error: unknown): string | null {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : null;
}

/** The commonest of errno(3), in words. */
const systemReasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EIO: "disk error",
};

/** Why the system refused a file, in words; for an error that is none of its codes as well. */
export function systemReason(error: unknown): string {
  return systemReasons[codeOf(error) ?? ""] ?? "the system refused it";
}
