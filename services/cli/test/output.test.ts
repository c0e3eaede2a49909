/** How tables are printed. */

import { expect, test } from "@jest/globals";
import { tableLines } from "../src/output.ts";

test("a table of very many rows is as wide as its widest cell", () => {
  const rows = Array.from({ length: 200_000 }, (_, at) => [`K${at}`, String(at)]);
  const lines = tableLines(["KEY", "COUNTED"], rows);
  expect(lines).toHaveLength(200_001);
  expect([lines[0], lines[1], lines.at(-1)]).toEqual(["KEY      COUNTED", "K0             0", "K199999   199999"]);
});
