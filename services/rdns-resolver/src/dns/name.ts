/** Domain names: from the wire (RFC 1035 §4.1.4) to presentation text (§5.1) and back, one text per name and one name per text. */

import { MalformedMessageError } from "./malformed-message.ts";

/** Bytes of a name on the wire without its root label (RFC 1035 §2.3.4). */
const nameBytesMax = 254;

/** A name has at most this many labels, so no honest one jumps more often. */
const pointersMax = 127;

/** The header comes first in a message, and no name lies in it. */
const headerBytes = 12;

export interface NameReading {
  /** Without the dot at its end; the root is `.`. Dots and other bytes with a meaning are escaped, so texts are equal exactly where names are. */
  readonly text: string;
  /** Offset behind the name where it stands, not where its pointers lead. */
  readonly end: number;
}

/**
 * Reads the name that starts at `start`. Pointers must lead further back each time, so reading ends whatever the bytes say.
 *
 * @throws MalformedMessageError
 */
export function readName(message: Buffer, start: number): NameReading {
  let text = "";
  let end = -1;
  let offset = start;
  let segment = start;
  let bytes = 0;
  let pointers = 0;
  for (;;) {
    const octet = byteAt(message, offset);
    if (octet === 0) return { text: text === "" ? "." : text, end: end < 0 ? offset + 1 : end };
    if (octet >= 0xc0) {
      const target = ((octet & 0x3f) << 8) | byteAt(message, offset + 1);
      pointers += 1;
      if (target >= segment || target < headerBytes || pointers > pointersMax) throw new MalformedMessageError("bad pointer", offset);
      if (end < 0) end = offset + 2;
      segment = target;
      offset = target;
      continue;
    }
    if (octet >= 0x40) throw new MalformedMessageError("unknown kind of label", offset);
    bytes += octet + 1;
    if (bytes > nameBytesMax) throw new MalformedMessageError("name too long", start);
    const next = offset + 1 + octet;
    if (next > message.length) throw new MalformedMessageError("label past the end", offset);
    text += text === "" ? labelText(message, offset + 1, next) : `.${labelText(message, offset + 1, next)}`;
    offset = next;
  }
}

function byteAt(message: Buffer, offset: number): number {
  const byte = message[offset];
  if (byte === undefined) throw new MalformedMessageError("name past the end", offset);
  return byte;
}

/** 1: stands for itself; 2: takes a backslash, as the master file format gives it a meaning; 0: written as three decimal digits. */
const writing = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte >= 0x7f) return 0;
  return '.\\"();@$'.includes(String.fromCharCode(byte)) ? 2 : 1;
});

function labelText(message: Buffer, start: number, end: number): string {
  for (let offset = start; offset < end; offset += 1) {
    // Within the message: the caller has checked the label's end.
    if (writing[message[offset]!] !== 1) return escapedLabel(message.subarray(start, end));
  }
  return message.toString("latin1", start, end);
}

function escapedLabel(label: Buffer): string {
  let text = "";
  for (const byte of label) {
    const form = writing[byte];
    if (form === 0) text += `\\${byte.toString().padStart(3, "0")}`;
    else text += form === 2 ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  }
  return text;
}

/** The labels of a text that `readName` gave, each behind its length, without the root label. */
export function nameBytes(text: string): Buffer {
  const bytes: number[] = [0];
  let lengthAt = 0;
  for (const [, escaped, plain] of text.matchAll(/\\(\d{3}|[^\d])|([^\\])/g)) {
    if (plain === ".") {
      lengthAt = bytes.length;
      bytes.push(0);
      continue;
    }
    const character = plain ?? escaped ?? "";
    bytes.push(character.length === 3 ? Number(character) : character.charCodeAt(0));
    // Set above for every label.
    bytes[lengthAt]! += 1;
  }
  return Buffer.from(bytes);
}
