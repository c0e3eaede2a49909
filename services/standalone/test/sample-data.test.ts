/** Which snapshots are of the samples. */

import { expect, test } from "@jest/globals";
import type { Manifest } from "@netfacts/snapshot";
import { isOfSamples } from "../src/sample-data.ts";

/** Digests of the samples. */
const digests = new Set(["jinx", "ripencc", "rpki"]);

/** A manifest whose sections have sources with files of these digests. */
function manifest(sections: Readonly<Record<string, readonly string[]>>): Pick<Manifest, "sections"> {
  const entries = Object.entries(sections).map(([section, sources]) => [section, { sources: sources.map((sha256) => ({ sha256 })) }]);
  // Only digests are read.
  return { sections: Object.fromEntries(entries) } as unknown as Pick<Manifest, "sections">;
}

test("the samples, also with another list's exceptions, uploads and overrides beside them", () => {
  const own = { profiles: ["overrides"], locations: ["uploaded"] };
  expect(isOfSamples(manifest({ routes: ["jinx"], allocations: ["ripencc"], vrps: ["rpki", "exceptions"], ...own }), digests)).toBe(true);
});

test("not a snapshot with a section of the operator's own list, whatever it keeps of the samples", () => {
  expect(isOfSamples(manifest({ routes: ["rrc00"], allocations: ["ripencc"], vrps: ["rpki"] }), digests)).toBe(false);
  expect(isOfSamples(manifest({ routes: ["jinx"], allocations: ["ripencc"], vrps: ["own"] }), digests)).toBe(false);
});
