/** A problem as the text of a whole HTTP answer, for connections without a readable request (RFC 9112). */

import { errors, type ProblemError, type ProblemPlace, problemBody, problemHeaders } from "@netfacts/contracts";

/**
 * The answer with all its headers. It says that it is the last answer of its connection.
 *
 * @param fixedHeaders  headers of every answer (`security-headers.ts`).
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
