/** Section `allocations`. */

import { type AllocationsColumns, allocationsFormat, columnPieces } from "@netfacts/snapshot";
import { buildAllocations } from "../assembly/allocations.ts";
import { collectGarbage } from "../pipeline/collect-garbage.ts";
import type { TableInputs } from "../pipeline/table-readers.ts";
import { statedRegistrations } from "../statements/stated.ts";
import { checkAllocations } from "../verify/check-allocations.ts";
import { dayVersion, type IndependentSection, type SectionDraft } from "./section-kind.ts";

/** Number of IPv4 blocks above which the memory of the records, as objects, is collected before other sources are read. */
const manyRecords = 50_000;

export const allocations: IndependentSection = {
  stated: ({ delegated }) => statedRegistrations(delegated),
  draft(inputs) {
    if (inputs.delegated.length === 0) return null;
    const draft = draftAllocations(inputs);
    if ((draft.counts.ipv4 ?? 0) >= manyRecords) collectGarbage();
    return draft;
  },
  compared: ({ ipv4 = 0, ipv6 = 0, asn = 0 }) => ({ "IPv4 records": ipv4, "IPv6 records": ipv6, "AS number records": asn }),
  version: dayVersion,
  check: (generation, { samples }) => checkAllocations(generation, samples),
};

/** A separate function, so that nothing references the records after it has returned. */
function draftAllocations({ delegated }: TableInputs): SectionDraft {
  const { columns, counts, asnConflicts } = buildAllocations(delegated.splice(0));
  return {
    pieces: columnPieces(allocationsFormat, columns satisfies AllocationsColumns),
    counts: { ...counts, asn_conflicts: asnConflicts },
  };
}
