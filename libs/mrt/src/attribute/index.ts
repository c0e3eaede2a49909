/** All path attributes that are read: one file and one line each. */

import { aggregator } from "./aggregator.ts";
import { asPath } from "./as-path.ts";
import { as4Aggregator } from "./as4-aggregator.ts";
import { as4Path } from "./as4-path.ts";
import { atomicAggregate } from "./atomic-aggregate.ts";
import type { Attribute } from "./attribute.ts";
import { clusterList } from "./cluster-list.ts";
import { communities } from "./communities.ts";
import { extendedCommunities } from "./extended-communities.ts";
import { largeCommunities } from "./large-communities.ts";
import { localPref } from "./local-pref.ts";
import { mpReachNlri } from "./mp-reach-nlri.ts";
import { mpUnreachNlri } from "./mp-unreach-nlri.ts";
import { multiExitDisc } from "./multi-exit-disc.ts";
import { nextHop } from "./next-hop.ts";
import { origin } from "./origin.ts";
import { originatorId } from "./originator-id.ts";
import type { PathAttributes } from "./path-attributes.ts";

/** By the member of `PathAttributes` that each one sets. */
const byMember: Readonly<Record<Exclude<keyof PathAttributes, "unknown" | "discarded">, Attribute>> = {
  origin,
  asPath,
  nextHop,
  multiExitDisc,
  localPref,
  atomicAggregate,
  aggregator,
  communities,
  originatorId,
  clusterList,
  mpReach: mpReachNlri,
  mpUnreach: mpUnreachNlri,
  extendedCommunities,
  as4Path,
  as4Aggregator,
  largeCommunities,
};

export const attributes: readonly Attribute[] = Object.values(byMember);
