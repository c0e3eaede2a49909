/** EXTENDED COMMUNITIES (RFC 4360 §2; malformed ones RFC 7606 §7.14). */

import type { Attribute } from "./attribute.ts";

export const extendedCommunities: Attribute = {
  type: 16,
  name: "EXTENDED_COMMUNITIES",
  malformed: "withdraw",
  read(value, into) {
    const values: string[] = [];
    while (value.left > 0) values.push(value.sub(8).hex());
    into.extendedCommunities = values;
  },
};
