/** What every path attribute's file provides, and what the reading of one may know. */

import type { Reader } from "../record/reader.ts";
import type { RecordFaultCode } from "../record/record-fault.ts";
import type { PathAttributes } from "./path-attributes.ts";

export interface AttributeContext {
  /** Bytes of an AS number in AS_PATH: 2 in messages of speakers without RFC 6793, 4 elsewhere. */
  readonly asBytes: 2 | 4;
  readonly addPath: boolean;
  /** In a RIB entry MP_REACH_NLRI has no prefixes, and may be abbreviated (RFC 6396 §4.3.4): the family is the record's. */
  readonly rib: 4 | 6 | null;
}

export interface Attribute {
  readonly type: number;
  /** As in its RFC; in JSON in lower case. */
  readonly name: string;
  /**
   * `discard`: a malformed one is left out, and noted (RFC 7606 §2: it has no effect on route selection).
   * `withdraw`: a malformed one takes its record with it, and the prefixes of an UPDATE count as withdrawn (RFC 7606 §2: treat-as-withdraw).
   * `refuse`: a malformed one takes its record with it, of which nothing can be told.
   */
  readonly malformed: "discard" | "withdraw" | "refuse";
  /** May stand more than once (its reader looks for what may not). */
  readonly repeats?: boolean;
  /** Reads the value, of which nothing may be left, into its place. Throws RecordFault. */
  read(value: Reader, into: PathAttributes, context: AttributeContext): void;
}

/** What was left out of a record that else is whole. */
export interface Discarded {
  /** The attribute left out, or of which a part was; null for the lists of IPv4 prefixes in an UPDATE. */
  readonly type: number | null;
  /** A code of RecordFault; `overrun` for a prefix that its list cuts off. */
  readonly reason: RecordFaultCode;
  /** Position in the bytes that were read from. */
  readonly at: number;
}

/** An attribute that no file here reads, kept as it is. */
export interface UnknownAttribute {
  readonly flags: number;
  readonly type: number;
  readonly hex: string;
}
