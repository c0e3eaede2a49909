/** UPDATE (RFC 4271 §4.3): withdrawn prefixes, attributes, announced prefixes. Families other than IPv4 are in the attributes. */

import type { Discarded } from "../attribute/attribute.ts";
import { leaveOut } from "../attribute/path-attributes.ts";
import { readAttributes } from "../attribute/read-attributes.ts";
import type { MessageContext } from "./bgp-message.ts";
import type { UpdateBody } from "./mrt-record.ts";
import { readPrefixes } from "./prefixes.ts";
import type { Reader } from "./reader.ts";

/** @param isCut  the message goes on behind the reader's end: only the last list may. */
export function readUpdate(reader: Reader, { session, sent, asBytes, addPath }: MessageContext, isCut = false): UpdateBody {
  const cuts: Discarded[] = [];
  const onCut = (at: number) => cuts.push({ type: null, reason: "overrun", at });
  const withdrawn = readPrefixes(reader.sub(reader.u16()), 4, addPath, onCut);
  const attributes = readAttributes(reader.sub(reader.u16()), { asBytes, addPath, rib: null });
  const announced = readPrefixes(reader, 4, addPath, onCut);
  if (isCut) onCut(reader.end);
  for (const cut of cuts) leaveOut(attributes, cut);
  return { kind: "update", session, sent, addPath, withdrawn, attributes, announced };
}
