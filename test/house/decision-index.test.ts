/** The index of decision pages: what a page must have to stand in it. */

import { expect, test } from "@jest/globals";
import { oneWayLinks, readDecision } from "../../scripts/generate-decision-index.ts";

test("reads number, title and status of a page", () => {
  const text = "# 7. What frames leave open\n\nStatus: accepted. Extended by [0023](0023-b.md).\n\n## Context\n";
  expect(readDecision("0007-a.md", text)).toEqual({
    file: "0007-a.md",
    number: 7,
    title: "What frames leave open",
    status: "accepted. Extended by [0023](0023-b.md).",
  });
});

test("reads a status of several lines", () => {
  const text = "# 7. A\n\nStatus: accepted. Extended by [0023](0023-b.md), and by\n[0024](0024-c.md).\n\n## Context\n";
  expect(readDecision("0007-a.md", text).status).toBe("accepted. Extended by [0023](0023-b.md), and by [0024](0024-c.md).");
});

test.each([
  ["no status", "# 7. A\n\n## Context\n", "Status: accepted"],
  ["a status of no known kind", "# 7. A\n\nStatus: perhaps\n", "Status: accepted"],
  ["a replacement without a link", "# 7. A\n\nStatus: replaced by 23\n", "Status: accepted"],
  ["another number than its file", "# 8. A\n\nStatus: accepted.\n", 'must be "# 7. "'],
  ["a title of another form", "# 0007: A\n\nStatus: accepted.\n", 'must be "# 7. "'],
])("refuses a page with %s, and names it", (_fault, text, message) => {
  expect(() => readDecision("0007-a.md", text)).toThrow(message);
  expect(() => readDecision("0007-a.md", text)).toThrow("docs/decisions/0007-a.md");
});

test("finds a status whose page does not link back", () => {
  const replaced = "# 3. A\n\nStatus: replaced by [0021](0021-b.md).\n";
  expect(
    oneWayLinks(
      new Map([
        ["0003-a.md", replaced],
        ["0021-b.md", "# 21. B\n\nStatus: accepted.\n"],
      ]),
    ),
  ).toEqual(["docs/decisions/0021-b.md: must link to 0003-a.md, whose status names it"]);
  expect(
    oneWayLinks(
      new Map([
        ["0003-a.md", replaced],
        ["0021-b.md", "# 21. B\n\nStatus: accepted. Replaces [0003](0003-a.md).\n"],
      ]),
    ),
  ).toEqual([]);
});
