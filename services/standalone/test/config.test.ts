/** Settings of the one-process form. */

import { expect, test } from "@jest/globals";
import { loadConfig } from "@netfacts/runtime";
import { standaloneConfigSchema } from "../src/config.ts";

test("the IPv4 index is chosen by size, unless a form is named; another is refused by the setting's name", () => {
  expect(loadConfig(standaloneConfigSchema, {})).toMatchObject({ IPV4_INDEX: "auto" });
  expect(loadConfig(standaloneConfigSchema, { IPV4_INDEX: "compact" })).toMatchObject({ IPV4_INDEX: "compact" });
  expect(() => loadConfig(standaloneConfigSchema, { IPV4_INDEX: "small" })).toThrow(/IPV4_INDEX/);
});
