/** AS_PATH (RFC 4271 §5.1.2, RFC 5065 §3, RFC 6793 §4; malformed ones RFC 7606 §7.2). */

import { decodePath, isAsPath, type PathSegment } from "../as-path.ts";
import type { Reader } from "../record/reader.ts";
import { RecordFault } from "../record/record-fault.ts";
import type { Attribute } from "./attribute.ts";

export const asPath: Attribute = {
  type: 2,
  name: "AS_PATH",
  malformed: "withdraw",
  read(value, into, { asBytes }) {
    into.asPath = readPath(value, asBytes);
  },
};

export function readPath(value: Reader, asBytes: 2 | 4): PathSegment[] {
  const { bytes, end } = value;
  const start = value.skip(value.left);
  if (!isAsPath(bytes, start, end, asBytes)) {
    throw new RecordFault("bad-as-path", start, `the path of ${asBytes}-byte AS numbers has a segment that is unknown, empty or too long`);
  }
  return decodePath(bytes, start, end, asBytes);
}
