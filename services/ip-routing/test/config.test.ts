/** Settings of the process: those of its kind, and the fault of one that cannot be. */

import { expect, test } from "@jest/globals";
import { loadPodConfig } from "../src/config.ts";

test("the IPv4 index is chosen by size, unless a form is named", () => {
  expect(loadPodConfig({})).toMatchObject({ IPV4_INDEX: "auto" });
  expect(loadPodConfig({ IPV4_INDEX: "compact" })).toMatchObject({ IPV4_INDEX: "compact" });
  expect(loadPodConfig({ IPV4_INDEX: "direct" })).toMatchObject({ IPV4_INDEX: "direct" });
});

test("a form that there is not is refused by the setting's name", () => {
  expect(() => loadPodConfig({ IPV4_INDEX: "small" })).toThrow(/IPV4_INDEX/);
});
