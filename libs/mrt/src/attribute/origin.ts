/** ORIGIN (RFC 4271 §5.1.1; malformed ones RFC 7606 §7.1). */

import { RecordFault } from "../record/record-fault.ts";
import type { Attribute } from "./attribute.ts";

export const origin: Attribute = {
  type: 1,
  name: "ORIGIN",
  malformed: "withdraw",
  read(value, into) {
    const code = value.u8();
    if (code > 2) throw new RecordFault("bad-value", value.at - 1, `ORIGIN ${code} is not IGP (0), EGP (1) or INCOMPLETE (2)`);
    into.origin = code;
  },
};
