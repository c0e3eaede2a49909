/** A problem as the text of a whole answer, for connections that have no request to answer (RFC 9112). */

import { errors, type ProblemError, type ProblemPlace, problemBody, problemHeaders } from "@netfacts/contracts";

/**
 * The answer, with the headers that every answer has. It says that it is the last one of its connection.
 *
 * @param fixedHeaders  those of every answer (`security-headers.ts`).
 * @param now           ms since the epoch, for `Date` (RFC 9110 §6.6.1).
 */
export function problemText(
  error: ProblemError,
  place: ProblemPlace,
  { fixedHeaders, now }: { readonly fixedHeaders: Readonly<Record<string, string>>; readonly now: number },
): string {
  const body = JSON.stringify(problemBody(error, place));
  const { status, title } = errors[error.code];
  const headers = {
    ...fixedHeaders,
    ...problemHeaders(error, place),
    date: new Date(now).toUTCString(),
    connection: "close",
    "content-length": String(Buffer.byteLength(body)),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${title}\r\n${head.join("")}\r\n${body}`;
}
