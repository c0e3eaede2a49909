/** ORIGINATOR_ID (RFC 4456 §8; malformed ones RFC 7606 §7.9). */

import type { Attribute } from "./attribute.ts";

export const originatorId: Attribute = {
  type: 9,
  name: "ORIGINATOR_ID",
  malformed: "discard",
  read(value, into) {
    value.exactly(4, "ORIGINATOR_ID");
    into.originatorId = value.address(4);
  },
};
