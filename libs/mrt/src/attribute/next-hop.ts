/** NEXT_HOP (RFC 4271 §5.1.3; malformed ones RFC 7606 §7.3). */

import type { Attribute } from "./attribute.ts";

export const nextHop: Attribute = {
  type: 3,
  name: "NEXT_HOP",
  malformed: "withdraw",
  read(value, into) {
    into.nextHop = value.address(4);
  },
};
