/** What test files import as `@jest/globals`. Jest makes these anew for each file. */

import { leanExpect } from "./lean-expect.js";

export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test;

export function provideGlobals({ expect: full, ...others }) {
  expect = leanExpect(full);
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, jest, test } = others);
}
