/** AS4_AGGREGATOR (RFC 6793 §3; malformed ones §6). */

import type { Attribute } from "./attribute.ts";

export const as4Aggregator: Attribute = {
  type: 18,
  name: "AS4_AGGREGATOR",
  malformed: "discard",
  read(value, into) {
    value.exactly(8, "AS4_AGGREGATOR");
    into.as4Aggregator = { asn: value.u32(), address: value.address(4) };
  },
};
