/** Keys out of text and JSON that is to be kept. */

import { displayKey } from "./key-text.ts";

/** Looser than a key's form, so that one with a typing error is no exception. */
const anyKey = /nf_(live|test)_([0-9A-Za-z]{8})_[0-9A-Za-z]*/g;

/** The value with every key in its texts, names of members included, as it may be shown; anything that is no JSON becomes null. */
export function withoutKeys(value: unknown): unknown {
  const json = JSON.stringify(value ?? null) ?? "null";
  // Keys consist of letters that JSON writes as they are.
  return JSON.parse(redactText(json)) as unknown;
}

export function redactText(text: string): string {
  return text.replaceAll(anyKey, (whole, environment: "live" | "test", id: string) =>
    displayKey({ environment, id, lastFour: whole.length >= 50 ? whole.slice(-4) : "" }),
  );
}
