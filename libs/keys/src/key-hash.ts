/** Hashes of keys. Keys have full entropy, so a fast hash is right; a slow one would only block the event loop. */

import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { KeyRecord } from "./key-repository.ts";

/** A secret outside the store: without it, a stolen store cannot even confirm a guessed key. */
export interface Pepper {
  readonly id: string;
  readonly secret: string;
}

export function hashKey(text: string, pepper: Pepper | null): Pick<KeyRecord, "hash" | "hashAlgorithm" | "pepperId"> {
  if (pepper === null) return { hash: hash("sha256", text, "hex"), hashAlgorithm: "sha256", pepperId: null };
  return { hash: createHmac("sha256", pepper.secret).update(text).digest("hex"), hashAlgorithm: "hmac-sha256", pepperId: pepper.id };
}

/** Any hash of the right length. It is compared with if the id is unknown, so that both cases cost the same. */
const noHash = "0".repeat(64);

/**
 * Whether the text is the key of this record; constant time. A record of null (unknown id) takes the same steps and gives false, and so does a pepper
 * that is not configured.
 */
export function secretMatches(
  text: string,
  record: Pick<KeyRecord, "hash" | "pepperId"> | null,
  peppers: ReadonlyMap<string, string> = new Map(),
): boolean {
  const pepperId = record?.pepperId ?? null;
  const secret = pepperId === null ? null : (peppers.get(pepperId) ?? null);
  if (pepperId !== null && secret === null) return false;
  const pepper = pepperId === null || secret === null ? null : { id: pepperId, secret };
  const expected = Buffer.from(record?.hash ?? noHash, "latin1");
  const actual = Buffer.from(hashKey(text, pepper).hash, "latin1");
  return expected.length === actual.length && timingSafeEqual(expected, actual) && record !== null;
}
