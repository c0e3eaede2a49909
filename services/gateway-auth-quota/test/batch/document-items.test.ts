/** Items as they are cut out of a document, compared with the engine's own parser of all of it. */

import { expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { DocumentFault, documentItems } from "../../src/lookups/batch/document-items.ts";
import { jsonFault } from "../../src/lookups/batch/json-fault.ts";

/** A document of these items with some characters taken out, put in or changed. */
const damaged = fc.tuple(
  fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 4 }),
  fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'[]{},:"\\0.-e \n\ttfn\u0001é'))),
  fc.boolean(),
);

/** Null: what was read is no list of questions. */
function cut(text: string): { items: unknown[] } | { place: readonly number[] | null; message: string } {
  const items: unknown[] = [];
  try {
    for (const { start, end } of documentItems(text)) {
      const fault = jsonFault(text.slice(start, end));
      if (fault !== null) throw new DocumentFault(jsonFault(text, start));
      items.push(JSON.parse(text.slice(start, end)));
    }
    return { items };
  } catch (error) {
    if (!(error instanceof DocumentFault)) throw error;
    return { place: error.fault === null ? null : [error.fault.line, error.fault.column], message: error.message };
  }
}

test("are those of the whole document, and a fault is where it is in the whole document", () => {
  let read = 0;
  let faults = 0;
  fc.assert(
    fc.property(damaged, ([questions, changes, pretty]) => {
      let text = JSON.stringify({ questions }, null, pretty ? 1 : 0);
      for (const [place, removed, added] of changes.slice(0, 2)) {
        const at = place % (text.length + 1);
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      const whole = jsonFault(text);
      const ours = cut(text);
      if (whole === null) {
        const document = JSON.parse(text) as { readonly questions?: unknown };
        const names = typeof document === "object" && document !== null ? Object.keys(document) : [];
        // Whatever else is no document for us, wherever that shows.
        if (names.length !== 1 || !Array.isArray(document.questions)) return expect([text, "items" in ours]).toEqual([text, false]);
        read += 1;
        return expect([text, ours]).toEqual([text, { items: document.questions }]);
      }
      expect([text, "items" in ours]).toEqual([text, false]);
      if ("items" in ours || ours.place === null) return;
      // A second member is a fault for us and none of JSON, whose first one may be behind it.
      if (ours.message === "expected }" || ours.message === "the member questions appears twice") return;
      faults += 1;
      expect([text, ours.place]).toEqual([text, [whole.line, whole.column]]);
    }),
    { seed: seed(8_259), numRuns: runs(3_000) },
  );
  expect([read > 10, faults > 10]).toEqual([true, true]);
});

test.each([
  ['{"questions":[],"questions":[]}', "the member questions appears twice"],
  ['{"questions":[1] ,\n "questions" : 2}', "the member questions appears twice"],
  ['{"questions":[],"question":[]}', "expected }"],
  ['{"questions":[] 1}', "expected }"],
])("%s: %s", (text, message) => {
  expect(cut(text)).toMatchObject({ message });
});
