/** Files of certificates that are trusted besides the public ones. */

import { X509Certificate } from "node:crypto";

/** Why a text is no list of authorities in PEM, of which the first certificate tells; null: it is one. Node would take it for an empty one. */
export function authorityFault(text: string): string | null {
  try {
    new X509Certificate(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
