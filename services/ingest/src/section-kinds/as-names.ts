/** Section `as_names`. */

import { packSection } from "@netfacts/snapshot";
import { statedNames } from "../statements/stated.ts";
import { checkNames } from "../verify/check-as-facts.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const asNames: IndependentSection = {
  stated: ({ namesBySource }) => statedNames(namesBySource),
  draft({ names, namesBySource, hasOverriddenNames }) {
    namesBySource.length = 0;
    // Without overrides no names mean that no source could be read. With them it may be that the last one was deleted.
    if (names.size === 0 && !hasOverriddenNames) return null;
    const { columns, pieces } = packSection("as_names", names);
    names.clear();
    return { pieces, counts: { names: columns.asn.length } };
  },
  compared: ({ names = 0 }) => ({ names }),
  version: dayVersion,
  check: (generation, { samples }) => checkNames(generation, samples),
};
