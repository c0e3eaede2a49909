/** Headers that pass the proxy, by a list for each direction. All others are dropped. */

import { internalHeaders } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyRequest {
    /** Id of the operator's key; null until it is verified. */
    keyId: string | null;
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Headers that describe a body. They pass only if there is one. */
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
 * The headers that ingest gets. They never include `Authorization`, cookies, or internal headers from a client. They include no trace
 * headers either: instrumentation adds its own, and the two would be joined.
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

/** Removes the headers that `answerHeaders` passed, before the gateway's own answer replaces that of ingest. */
export function withoutAnswerHeaders(reply: { removeHeader(name: string): unknown }): void {
  for (const name of responseHeaders) reply.removeHeader(name);
}
