/** Which headers pass the proxy: lists of what may, in both directions. Whatever is not named stays behind. */

import { internalHeaders } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** Id of the operator's key, once it was admitted. */
    keyId: string | null;
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What a client says of its content and of the answer that it takes. Encodings and lengths belong to a body, and go with one only. */
const contentHeaders = ["content-type", "content-length", "content-encoding"];
const otherRequestHeaders = ["accept"];

const responseHeaders = [
  "content-type",
  "content-length",
  "content-encoding",
  "content-disposition",
  "cache-control",
  "etag",
  "last-modified",
  "location",
  "allow",
  "retry-after",
];

/**
 * The headers that ingest gets. Never `Authorization`, a cookie, or an internal header that a client made up; no trace headers either,
 * as instrumentation writes its own and the two would be joined.
 */
export function requestHeaders(request: FastifyRequest, proxyToken: string): Record<string, string> {
  const names = request.body === undefined ? otherRequestHeaders : [...contentHeaders, ...otherRequestHeaders];
  return {
    ...Object.fromEntries(
      names.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === "string" ? [[name, value]] : [];
      }),
    ),
    "x-request-id": request.id,
    "x-forwarded-for": request.clientAddress,
    [internalHeaders.proxyToken]: proxyToken,
    ...(request.keyId === null ? {} : { [internalHeaders.keyId]: request.keyId }),
  };
}

/** The headers of ingest's answer that the client gets. */
export function answerHeaders(headers: Headers): Record<string, string | string[]> {
  return Object.fromEntries(
    responseHeaders.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Takes back what `answerHeaders` let through, for an answer of our own in place of that one. */
export function withoutAnswerHeaders(reply: { removeHeader(name: string): unknown }): void {
  for (const name of responseHeaders) reply.removeHeader(name);
}
