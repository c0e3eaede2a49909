/** ATOMIC_AGGREGATE (RFC 4271 §5.1.6; malformed ones RFC 7606 §7.6). */

import type { Attribute } from "./attribute.ts";

export const atomicAggregate: Attribute = {
  type: 6,
  name: "ATOMIC_AGGREGATE",
  malformed: "discard",
  read(value, into) {
    value.exactly(0, "ATOMIC_AGGREGATE");
    into.atomicAggregate = true;
  },
};
