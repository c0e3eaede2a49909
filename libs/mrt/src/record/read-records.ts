/** A whole MRT file as decoded records. */

import { MrtError } from "../mrt-error.ts";
import { RecordStream, recordBytesMaxDefault } from "../record-stream.ts";
import { RecordDecoder, type RecordReading } from "./record-decoder.ts";

export interface ReadOptions {
  /** What messages call the input. */
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
 * Decodes every record of decompressed chunks, in file order: one batch a chunk, each record when it is asked for.
 *
 * A record that breaks its format comes as a BadRecord and the reading goes on; a kind that is not read comes as `unread`.
 *
 * @throws MrtError `truncated` or `bad-header`, after every whole record before the place has been handed out. Errors of `chunks` pass through.
 *
 * Cost: some 1 µs a route. Memory: the chunk, and one record that crosses chunks (≤ `recordBytesMax`); a length that is claimed allocates nothing.
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
      // A record that crossed chunks lies in memory that is used again.
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
