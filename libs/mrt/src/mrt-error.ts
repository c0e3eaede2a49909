/** The reason why a whole MRT file was refused. */

/**
 * - `truncated`: the input ends inside a record.
 * - `bad-header`: a record claims more bytes than `recordBytesMax`, so that no later record can be found.
 * - `bad-peer-index`: the peer index table cannot be read, so that no later route has a known peer.
 * - `no-peer-index`: a RIB record comes before any peer index table.
 * - `two-dumps`: two peer index tables of one collector and view are more than ten minutes apart, so that a peer would have routes of both times.
 * - `not-a-rib`: the input ends without a peer index table: empty, or of other record types only.
 */
export type MrtErrorCode = "truncated" | "bad-header" | "bad-peer-index" | "no-peer-index" | "two-dumps" | "not-a-rib";

/** A file that cannot be trusted as a whole. A single bad record is not an error: the report counts it. */
export class MrtError extends Error {
  readonly code: MrtErrorCode;
  /** Byte of the decompressed stream at which the record begins. */
  readonly offset: number;

  constructor(code: MrtErrorCode, name: string, offset: number, detail: string, options?: { cause?: unknown }) {
    super(`${name}: ${detail} (record at byte ${offset})`, options);
    this.name = "MrtError";
    this.code = code;
    this.offset = offset;
  }
}
