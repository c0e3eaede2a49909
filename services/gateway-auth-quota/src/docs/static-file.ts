/** Files that are equal for all callers: kept in memory, compressed once, with entity tags. */

import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { RouteHandlerMethod } from "fastify";
import { preferredCoding } from "../edge/accept.ts";
import { filePolicy } from "../edge/page-policies.ts";
import { matchesEtag } from "../lookups/conditional.ts";

/** A file to serve. */
export interface StaticFile {
  readonly body: string | Buffer;
  readonly contentType: string;
  /** Policy for a file that is opened as a page. Default: the page runs and loads nothing. */
  readonly contentSecurityPolicy?: string;
}

/** Compression of shorter files saves no packet. */
const gzipBytesMin = 1_024;

/** @param load  called at the first request: most processes get none. */
export function staticHandler(load: () => StaticFile): RouteHandlerMethod {
  let served: ReturnType<typeof prepare> | null = null;
  return async (request, reply) => {
    served ??= prepare(load());
    const { file, plain, packed, etag } = await served;
    reply.headers({
      "cache-control": "public, max-age=3600",
      "content-security-policy": file.contentSecurityPolicy ?? filePolicy,
      vary: "Accept-Encoding",
      etag,
    });
    if (matchesEtag(request.headers["if-none-match"], etag)) return reply.code(304).send();
    reply.header("content-type", file.contentType);
    if (packed === null || preferredCoding(request.headers["accept-encoding"] ?? "", ["gzip"]) === null) return reply.send(plain);
    return reply.header("content-encoding", "gzip").send(packed);
  };
}

async function prepare(file: StaticFile) {
  const plain = Buffer.from(file.body);
  // Weak, because it is the same for the compressed form.
  const etag = `W/"${hash("sha256", plain, "base64url").slice(0, 22)}"`;
  return { file, plain, packed: plain.length < gzipBytesMin ? null : await promisify(gzip)(plain), etag };
}
