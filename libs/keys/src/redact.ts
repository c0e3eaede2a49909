/** Removes keys from text and JSON before it is stored. */

import { displayKey } from "./key-text.ts";

/** Looser than the form of a key, so that a key with a typing error is redacted too. */
const anyKey = /nf_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]*/g;

/** The value with every key in its texts, including names of members, in its shown form; a value that is not JSON becomes null. */
export function withoutKeys(value: unknown): unknown {
  const json = JSON.stringify(value ?? null) ?? "null";
  // Keys consist of characters that JSON does not escape.
  return JSON.parse(redactText(json)) as unknown;
}

export function redactText(text: string): string {
  return text.replaceAll(anyKey, (whole, environment: "live" | "test", id: string) =>
    displayKey({ environment, id, lastFour: whole.length >= 50 ? whole.slice(-4) : "" }),
  );
}
