/** Conditional requests (RFC 9110 §13) with weak entity tags. */

import { hash } from "node:crypto";

/**
 * The weak tag of an answer: the same question over the same sections has the same tag, whatever its request id and ages say.
 *
 * @param basis what the answer depends on besides the question.
 */
export function weakEtag(op: string, query: string, basis: string): string {
  return `W/"${hash("sha256", `${op}\n${query}\n${basis}`, "base64url").slice(0, 22)}"`;
}

/** Whether `If-None-Match` names the tag, by weak comparison. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  return (header.match(/(?:W\/)?"[^"]*"/g) ?? []).some((tag) => tag.replace(/^W\//, "") === opaque);
}
