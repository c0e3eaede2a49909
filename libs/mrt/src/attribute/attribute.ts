/** The interface of every path attribute's file, and the context in which an attribute is read. */

import type { Reader } from "../record/reader.ts";
import type { RecordFaultCode } from "../record/record-fault.ts";
import type { PathAttributes } from "./path-attributes.ts";

export interface AttributeContext {
  /** Size of an AS number in AS_PATH: 2 in messages of speakers without RFC 6793, otherwise 4. */
  readonly asBytes: 2 | 4;
  readonly addPath: boolean;
  /**
   * IP version of a RIB entry, otherwise null. In a RIB entry MP_REACH_NLRI has no prefixes, and may be abbreviated (RFC 6396 §4.3.4): the family is
   * the record's.
   */
  readonly rib: 4 | 6 | null;
}

export interface Attribute {
  readonly type: number;
  /** The name in its RFC; in JSON in lower case. */
  readonly name: string;
  /**
   * `discard`: a malformed one is left out, and noted (RFC 7606 §2: it has no effect on route selection).
   * `withdraw`: a malformed one makes its record invalid, and the prefixes of an UPDATE count as withdrawn (RFC 7606 §2: treat-as-withdraw).
   * `refuse`: a malformed one makes its record invalid, and nothing of the record can be used.
   */
  readonly malformed: "discard" | "withdraw" | "refuse";
  /** It may appear more than once (its reader checks what may not). */
  readonly repeats?: boolean;
  /** Reads the value to its end, and stores it. Throws RecordFault. */
  read(value: Reader, into: PathAttributes, context: AttributeContext): void;
}

/** A part that was left out of a record that is otherwise complete. */
export interface Discarded {
  /** The attribute that was left out, in whole or in part; null for the lists of IPv4 prefixes in an UPDATE. */
  readonly type: number | null;
  /** A code of RecordFault; `overrun` for a prefix that the end of its list truncates. */
  readonly reason: RecordFaultCode;
  /** Position in the bytes of the reader. */
  readonly at: number;
}

/** An attribute that no file here reads, kept unchanged. */
export interface UnknownAttribute {
  readonly flags: number;
  readonly type: number;
  readonly hex: string;
}
