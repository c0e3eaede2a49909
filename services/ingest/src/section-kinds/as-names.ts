/** Section `as_names`. */

import { packSection } from "@netfacts/snapshot";
import { statedNames } from "../statements/stated.ts";
import { checkNames } from "../verify/check-as-facts.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const asNames: IndependentSection = {
  stated: ({ namesBySource }) => statedNames(namesBySource),
  draft({ names, namesBySource, hasOverriddenNames }) {
    namesBySource.length = 0;
    // Without overrides, an empty list means that no source could be read. With overrides, the last one may have been deleted.
    if (names.size === 0 && !hasOverriddenNames) return null;
    const { columns, pieces } = packSection("as_names", names);
    names.clear();
    return { pieces, counts: { names: columns.asn.length } };
  },
  compared: ({ names = 0 }) => ({ names }),
  version: dayVersion,
  check: (generation, { samples }) => checkNames(generation, samples),
};
