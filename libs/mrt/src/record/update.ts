/** UPDATE (RFC 4271 §4.3): withdrawn prefixes, attributes, announced prefixes. Families other than IPv4 are in the attributes. */

import type { Discarded } from "../attribute/attribute.ts";
import { leaveOut } from "../attribute/path-attributes.ts";
import { readAttributes } from "../attribute/read-attributes.ts";
import type { MessageContext } from "./bgp-message.ts";
import type { UpdateBody } from "./mrt-record.ts";
import { readPrefixes } from "./prefixes.ts";
import type { Reader } from "./reader.ts";
import type { RecordFault } from "./record-fault.ts";

/**
 * Throws RecordFault. If a malformed attribute makes the prefixes count as withdrawn, the fault has the message (RFC 7606 §2).
 *
 * @param isCut  the message continues after the reader's end; only its last list may be truncated.
 */
export function readUpdate(reader: Reader, { session, sent, asBytes, addPath }: MessageContext, isCut = false): UpdateBody {
  const cuts: Discarded[] = [];
  const onCut = (at: number) => cuts.push({ type: null, reason: "overrun", at });
  const withdrawn = readPrefixes(reader.sub(reader.u16()), 4, addPath, onCut);
  let malformed: RecordFault | null = null;
  const attributes = readAttributes(reader.sub(reader.u16()), { asBytes, addPath, rib: null }, (fault) => {
    malformed ??= fault;
  });
  const announced = readPrefixes(reader, 4, addPath, onCut);
  if (isCut) onCut(reader.end);
  for (const cut of cuts) leaveOut(attributes, cut);
  const update: UpdateBody = { kind: "update", session, sent, addPath, withdrawn, attributes, announced };
  if (malformed !== null) throw (malformed as RecordFault).inUpdate(update);
  return update;
}
