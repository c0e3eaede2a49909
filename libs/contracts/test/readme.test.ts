/** What the README shows is what the code does. */

import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { encodeQuestion, listLimitDefault } from "../src/index.ts";

test("the canonical query of the README is the one that is written", async () => {
  const ip = parseAddress("193.0.6.139");
  if (ip === null) throw new Error("an address was not read");
  const query = encodeQuestion("routing", { ip, moreSpecifics: false, upstreams: false, limit: listLimitDefault });
  expect(await readFile(new URL("../README.md", import.meta.url), "utf8")).toContain(`(\`routing\` of 193.0.6.139: \`${query}\`)`);
});
