/** Section `as_names`. */

import { packSection } from "@netfacts/snapshot";
import { checkNames } from "../verify/check-as-facts.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const asNames: IndependentSection = {
  draft({ names }) {
    if (names.size === 0) return null;
    const { columns, pieces } = packSection("as_names", names);
    names.clear();
    return { pieces, counts: { names: columns.asn.length } };
  },
  compared: ({ names = 0 }) => ({ names }),
  version: dayVersion,
  check: (generation, { samples }) => checkNames(generation, samples),
};
