/** AGGREGATOR (RFC 4271 §5.1.7, RFC 6793 §4; malformed ones RFC 7606 §7.7). */

import type { Address } from "@netfacts/address";
import { RecordFault } from "../record/record-fault.ts";
import type { Attribute } from "./attribute.ts";

export interface Aggregator {
  readonly asn: number;
  readonly address: Address;
}

/**
 * The length decides the form, 6 or 8 bytes, whatever the size of the record's AS numbers: OpenBGPD writes the long form into TABLE_DUMP, where AS
 * numbers have two bytes.
 */
export const aggregator: Attribute = {
  type: 7,
  name: "AGGREGATOR",
  malformed: "discard",
  read(value, into) {
    if (value.left !== 6 && value.left !== 8) throw new RecordFault("bad-length", value.at, `AGGREGATOR has ${value.left} bytes`);
    into.aggregator = { asn: value.asn(value.left === 8 ? 4 : 2), address: value.address(4) };
  },
};
