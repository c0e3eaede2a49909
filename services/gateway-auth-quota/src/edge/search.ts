/** The query string of a request, unchanged. */

import type { FastifyRequest } from "fastify";

/** The raw query string of the request, without `?`. */
export function searchOf(request: FastifyRequest): string {
  const { url } = request;
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}
