/** Operations `asn_changes` and `prefix_changes`: what changed for an AS or a prefix between kept snapshots. */

import { formatPrefix, type Prefix } from "@netfacts/address";
import { asnChangesExample, prefixChangesExample } from "../examples/changes.ts";
import { AsnChangesRecord, asnChangesFacts, PrefixChangesRecord, prefixChangesFacts } from "../records/changes.ts";
import { type Codec, readAsn, readLimit, readPrefix, separator } from "./codec.ts";
import { listUnits } from "./list-limits.ts";
import { operation, pastUnits } from "./operation.ts";
import { asnParameter, changesProblems, cursorParameter, limitParameter, prefixParameters } from "./parameters.ts";

export interface AsnChangesQuestion {
  readonly asn: number;
  readonly limit: number;
}

export interface PrefixChangesQuestion {
  readonly prefix: Prefix;
  readonly limit: number;
}

const asnQuestion: Codec<AsnChangesQuestion> = {
  encode: ({ asn, limit }) => `${asn}${separator}${limit}`,
  decode: ([asnText, limitText, ...rest]) => {
    const asn = readAsn(asnText);
    const limit = readLimit(limitText);
    return asn === null || limit === null || rest.length > 0 ? null : { asn, limit };
  },
};

const prefixQuestion: Codec<PrefixChangesQuestion> = {
  encode: ({ prefix, limit }) => `${formatPrefix(prefix)}${separator}${limit}`,
  decode: ([prefixText, limitText, ...rest]) => {
    const prefix = readPrefix(prefixText);
    const limit = readLimit(limitText);
    return prefix === null || limit === null || rest.length > 0 ? null : { prefix, limit };
  },
};

/** At least two snapshots are compared. */
const unitsOf = ({ limit }: { readonly limit: number }): number => listUnits(limit) + 2 * pastUnits;
const cost = `${2 * pastUnits} units of the rate limit, and 1 more for each 100 of \`limit\`, rounded up.`;
const paging =
  "Changes are listed newest first, each with the snapshots before and after it. What happened and was undone between two kept snapshots is not shown. One request compares only a few snapshots: a page can be empty and still have a `next_cursor`. The list ends where `next_cursor` is null.";
const answer = "A page of the changes.";

export const asnChanges = operation({
  name: "asn_changes",
  code: 8,
  service: "asn-prefix",
  scope: "asn",
  record: AsnChangesRecord,
  example: asnChangesExample,
  page: { title: "Changes of an AS", intro: "What changed for an AS between the kept snapshots.", facts: asnChangesFacts },
  question: asnQuestion,
  units: (question) => unitsOf(question),
  lists: ["changes"],
  listView: null,
  lookup: {
    route: {
      path: "/api/v1/changes/{asn}",
      id: "getAsnChanges",
      summary: "What changed for an AS between kept snapshots",
      description: `Changes of the prefixes that the AS originates, of their RPKI states, and of its registration and name. ${paging}`,
      parameters: [asnParameter, limitParameter("`changes`"), cursorParameter],
      answer,
      cost,
      problems: ["invalid_asn", ...changesProblems],
    },
    batch: null,
  },
});

export const prefixChanges = operation({
  name: "prefix_changes",
  code: 9,
  service: "asn-prefix",
  scope: "prefix",
  record: PrefixChangesRecord,
  example: prefixChangesExample,
  page: { title: "Changes of a prefix", intro: "What changed for a prefix between the kept snapshots.", facts: prefixChangesFacts },
  question: prefixQuestion,
  units: (question) => unitsOf(question),
  lists: ["changes"],
  listView: null,
  lookup: {
    route: {
      path: "/api/v1/changes/{network}/{length}",
      // Accepts a prefix whose slash is percent-encoded; an AS number has no slash.
      otherPaths: ["/api/v1/changes/{network}(^.*/.*$)"],
      id: "getPrefixChanges",
      summary: "What changed for a prefix between kept snapshots",
      description: `Changes of the origins of exactly this prefix, of their RPKI states, and of the registration of the block that contains it. ${paging}`,
      parameters: [...prefixParameters, limitParameter("`changes`"), cursorParameter],
      answer,
      cost,
      problems: ["invalid_prefix", "prefix_has_host_bits", ...changesProblems],
    },
    batch: null,
  },
});
