/** AS4_AGGREGATOR (RFC 6793 §3; malformed ones §6, also with AS 0 by RFC 7607 §2). */

import { RecordFault } from "../record/record-fault.ts";
import type { Attribute } from "./attribute.ts";

export const as4Aggregator: Attribute = {
  type: 18,
  name: "AS4_AGGREGATOR",
  malformed: "discard",
  read(value, into) {
    value.exactly(8, "AS4_AGGREGATOR");
    const { at } = value;
    const asn = value.u32();
    if (asn === 0) throw new RecordFault("bad-value", at, "AS4_AGGREGATOR has AS 0");
    into.as4Aggregator = { asn, address: value.address(4) };
  },
};
