/** The fault of one record, and its place: the whole record is refused, and the next one is read. */

import type { UpdateBody } from "./mrt-record.ts";

/**
 * - `overrun`: a field or list is longer than what contains it.
 * - `trailing-bytes`: bytes follow the last field.
 * - `bad-length`: a field of fixed length has another length.
 * - `bad-value`: a value that the format does not allow.
 * - `bad-prefix-length`: a prefix longer than its address family allows.
 * - `bad-as-path`: a segment is unknown, empty or too long.
 * - `duplicate-attribute`: an attribute appears twice but may appear only once (RFC 7606 §3 g).
 * - `no-peer-index`, `peer-index-out-of-range`: the peer of a route cannot be determined.
 */
export type RecordFaultCode =
  | "overrun"
  | "trailing-bytes"
  | "bad-length"
  | "bad-value"
  | "bad-prefix-length"
  | "bad-as-path"
  | "duplicate-attribute"
  | "no-peer-index"
  | "peer-index-out-of-range";

export class RecordFault extends Error {
  readonly code: RecordFaultCode;
  /** Position of the fault in the bytes of the reader. */
  readonly at: number;
  /** The UPDATE whose prefixes count as withdrawn because of this fault (RFC 7606 §2: treat-as-withdraw); null: nothing of the record can be used. */
  asWithdrawn: UpdateBody | null = null;

  constructor(code: RecordFaultCode, at: number, detail: string) {
    super(detail);
    this.name = "RecordFault";
    this.code = code;
    this.at = at;
  }

  inUpdate(update: UpdateBody): this {
    this.asWithdrawn = update;
    return this;
  }
}
