/** Configured peppers: several while one replaces another. */

import type { Pepper } from "./key-hash.ts";

export interface Peppers {
  /** The pepper of new hashes; null: none, plain SHA-256. */
  readonly current: Pepper | null;
  /** Secret by id, of all peppers that keys may have been hashed with. */
  readonly secrets: ReadonlyMap<string, string>;
}

const pepperCharsMin = 32;
const idPattern = /^[A-Za-z0-9_-]{1,32}$/;

/**
 * Reads `id:secret`, one per line or separated by commas; the first is the current one. Lines that begin with `#` are comments.
 *
 * @returns `faults` by the number of the entry, never with a part of a secret.
 */
export function readPeppers(text: string): { readonly peppers: Peppers; readonly faults: readonly string[] } {
  const entries = text
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "" && !entry.startsWith("#"));
  const faults: string[] = [];
  const secrets = new Map<string, string>();
  entries.forEach((entry, at) => {
    const colon = entry.indexOf(":");
    const [id, secret] = colon < 0 ? ["", ""] : [entry.slice(0, colon), entry.slice(colon + 1)];
    const fault = (message: string): void => void faults.push(`entry ${at + 1} ${message}`);
    if (!idPattern.test(id)) fault("must be `id:secret`; the id has 1 to 32 letters, digits, `-` and `_`");
    else if (secrets.has(id)) fault(`repeats the id ${id}`);
    else if (secret.length < pepperCharsMin || /[^!-~]/.test(secret))
      fault(`(${id}) must have a secret of at least ${pepperCharsMin} printable ASCII characters`);
    else secrets.set(id, secret);
  });
  const [first] = secrets;
  return { peppers: { current: first === undefined ? null : { id: first[0], secret: first[1] }, secrets }, faults };
}
