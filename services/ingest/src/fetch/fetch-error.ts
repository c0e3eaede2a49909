/** Why a fetch failed, and whether trying again may help. */

import { isDiskFull } from "@netfacts/storage";

export type FetchFault =
  /** The server, or the way to it: worth another try. */
  | "away"
  /** The server says so: it is not there, not for us, or not as asked for. */
  | "refused"
  /** Nothing is at this URL (404, 410): of a dated file an older one may be. */
  | "absent"
  /** We do not go there: an address, a scheme, too many redirects. */
  | "forbidden"
  /** Longer than `bytes_max` allows. */
  | "bound"
  /** Took longer than `seconds_max` allows. */
  | "late"
  /** What came is not what was announced: its length, its digest. */
  | "damaged"
  /** The disk, here. */
  | "disk";

export interface FetchErrorOptions {
  readonly cause?: unknown;
  /** Of the server: not before so many ms. */
  readonly retryAfterMs?: number;
}

/** A fetch that brought nothing. The message names no credentials. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly fault: FetchFault;
  readonly retryAfterMs: number | null;

  constructor(fault: FetchFault, message: string, { cause, retryAfterMs }: FetchErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.retryAfterMs = retryAfterMs ?? null;
  }

  get mayPass(): boolean {
    return this.fault === "away" || this.fault === "damaged";
  }
}

/** What the system or the TLS layer says of a connection, in words. */
export function connectionError(error: Error, where: string): FetchError {
  if (error instanceof FetchError) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  const words = wordsOf[code];
  if (words !== undefined) return new FetchError("away", `${where}: ${words} (${code})`, { cause: error });
  if (code.startsWith("HPE_"))
    return new FetchError("away", `${where}: what the server sends is not HTTP, or its headers are too long`, { cause: error });
  // OpenSSL's verdicts on certificates; another try gives the same.
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code))
    return new FetchError(
      "forbidden",
      `${where}: the certificate is not trusted (${code}); set ca_file to the certificate of its authority`,
      {
        cause: error,
      },
    );
  return new FetchError("away", `${where}: ${error.message}${code === "" || error.message.includes(code) ? "" : ` (${code})`}`, {
    cause: error,
  });
}

const wordsOf: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the server refuses connections",
  ECONNRESET: "the connection was closed",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "the server is unreachable",
  EHOSTUNREACH: "the server is unreachable",
  ENETUNREACH: "the network is unreachable",
  ENOTFOUND: "the name does not resolve",
  EAI_AGAIN: "the name does not resolve at the moment",
};

export function diskError(error: unknown, doing: string): FetchError {
  if (error instanceof FetchError) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const words = isDiskFull(code) ? `the disk is full (${code})` : message;
  return new FetchError("disk", `${doing}: ${words}; the last good version remains in use`, { cause: error });
}
