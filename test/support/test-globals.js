/** What test files import as `@jest/globals`. Jest makes these anew for each file. */

export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test;

export function provideGlobals(made) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } = made);
}
