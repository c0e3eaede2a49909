/** Where a text stops being JSON: the engine's own parser says whether, and what comes before says where. */

import { expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { jsonFault } from "../../src/lookups/batch/json-fault.ts";

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** JSON with some characters taken out, put in or changed. */
const damaged = fc.tuple(
  fc.jsonValue({ maxDepth: 4 }),
  fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'[]{},:"\\0.-e \n\ttfn\u0001é'))),
  fc.boolean(),
);

test("finds a fault exactly where the engine refuses", () => {
  fc.assert(
    fc.property(damaged, ([value, changes, pretty]) => {
      let text = JSON.stringify(value, null, pretty ? 1 : 0);
      for (const [place, removed, added] of changes.slice(0, 3)) {
        const at = place % (text.length + 1);
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      expect([text, jsonFault(text) === null]).toEqual([text, parses(text)]);
    }),
    { seed: seed(8_259), numRuns: runs(3_000) },
  );
});

test("what stands before the fault can be gone on with, what stands up to behind it cannot", () => {
  // Every beginning of a text is at fault at its end, and nowhere before.
  const text = '{"a": [1, -2.5e3, "x\\u00e9\\n", true, null], "b": {"c": {}}}';
  for (let end = 0; end < text.length; end++) {
    const fault = jsonFault(text.slice(0, end));
    expect(fault).not.toBeNull();
    expect(fault?.line).toBe(1);
  }
  expect(jsonFault(text)).toBeNull();
});

test.each([
  ["", 1, 1],
  ["{\n  'a': 1}", 2, 3],
  ['{"a": 1,}', 1, 9],
  ["[1 2]", 1, 4],
  ["[01]", 1, 2],
  ['"a\nb"', 1, 1],
  ["nul", 1, 1],
])("%j: line %i, column %i", (text, line, column) => {
  expect(jsonFault(text)).toMatchObject({ line, column });
});
