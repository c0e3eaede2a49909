/** Authorities of an operator's own, beside those of Node. */

import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";

/** Most contexts that are kept. A list of sources has one or two files of authorities. */
const keptMax = 8;
/** By the content of the files, the one used last at the end. To make one takes some 20 ms, and referred geofeeds are thousands of fetches. */
const kept = new Map<string, SecureContext>();

/** @param files  contents of files of certificates (PEM). */
export function trusting(files: readonly string[]): SecureContext {
  const text = files.join("\n");
  const context = kept.get(text) ?? createSecureContext({ ca: [...getCACertificates("default"), ...files] });
  kept.delete(text);
  kept.set(text, context);
  for (const [oldest] of kept) if (kept.size > keptMax) kept.delete(oldest);
  return context;
}
