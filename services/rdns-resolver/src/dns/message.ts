/**
 * DNS messages (RFC 1035 §4): writes questions, and reads the parts of answers that we need.
 *
 * We do not use dns-packet: it loses dots inside labels and bytes that are not UTF-8, and does not check the stated length of records. The
 * tests compare this code with it.
 */

import { formatAddress } from "@netfacts/address";
import { type ChainRecord, foldName, type RecordType } from "../domain/name-chain.ts";
import { MalformedMessageError } from "./malformed-message.ts";
import { type KnownNames, type NameReading, nameBytes, readName } from "./name.ts";
import { randomizeCase } from "./random-case.ts";

/** Size that passes nearly every path unfragmented (DNS flag day 2020); longer answers come over TCP. */
const udpPayloadBytes = 1232;

const headerBytes = 12;

/** Type and class after the name of a question. */
const questionTailBytes = 4;

/** Header flags: RD, resolve; AD, report that the answer is validated (RFC 6840 §5.7); CD, do not validate. */
const recursionDesired = 0x0100;
const authenticData = 0x0020;
const checkingDisabled = 0x0010;

/** Type, class, TTL and length of a record (RFC 1035 §4.1.3). */
const recordHeadBytes = 10;

const recordTypes = { a: 1, ns: 2, cname: 5, soa: 6, ptr: 12, aaaa: 28, opt: 41 } as const;
const classIn = 1;

export const rcodes = { noError: 0, formErr: 1, nxDomain: 3, notImp: 4, refused: 5, badCookie: 23 } as const;

/** With at most this many records, names are not remembered: that costs more than it can save. */
const fewRecords = 3;

/** Code of the cookie option, and size of an option's head: code and length (RFC 7873 §4, RFC 6891 §6.1.2). */
const cookieOption = 10;
const optionHeadBytes = 4;

/** Type of a question. SOA only shows whether a nameserver validates; its records are not read. */
export type QuestionType = RecordType | "SOA";
const typeNumbers: Readonly<Record<QuestionType, number>> = {
  PTR: recordTypes.ptr,
  A: recordTypes.a,
  AAAA: recordTypes.aaaa,
  SOA: recordTypes.soa,
};

/** Size of an OPT record with the root as owner and no options. */
const optRecordBytes = 1 + recordHeadBytes;

/** A prepared question. Each time it is sent, the id is written into a copy. */
export interface QuestionMessage {
  /** Folded (`foldName`). */
  readonly name: string;
  readonly bytes: Buffer;
  /** Offset of the end of the question section. */
  readonly questionEnd: number;
  /** Whether it has the OPT record of EDNS (RFC 6891). */
  readonly edns: boolean;
}

export interface Answer {
  /** Response code, including the upper bits of EDNS. */
  readonly rcode: number;
  /** The answer was truncated to fit into a datagram; then its records were not read. */
  readonly truncated: boolean;
  /** PTR, A, AAAA and CNAME records of the answer section, in their order. */
  readonly records: readonly ChainRecord[];
  /** The nameserver reports that it validated the whole answer (AD, RFC 4035 §3.2.3). */
  readonly authentic: boolean;
  /** Cookie with client and server part (RFC 7873); null if there is none. */
  readonly cookie: Buffer | null;
  /** From the SOA record of a negative answer (RFC 2308). */
  readonly soa: { readonly ttl: number; readonly minimum: number } | null;
  /** The answer only refers to other servers: this one does not resolve for us. */
  readonly referral: boolean;
}

/** Questions about the root, as templates for all others. */
const rootQuestions = { plain: writeRootQuestion(false), edns: writeRootQuestion(true) };

function writeRootQuestion(edns: boolean): Buffer {
  const bytes = Buffer.alloc(headerBytes + 1 + questionTailBytes + (edns ? optRecordBytes : 0));
  bytes.writeUInt16BE(recursionDesired | authenticData, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(classIn, headerBytes + 3);
  if (!edns) return bytes;
  bytes.writeUInt16BE(1, 10);
  const opt = bytes.length - optRecordBytes + 1;
  bytes.writeUInt16BE(recordTypes.opt, opt);
  bytes.writeUInt16BE(udpPayloadBytes, opt + 2);
  return bytes;
}

const dot = 0x2e;

export interface QuestionOptions {
  readonly edns: boolean;
  /** Default: PTR. */
  readonly type?: QuestionType;
  /** Asks for the answer even if it fails validation (CD, RFC 4035 §3.2.2). */
  readonly checkingDisabled?: boolean;
}

/** @param name  in ASCII, as `readName` returns it. */
export function writeQuestion(name: string, { edns, type = "PTR", checkingDisabled: unchecked = false }: QuestionOptions): QuestionMessage {
  const root = edns ? rootQuestions.edns : rootQuestions.plain;
  const isEscaped = name.includes("\\");
  const escaped = isEscaped ? nameBytes(name) : null;
  const labels = escaped?.length ?? (name === "." ? 0 : name.length + 1);
  const bytes = Buffer.allocUnsafe(root.length + labels);
  // Copied byte by byte: for so few bytes a native call costs more. All indexes are within the buffers.
  for (let offset = 0; offset < headerBytes; offset += 1) bytes[offset] = root[offset]!;
  for (let offset = headerBytes; offset < root.length; offset += 1) bytes[labels + offset] = root[offset]!;
  bytes.writeUInt16BE(typeNumbers[type], headerBytes + labels + 1);
  if (unchecked) bytes.writeUInt16BE(recursionDesired | authenticData | checkingDisabled, 2);
  if (escaped === null) writePlainName(bytes, name, labels);
  else escaped.copy(bytes, headerBytes);
  return { name: foldName(name), bytes, questionEnd: bytes.length - (edns ? optRecordBytes : 0), edns };
}

/** Each label is preceded by its length: the first by an additional byte, the others in place of the dot. */
function writePlainName(bytes: Buffer, name: string, labels: number): void {
  let lengthAt = headerBytes;
  for (let at = headerBytes + 1; at < headerBytes + labels; at += 1) {
    const character = name.charCodeAt(at - headerBytes - 1);
    bytes[at] = character;
    if (character !== dot) continue;
    bytes[lengthAt] = at - lengthAt - 1;
    lengthAt = at;
  }
  if (labels > 0) bytes[lengthAt] = headerBytes + labels - lengthAt - 1;
}

/** The bytes of the question to send: with an id, with the cookie if it has EDNS, and with its name in random case on request. */
export function sendable(question: QuestionMessage, id: number, cookie: Buffer | null, randomCase: boolean): Buffer {
  const { bytes, questionEnd, edns } = question;
  const option = edns && cookie !== null ? optionHeadBytes + cookie.length : 0;
  const message = Buffer.allocUnsafe(bytes.length + option);
  // All indexes are within the buffers.
  for (let offset = 0; offset < bytes.length; offset += 1) message[offset] = bytes[offset]!;
  message.writeUInt16BE(id, 0);
  if (randomCase) randomizeCase(message, headerBytes, questionEnd - questionTailBytes);
  if (option === 0 || cookie === null) return message;
  // The OPT record is the last one: set the length of its data, then append the option.
  message.writeUInt16BE(option, bytes.length - 2);
  message.writeUInt16BE(cookieOption, bytes.length);
  message.writeUInt16BE(cookie.length, bytes.length + 2);
  for (let offset = 0; offset < cookie.length; offset += 1) message[bytes.length + optionHeadBytes + offset] = cookie[offset]!;
  return message;
}

/**
 * Whether an answer echoes the name in the case that was sent; true if it has no question. Also changes the name in the answer to the
 * original case, because other names of the message may point to it.
 */
export function echoesCase(message: Buffer, sent: Buffer, question: QuestionMessage): boolean {
  if (message.readUInt16BE(4) === 0) return true;
  const { questionEnd } = question;
  let isSame = true;
  for (let offset = headerBytes; offset < questionEnd; offset += 1) {
    if (message[offset] !== sent[offset]) isSame = false;
    // All three buffers reach to questionEnd.
    message[offset] = question.bytes[offset]!;
  }
  return isSame;
}

/**
 * Whether a message answers this question: the echoed question may differ only in case (RFC 5452 §9.1). A server that could not read the
 * question may leave it out.
 */
export function answersQuestion(message: Buffer, question: QuestionMessage): boolean {
  if (message.length < headerBytes) return false;
  const flags = message.readUInt16BE(2);
  const isQueryResponse = (flags & 0xf800) === 0x8000;
  if (!isQueryResponse) return false;
  const questions = message.readUInt16BE(4);
  if (questions === 0) {
    const rcode = flags & 15;
    return (rcode === rcodes.formErr || rcode === rcodes.notImp) && message.readUInt16BE(6) === 0;
  }
  if (questions !== 1 || message.length < question.questionEnd) return false;
  for (let offset = headerBytes; offset < question.questionEnd; offset += 1) {
    // Both buffers reach to questionEnd.
    const echoed = message[offset]!;
    const asked = question.bytes[offset]!;
    if (echoed !== asked && foldByte(echoed) !== foldByte(asked)) return false;
  }
  return true;
}

/**
 * Reads an answer for which `answersQuestion` is true. The cost is bounded by its length: at most one name and one target per eleven bytes.
 *
 * @throws MalformedMessageError
 */
export function readAnswer(message: Buffer, question: QuestionMessage): Answer {
  const flags = message.readUInt16BE(2);
  const truncated = (flags & 0x0200) !== 0;
  const authoritative = (flags & 0x0400) !== 0;
  let rcode = flags & 15;
  const authentic = (flags & authenticData) !== 0;
  const records: ChainRecord[] = [];
  let soa: Answer["soa"] = null;
  let cookie: Buffer | null = null;
  let delegates = false;
  if (truncated) return { rcode, truncated, records, authentic, cookie, soa, referral: false };

  let offset = message.readUInt16BE(4) === 0 ? headerBytes : question.questionEnd;
  const answers = message.readUInt16BE(6);
  const authorities = message.readUInt16BE(8);
  const additionals = message.readUInt16BE(10);
  const known: KnownNames | null = answers + authorities + additionals > fewRecords ? new Map() : null;
  for (let index = 0; index < answers + authorities + additionals; index += 1) {
    const owner = readOwner(message, offset, question, known);
    const head = readHead(message, owner.end);
    if (index < answers) {
      const record = head.class === classIn ? readRecord(message, head, owner.text, known) : null;
      if (record !== null) records.push(record);
    } else if (index < answers + authorities) {
      if (head.class === classIn && head.type === recordTypes.soa) soa = { ttl: head.ttl, minimum: readSoaMinimum(message, head, known) };
      if (head.class === classIn && head.type === recordTypes.ns) delegates = true;
    } else if (head.type === recordTypes.opt) {
      // The TTL field has the upper eight bits of the response code (RFC 6891 §6.1.3).
      rcode |= (message.readUInt8(head.dataStart - 6) << 4) & 0xff0;
      cookie = readCookie(message, head);
    }
    offset = head.dataEnd;
  }
  const referral = rcode === rcodes.noError && records.length === 0 && soa === null && delegates && !authoritative;
  return { rcode, truncated, records, authentic, cookie, soa, referral };
}

function readCookie(message: Buffer, { dataStart, dataEnd }: RecordHead): Buffer | null {
  for (let offset = dataStart; offset < dataEnd; ) {
    const data = offset + optionHeadBytes;
    if (data > dataEnd) throw new MalformedMessageError("option past the end of its record", offset);
    const end = data + message.readUInt16BE(offset + 2);
    if (end > dataEnd) throw new MalformedMessageError("option past the end of its record", offset);
    if (message.readUInt16BE(offset) === cookieOption) return message.subarray(data, end);
    offset = end;
  }
  return null;
}

/** Null for a record of another type. */
function readRecord(
  message: Buffer,
  { type, ttl, dataStart, dataEnd }: RecordHead,
  owner: string,
  known: KnownNames | null,
): ChainRecord | null {
  switch (type) {
    case recordTypes.ptr:
    case recordTypes.cname: {
      const target = readName(message, dataStart, known);
      if (target.end !== dataEnd) throw new MalformedMessageError("name ends elsewhere than its record", dataStart);
      return { type: type === recordTypes.ptr ? "PTR" : "CNAME", owner, ttl, target: target.text };
    }
    case recordTypes.a: {
      if (dataEnd - dataStart !== 4) throw new MalformedMessageError("A record of a wrong length", dataStart);
      const address = { version: 4, w0: message.readUInt32BE(dataStart), w1: 0, w2: 0, w3: 0 } as const;
      return { type: "A", owner, ttl, target: formatAddress(address) };
    }
    case recordTypes.aaaa: {
      if (dataEnd - dataStart !== 16) throw new MalformedMessageError("AAAA record of a wrong length", dataStart);
      const word = (index: number) => message.readUInt32BE(dataStart + 4 * index);
      const address = { version: 6, w0: word(0), w1: word(1), w2: word(2), w3: word(3) } as const;
      return { type: "AAAA", owner, ttl, target: formatAddress(address) };
    }
    default:
      return null;
  }
}

/** A pointer to the question, which follows the header (RFC 1035 §4.1.4). */
const pointerToQuestion = 0xc000 | headerBytes;

/** Reads the owner, folded. The owner of nearly every record is the name of the question, which need not be read again. */
function readOwner(message: Buffer, offset: number, question: QuestionMessage, known: KnownNames | null): NameReading {
  const isQuestion = offset + 2 <= message.length && message.readUInt16BE(offset) === pointerToQuestion && message.readUInt16BE(4) === 1;
  if (isQuestion) return { text: question.name, end: offset + 2 };
  const { text, end } = readName(message, offset, known);
  return { text: foldName(text), end };
}

interface RecordHead {
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly dataStart: number;
  readonly dataEnd: number;
}

function readHead(message: Buffer, offset: number): RecordHead {
  const dataStart = offset + recordHeadBytes;
  if (dataStart > message.length) throw new MalformedMessageError("record past the end", offset);
  const dataEnd = dataStart + message.readUInt16BE(offset + 8);
  if (dataEnd > message.length) throw new MalformedMessageError("record data past the end", offset);
  const ttl = message.readUInt32BE(offset + 4);
  // A TTL with its highest bit set counts as zero (RFC 2181 §8).
  return {
    type: message.readUInt16BE(offset),
    class: message.readUInt16BE(offset + 2),
    ttl: ttl > 0x7fff_ffff ? 0 : ttl,
    dataStart,
    dataEnd,
  };
}

/** Reads the last of five 32-bit fields after two names (RFC 1035 §3.3.13). */
function readSoaMinimum(message: Buffer, { dataStart, dataEnd }: RecordHead, known: KnownNames | null): number {
  const fields = readName(message, readName(message, dataStart, known).end, known).end;
  if (fields + 20 !== dataEnd) throw new MalformedMessageError("SOA record of a wrong length", dataStart);
  const minimum = message.readUInt32BE(fields + 16);
  return minimum > 0x7fff_ffff ? 0 : minimum;
}

function foldByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}
