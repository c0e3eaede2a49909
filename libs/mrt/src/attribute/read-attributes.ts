/** The list of path attributes (RFC 4271 §4.3; malformed and repeated ones RFC 7606). */

import type { Reader } from "../record/reader.ts";
import { RecordFault } from "../record/record-fault.ts";
import { mergeAs4 } from "./as4-merge.ts";
import type { Attribute, AttributeContext } from "./attribute.ts";
import { attributes } from "./index.ts";
import { appended, leaveOut, noAttributes, type PathAttributes } from "./path-attributes.ts";

const byType: (Attribute | undefined)[] = new Array<Attribute | undefined>(256).fill(undefined);
for (const attribute of attributes) byType[attribute.type] = attribute;

const extendedLength = 0x10;

/** For each type, the number of the list in which it was last seen: detects a repeated type without a set per list. */
const metIn = new Uint32Array(256);
let lists = 0;

/**
 * Reads the rest as attributes: flags u8, type u8, length u8 or u16, value. Throws RecordFault.
 *
 * @param onMalformed  called when the prefixes of the message must count as withdrawn; an error that it throws ends the reading.
 */
export function readAttributes(
  reader: Reader,
  context: AttributeContext,
  onMalformed: (fault: RecordFault) => void = refuse,
): PathAttributes {
  const into = noAttributes();
  lists = (lists + 1) >>> 0;
  while (reader.left > 0) {
    let flags: number;
    let type: number;
    let value: Reader;
    try {
      flags = reader.u8();
      type = reader.u8();
      value = reader.sub(flags & extendedLength ? reader.u16() : reader.u8());
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      // RFC 7606 §4: the prefixes can still be found by the length of the whole list.
      onMalformed(error);
      break;
    }
    const attribute = byType[type];
    if (attribute === undefined) {
      into.unknown = appended(into.unknown, { flags, type, hex: value.hex() });
    } else if (metIn[type] === lists && attribute.repeats !== true) {
      // RFC 7606 §3 g: the first one is used.
      leaveOut(into, { type, reason: "duplicate-attribute", at: value.at });
    } else {
      metIn[type] = lists;
      readAttribute(attribute, value, into, context, onMalformed);
    }
  }
  if (context.asBytes === 2) mergeAs4(into);
  return into;
}

function refuse(fault: RecordFault): never {
  throw fault;
}

function readAttribute(
  attribute: Attribute,
  value: Reader,
  into: PathAttributes,
  context: AttributeContext,
  onMalformed: (fault: RecordFault) => void,
): void {
  try {
    attribute.read(value, into, context);
    value.done(attribute.name);
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    if (attribute.malformed === "discard") {
      leaveOut(into, { type: attribute.type, reason: error.code, at: error.at });
      return;
    }
    const fault = new RecordFault(error.code, error.at, `${attribute.name}: ${error.message}`);
    if (attribute.malformed === "refuse") throw fault;
    onMalformed(fault);
  }
}
