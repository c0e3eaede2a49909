/** COMMUNITIES (RFC 1997; malformed ones RFC 7606 §7.8). */

import type { Attribute } from "./attribute.ts";

export const communities: Attribute = {
  type: 8,
  name: "COMMUNITIES",
  malformed: "withdraw",
  read(value, into) {
    const values: number[] = [];
    while (value.left > 0) values.push(value.u32());
    into.communities = values;
  },
};
