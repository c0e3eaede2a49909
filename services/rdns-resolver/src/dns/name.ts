/** Converts domain names from the wire (RFC 1035 §4.1.4) to presentation text (§5.1) and back: each name has exactly one text. */

import { MalformedMessageError } from "./malformed-message.ts";

/** Bytes of a name on the wire without its root label (RFC 1035 §2.3.4). */
const nameBytesMax = 254;

/** Most pointers in a name: it has at most this many labels, so no legitimate name needs more. */
const pointersMax = 127;

/** Size of the header at the start of a message, which has no names. */
const headerBytes = 12;

const dot = 0x2e;

/** Text form of each byte. 1: the character itself. 2: with a backslash, because it has a meaning in master files. 0: three decimal digits. */
const writing = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte >= 0x7f) return 0;
  return '.\\"();@$'.includes(String.fromCharCode(byte)) ? 2 : 1;
});

export interface NameReading {
  /** Without a dot at the end; the root is `.`. Dots and special bytes are escaped, so equal texts mean equal names. */
  readonly text: string;
  /** Offset of the end of the name at its own place, not at the target of a pointer. */
  readonly end: number;
}

/** The rest of a name from one of its labels or pointers on. */
interface Suffix {
  /** Empty for the root. */
  readonly text: string;
  readonly bytes: number;
  readonly pointers: number;
  /** Offset that its first pointer refers to; -1 if it has none. */
  readonly target: number;
  readonly end: number;
}

/** Suffixes of a message that are already read, by offset: names share suffixes, and a hostile message shares long ones thousands of times. */
export type KnownNames = Map<number, Suffix>;

/**
 * Reads the name that starts at `start`. Each pointer must refer further back, so the loop ends for any bytes.
 *
 * @param known  suffixes of this message. If all names of a message are read with the same map, the cost is proportional to its length. Null
 *   if there are so few names that this does not matter.
 * @throws MalformedMessageError
 */
export function readName(message: Buffer, start: number, known: KnownNames | null): NameReading {
  if (known === null) return readOne(message, start);
  const { text, end } = readSuffix(message, start, 0, known);
  return { text: text === "" ? "." : text, end };
}

/** Buffer for a name with dots in place of the lengths of its labels. */
const plainName = Buffer.alloc(nameBytesMax);

/** Like `readSuffix`, but does not remember suffixes. */
function readOne(message: Buffer, start: number): NameReading {
  let bytes = 0;
  let isPlain = true;
  let pointers = 0;
  let segment = start;
  let end = -1;
  for (let offset = start; ; ) {
    const octet = byteAt(message, offset);
    if (octet === 0) {
      if (end < 0) end = offset + 1;
      if (!isPlain) return { text: readSuffix(message, start, 0, new Map()).text, end };
      return { text: bytes === 0 ? "." : plainName.toString("latin1", 0, bytes - 1), end };
    }
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
    const next = offset + 1 + octet;
    if (bytes + octet + 1 > nameBytesMax) throw new MalformedMessageError("name too long", start);
    if (next > message.length) throw new MalformedMessageError("label past the end", offset);
    for (offset += 1; offset < next; offset += 1) {
      // Within the message, as checked above.
      const byte = message[offset]!;
      if (writing[byte] !== 1) isPlain = false;
      plainName[bytes] = byte;
      bytes += 1;
    }
    plainName[bytes] = dot;
    bytes += 1;
  }
}

function readSuffix(message: Buffer, start: number, pointersBefore: number, known: KnownNames): Suffix {
  const labels: number[] = [];
  let bytes = 0;
  let offset = start;
  let rest = known.get(offset);
  while (rest === undefined) {
    const octet = byteAt(message, offset);
    if (octet === 0) {
      rest = { text: "", bytes: 0, pointers: 0, target: -1, end: offset + 1 };
    } else if (octet >= 0xc0) {
      rest = readPointer(message, offset, start, pointersBefore, known);
    } else {
      if (octet >= 0x40) throw new MalformedMessageError("unknown kind of label", offset);
      bytes += octet + 1;
      const next = offset + 1 + octet;
      if (bytes > nameBytesMax) throw new MalformedMessageError("name too long", start);
      if (next > message.length) throw new MalformedMessageError("label past the end", offset);
      labels.push(offset);
      offset = next;
      rest = known.get(offset);
    }
  }
  if (rest.target >= start) throw new MalformedMessageError("bad pointer", offset);
  if (bytes + rest.bytes > nameBytesMax) throw new MalformedMessageError("name too long", start);
  for (const label of labels.reverse()) {
    const length = byteAt(message, label);
    const text = labelText(message, label + 1, label + 1 + length);
    rest = { ...rest, text: rest.text === "" ? text : `${text}.${rest.text}`, bytes: rest.bytes + length + 1 };
    known.set(label, rest);
  }
  return rest;
}

/** @param segment  offset of the labels before the pointer. */
function readPointer(message: Buffer, offset: number, segment: number, pointersBefore: number, known: KnownNames): Suffix {
  const target = ((byteAt(message, offset) & 0x3f) << 8) | byteAt(message, offset + 1);
  const isBad = target >= segment || target < headerBytes || pointersBefore >= pointersMax;
  const rest = isBad ? null : readSuffix(message, target, pointersBefore + 1, known);
  if (rest === null || rest.pointers >= pointersMax) throw new MalformedMessageError("bad pointer", offset);
  const { text, bytes, pointers } = rest;
  const suffix = { text, bytes, pointers: pointers + 1, target, end: offset + 2 };
  known.set(offset, suffix);
  return suffix;
}

function byteAt(message: Buffer, offset: number): number {
  const byte = message[offset];
  if (byte === undefined) throw new MalformedMessageError("name past the end", offset);
  return byte;
}

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

/** The labels of a text from `readName`, each after its length, without the root label. */
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
