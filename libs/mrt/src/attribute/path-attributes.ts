/** All path attributes of one route or message (RFC 4271 §4.3). */

import type { Address } from "@netfacts/address";
import type { PathSegment } from "../as-path.ts";
import type { Aggregator } from "./aggregator.ts";
import type { Discarded, UnknownAttribute } from "./attribute.ts";
import type { LargeCommunity } from "./large-communities.ts";
import type { MpReach } from "./mp-reach-nlri.ts";
import type { MpUnreach } from "./mp-unreach-nlri.ts";

/** Null: the attribute is missing. Lists keep the order of the message. */
export interface PathAttributes {
  /** 0 IGP, 1 EGP, 2 INCOMPLETE. */
  origin: number | null;
  /** If AS numbers have two bytes, AS4_PATH is already merged into it (RFC 6793 §4.2.3), unless it has AS 0. */
  asPath: readonly PathSegment[] | null;
  nextHop: Address | null;
  multiExitDisc: number | null;
  localPref: number | null;
  atomicAggregate: boolean;
  /** With AS4_AGGREGATOR merged, like `asPath`. */
  aggregator: Aggregator | null;
  communities: readonly number[] | null;
  originatorId: Address | null;
  clusterList: readonly Address[] | null;
  mpReach: readonly MpReach[];
  mpUnreach: readonly MpUnreach[];
  /** Eight bytes each, as hexadecimal digits. */
  extendedCommunities: readonly string[] | null;
  as4Path: readonly PathSegment[] | null;
  as4Aggregator: Aggregator | null;
  largeCommunities: readonly LargeCommunity[] | null;
  unknown: readonly UnknownAttribute[];
  discarded: readonly Discarded[];
}

/** Shared empty list: most routes have none of these attributes. */
const none: readonly never[] = [];

export function noAttributes(): PathAttributes {
  return {
    origin: null,
    asPath: null,
    nextHop: null,
    multiExitDisc: null,
    localPref: null,
    atomicAggregate: false,
    aggregator: null,
    communities: null,
    originatorId: null,
    clusterList: null,
    mpReach: none,
    mpUnreach: none,
    extendedCommunities: null,
    as4Path: null,
    as4Aggregator: null,
    largeCommunities: null,
    unknown: none,
    discarded: none,
  };
}

/** Appends to a list. The shared empty list is replaced; any other is changed in place, as a hostile message can have twenty thousand items. */
export function appended<Item>(list: readonly Item[], item: Item): readonly Item[] {
  if (list.length === 0) return [item];
  (list as Item[]).push(item);
  return list;
}

/** Notes a part that is not used. */
export function leaveOut(from: PathAttributes, what: Discarded): void {
  from.discarded = appended(from.discarded, what);
}
