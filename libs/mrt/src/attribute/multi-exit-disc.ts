/** MULTI_EXIT_DISC (RFC 4271 §5.1.4; malformed ones RFC 7606 §7.4). */

import type { Attribute } from "./attribute.ts";

export const multiExitDisc: Attribute = {
  type: 4,
  name: "MULTI_EXIT_DISC",
  malformed: "withdraw",
  read(value, into) {
    into.multiExitDisc = value.u32();
  },
};
