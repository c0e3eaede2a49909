/** The key of a tab: what is stored is used again, unless it cannot be a key. */

import { afterEach, expect, test } from "@jest/globals";
import { createKeyHolder } from "../src/key-holder.ts";

const before = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage");
afterEach(() => {
  Reflect.deleteProperty(globalThis, "sessionStorage");
  if (before !== undefined) Object.defineProperty(globalThis, "sessionStorage", before);
});

function storing(getItem: () => string | null): void {
  Object.defineProperty(globalThis, "sessionStorage", { configurable: true, value: { getItem } });
}

test("a stored text that cannot be sent as a key is no key", () => {
  for (const [stored, key] of [
    ["nf_live_7Q9M3W8K_secret", "nf_live_7Q9M3W8K_secret"],
    ["", null],
    ["two words", null],
    ["schlüssel\n", null],
    [null, null],
  ] as const) {
    storing(() => stored);
    const holder = createKeyHolder("name");
    expect([stored, holder.key.value, holder.hasKey.value, holder.isKept.value]).toEqual([stored, key, key !== null, key !== null]);
  }
});

test("without storage there is no key", () => {
  storing(() => {
    throw new Error("denied");
  });
  expect(createKeyHolder("name").key.value).toBeNull();
});
