/** LOCAL_PREF (RFC 4271 §5.1.5; malformed ones RFC 7606 §7.5). */

import type { Attribute } from "./attribute.ts";

export const localPref: Attribute = {
  type: 5,
  name: "LOCAL_PREF",
  malformed: "withdraw",
  read(value, into) {
    into.localPref = value.u32();
  },
};
