/** Faults of one record: numbers while scanning (no allocation), words in the report. */

/** Negative, so that a position (≥ 0) and a fault fit one return value. */
export const fault = {
  peerOutOfRange: -2,
  prefixLength: -3,
  recordOverrun: -4,
  trailingBytes: -5,
  attributeOverrun: -6,
  asPath: -7,
  time: -8,
  asZero: -9,
} as const;

const words: ReadonlyMap<number, { reason: string; detail: string }> = new Map([
  [fault.peerOutOfRange, { reason: "peer-index-out-of-range", detail: "an entry names a peer that the peer index table does not have" }],
  [fault.prefixLength, { reason: "bad-prefix-length", detail: "the prefix is longer than its address family allows" }],
  [fault.recordOverrun, { reason: "record-overrun", detail: "the record ends before its entries do" }],
  [fault.trailingBytes, { reason: "trailing-bytes", detail: "the record has bytes after its last entry" }],
  [fault.attributeOverrun, { reason: "attribute-overrun", detail: "a path attribute is longer than its entry" }],
  [fault.asPath, { reason: "bad-as-path", detail: "AS_PATH has a segment that is unknown, empty or too long" }],
  [fault.asZero, { reason: "as-zero", detail: "AS_PATH has AS 0, which malforms it (RFC 7607)" }],
  [fault.time, { reason: "bad-time", detail: "the time of the record is more than a day from that of the peer index table" }],
]);

export function describeFault(value: number): { reason: string; detail: string } {
  return words.get(value) ?? { reason: "bad-record", detail: `fault ${value}` };
}
