/** AS4_PATH (RFC 6793 §3; malformed ones §6, also with AS 0 by RFC 7607 §2: the attribute is discarded, the message is read). */

import { segmentsHaveAsZero } from "../as-path.ts";
import { RecordFault } from "../record/record-fault.ts";
import { readPath } from "./as-path.ts";
import type { Attribute } from "./attribute.ts";

export const as4Path: Attribute = {
  type: 17,
  name: "AS4_PATH",
  malformed: "discard",
  read(value, into) {
    const { at } = value;
    const segments = readPath(value, 4);
    if (segmentsHaveAsZero(segments)) throw new RecordFault("bad-value", at, "AS4_PATH has AS 0");
    // RFC 6793 §6: confederation segments are not allowed here, and are left out.
    into.as4Path = segments.filter(({ type }) => type === "sequence" || type === "set");
  },
};
