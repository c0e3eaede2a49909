/** LARGE_COMMUNITY (RFC 8092 §3; malformed ones §6). */

import type { Attribute } from "./attribute.ts";

/** Global administrator, local data 1, local data 2. */
export type LargeCommunity = readonly [number, number, number];

export const largeCommunities: Attribute = {
  type: 32,
  name: "LARGE_COMMUNITIES",
  malformed: "withdraw",
  read(value, into) {
    const values: LargeCommunity[] = [];
    while (value.left > 0) values.push([value.u32(), value.u32(), value.u32()]);
    into.largeCommunities = values;
  },
};
