/** AS4_PATH (RFC 6793 §3; malformed ones §6: the attribute is discarded, the message is read). */

import { readPath } from "./as-path.ts";
import type { Attribute } from "./attribute.ts";

export const as4Path: Attribute = {
  type: 17,
  name: "AS4_PATH",
  malformed: "discard",
  read(value, into) {
    // RFC 6793 §6: confederation segments have no place here, and are left out.
    into.as4Path = readPath(value, 4).filter(({ type }) => type === "sequence" || type === "set");
  },
};
