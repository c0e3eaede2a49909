/** Section `as_names`. */

import { asNamesColumns, asNamesFormat, columnPieces } from "@netfacts/snapshot";
import { checkNames } from "../verify/check-as-facts.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const asNames: IndependentSection = {
  draft({ names }) {
    if (names.size === 0) return null;
    const columns = asNamesColumns(names);
    names.clear();
    return { pieces: columnPieces(asNamesFormat, columns), counts: { names: columns.asn.length } };
  },
  compared: ({ names = 0 }) => ({ names }),
  version: dayVersion,
  check: (generation, { samples }) => checkNames(generation, samples),
};
