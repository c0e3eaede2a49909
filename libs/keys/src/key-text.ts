/** The text of a key: `nf_<live|test>_<id>_<secret><checksum>` (docs/design/protocols.md#keys). */

import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import type { KeyEnvironment, KeyRecord } from "./key-repository.ts";

/** Crockford's base 32: no I, L, O, U. */
const idAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 8;
const secretLength = 32;
const checksumLength = 6;

const pattern = /^nf_(live|test)_([0-9A-HJKMNP-TV-Z]{8})_[0-9A-Za-z]{38}$/;

export interface KeyText {
  /** The whole key, including the secret: for hashing, and for showing it once. */
  readonly text: string;
  readonly environment: KeyEnvironment;
  readonly id: string;
}

/** Generates a key; `id`: for a record whose id is already decided. */
export function generateKeyText(environment: KeyEnvironment, id: string = randomText(idAlphabet, idLength)): KeyText {
  const body = `nf_${environment}_${id}_${randomText(base62, secretLength)}`;
  return { text: body + checksum(body), environment, id };
}

/** Null unless form and checksum are right, so that typing errors and random text cost no store read. */
export function parseKeyText(text: string): KeyText | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const end = text.length - checksumLength;
  if (text.slice(end) !== checksum(text.slice(0, end))) return null;
  // Both groups are part of every match.
  return { text, environment: match[1] as KeyEnvironment, id: match[2] as string };
}

/** The fault of a text that `parseKeyText` refuses. It can be found without the store. */
export function keyTextFault(text: string): "form" | "checksum" {
  return pattern.test(text) ? "checksum" : "form";
}

/** The form in which a key is shown after its creation: `nf_live_7Q9M3W8K_…x4Pq`. */
export function displayKey(key: Pick<KeyRecord, "environment" | "id" | "lastFour">): string {
  return `nf_${key.environment}_${key.id}_…${key.lastFour}`;
}

/** IEEE CRC-32 in base 62, most significant digit first. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < checksumLength; i++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Rejection sampling: bytes past the last whole multiple of the alphabet would favour its first letters. */
function randomText(alphabet: string, length: number): string {
  const bound = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < bound && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}
