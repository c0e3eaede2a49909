/** A whole MRT file as decoded records. */

import { MrtError } from "../mrt-error.ts";
import { RecordStream, recordBytesMaxDefault } from "../record-stream.ts";
import { RecordDecoder, type RecordReading } from "./record-decoder.ts";

export interface ReadOptions {
  /** Name of the input in messages. */
  readonly name?: string;
  readonly recordBytesMax?: number;
}

interface RawRecord {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly timestamp: number;
  readonly type: number;
  readonly subtype: number;
  readonly offset: number;
}

/**
 * Decodes every record of decompressed chunks, in file order: one batch per chunk, each record when it is asked for.
 *
 * A record that violates its format is returned as a BadRecord, and the reading goes on; a kind that is not read is returned as `unread`.
 *
 * @throws MrtError `truncated` or `bad-header`, after every complete record before that place was returned. Errors of `chunks` pass through.
 *
 * Cost: some 1 µs per route. Memory: the chunk, and one record that spans chunks (≤ `recordBytesMax`); a length field allocates nothing.
 */
export async function* readRecords(
  chunks: AsyncIterable<Uint8Array>,
  options: ReadOptions = {},
): AsyncGenerator<Iterable<RecordReading>, void, undefined> {
  const decoder = new RecordDecoder();
  let batch: RawRecord[] = [];
  let current: Uint8Array | null = null;
  const stream = new RecordStream(
    options.name ?? "MRT input",
    options.recordBytesMax ?? recordBytesMaxDefault,
    (bytes, start, end, timestamp, type, subtype, offset) => {
      const header = start - 12;
      // A record that spans chunks is in memory that is reused, so it is copied.
      if (bytes.buffer === current?.buffer) batch.push({ bytes, start: header, end, timestamp, type, subtype, offset });
      else batch.push({ bytes: bytes.slice(header, end), start: 0, end: end - header, timestamp, type, subtype, offset });
    },
  );
  function* decoded(records: readonly RawRecord[]): Generator<RecordReading, void, undefined> {
    for (const { bytes, start, end, timestamp, type, subtype, offset } of records) {
      yield decoder.decode(bytes, start, end, timestamp, type, subtype, offset);
    }
  }
  for await (const chunk of chunks) {
    current = chunk;
    batch = [];
    try {
      stream.push(chunk);
    } catch (error) {
      if (error instanceof MrtError) yield decoded(batch);
      throw error;
    }
    yield decoded(batch);
  }
  stream.end();
}
