/** Why a fetch failed, and whether trying again may help. */

import { isDiskFull } from "@netfacts/storage";

export type FetchFault =
  /** The server is unavailable or cannot be reached: another try may succeed. */
  | "away"
  /** The server refuses the request, or answers in another way than requested. */
  | "refused"
  /** Nothing is at this URL (404, 410): a dated file may have an older one. */
  | "absent"
  /** We may not have what is at this URL (403). Stores such as S3 also answer so for a missing file if they do not list their files for us. */
  | "denied"
  /** We do not connect: because of the address, the scheme, too many redirects, or an untrusted certificate. */
  | "forbidden"
  /** Longer than `bytes_max` allows. */
  | "bound"
  /** Took longer than `seconds_max` allows. */
  | "late"
  /** The content differs from what was announced: its length or its digest. */
  | "damaged"
  /** The local disk failed, or is full. */
  | "disk";

export interface FetchErrorOptions {
  readonly cause?: unknown;
  /** `Retry-After` of the server, in ms. */
  readonly retryAfterMs?: number;
}

/** A failed fetch. The message contains no credentials. */
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

/** Words for an error of the system or of TLS on a connection. */
export function connectionError(error: Error, where: string): FetchError {
  if (error instanceof FetchError) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  const words = wordsOf[code];
  if (words !== undefined) return new FetchError("away", `${where}: ${words} (${code})`, { cause: error });
  if (code.startsWith("HPE_"))
    return new FetchError("away", `${where}: what the server sends is not HTTP, or its headers are too long`, { cause: error });
  const certificate = certificateFaults[code];
  if (certificate !== undefined) return new FetchError("forbidden", `${where}: ${certificate} (${code})`, { cause: error });
  // OpenSSL's verdicts on certificates: another try gets the same.
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

/** Faults of certificates that no further authority mends. */
const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the certificate is not trusted: it has expired, or the clock of this machine is wrong",
  CERT_NOT_YET_VALID: "the certificate is not trusted: it is not valid yet, or the clock of this machine is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is not trusted: it is for another name",
};

export function diskError(error: unknown, doing: string): FetchError {
  if (error instanceof FetchError) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  const words = isDiskFull(code) ? `the disk is full (${code})` : message;
  return new FetchError("disk", `${doing}: ${words}; the last good version remains in use`, { cause: error });
}
