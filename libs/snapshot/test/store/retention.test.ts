/** What a store keeps, where the rule is easier to see without a store; the contract suite has the rest. */

import { expect, test } from "@jest/globals";
import { decideKept, type Publication } from "../../src/index.ts";

test("sources that go to and fro between two contents do not fill the list of publications", async () => {
  const day = (number: number, minute: number) => new Date(Date.UTC(2026, 0, number, 0, minute)).toISOString().replace(".000Z", "Z");
  const publications: Publication[] = [
    { id: "earlier", at: day(1, 0) },
    ...Array.from({ length: 500 }, (_, minute) => ({ id: minute % 2 === 0 ? "one" : "other", at: day(2, minute) })),
  ];
  const published = { publications, whole: ["one", "other"], active: "other" };
  const kept = await decideKept(published, { last: 3, days: 2, bytesMax: 0 }, async () => ({ whole: [], past: [] }));
  expect(kept.publications).toEqual([publications[0], ...publications.slice(-100)]);
});
