/** What the decoder makes of a file, beside what the slow decoder makes of it. */

import { isDeepStrictEqual } from "node:util";
import { MrtError, type RecordReading, readRecords, recordJson } from "../../src/index.ts";
import { chunksOf } from "./dump.ts";
import { slowlyDecoded } from "./slow-decoder.ts";

export interface FastFile {
  readonly readings: readonly RecordReading[];
  readonly ending: string | null;
}

/** Decodes with the real decoder, or with one that a test has planted in its place. */
export type Decode = (file: Uint8Array, chunkBytes: number) => Promise<FastFile>;

export const decoded: Decode = async (file, chunkBytes) => {
  const readings: RecordReading[] = [];
  try {
    for await (const batch of readRecords(chunksOf(file, chunkBytes))) readings.push(...batch);
  } catch (error) {
    if (!(error instanceof MrtError)) throw error;
    return { readings, ending: error.code };
  }
  return { readings, ending: null };
};

/** Null when both readings agree; else a word on the first difference. */
export async function disagreement(file: Uint8Array, decode: Decode = decoded, chunkBytes = file.length || 1): Promise<string | null> {
  const fast = await decode(file, chunkBytes);
  const slow = slowlyDecoded(file);
  if (fast.ending !== slow.ending) return `ends ${fast.ending}, where ${slow.ending} is right`;
  if (fast.readings.length !== slow.readings.length) return `${fast.readings.length} records, where ${slow.readings.length} are right`;
  for (const [index, reading] of fast.readings.entries()) {
    const wanted = slow.readings[index] as (typeof slow.readings)[number];
    if (reading.header.offset !== wanted.offset) return `record ${index} at byte ${reading.header.offset}, not ${wanted.offset}`;
    if ("fault" in reading) {
      const fault = refusalFault(reading, file);
      if (fault !== null) return `record ${index}: ${fault}`;
      if (!("refused" in wanted)) return `record ${index} is refused: ${reading.fault.detail}`;
      const { header, asWithdrawn } = reading;
      const withdrawn = asWithdrawn === null ? null : prefixesOf(recordJson({ header, body: asWithdrawn }));
      const right = wanted.withdraws === null ? null : prefixesOf(wanted.withdraws);
      if (!isDeepStrictEqual(withdrawn, right))
        return `record ${index} withdraws ${JSON.stringify(withdrawn)}, where ${JSON.stringify(right)} is right`;
      continue;
    }
    if ("refused" in wanted) return `record ${index} is read, where it is to be refused`;
    const got = comparable(recordJson(reading));
    const want = comparable(wanted.json);
    if (!isDeepStrictEqual(got, want)) return `record ${index}: ${JSON.stringify(got)}, where ${JSON.stringify(want)} is right`;
  }
  return null;
}

/** A refusal names a byte of its record and a cause, and shows the record's bytes. */
function refusalFault({ header, fault, bytes }: Extract<RecordReading, { bytes: Uint8Array }>, file: Uint8Array): string | null {
  if (!file.subarray(header.offset, header.offset + bytes.length).every((byte, at) => byte === bytes[at])) return "other bytes are shown";
  if (fault.offset < header.offset || fault.offset > header.offset + bytes.length) return `byte ${fault.offset} is not the record's`;
  return fault.code === "" || fault.detail === "" ? "no cause" : null;
}

/** Of an UPDATE with malformed attributes: peer and prefixes. */
function prefixesOf(json: Record<string, unknown>): unknown {
  const { peer, sent, withdrawn, announced, attributes } = JSON.parse(JSON.stringify(json)) as Record<string, unknown>;
  const { mp_reach_nlri, mp_unreach_nlri } = attributes as Record<string, unknown>;
  return { peer, sent, withdrawn, announced, mp_reach_nlri, mp_unreach_nlri };
}

/** Without what is of people's concern, and with the left out in an order. */
function comparable(json: Record<string, unknown>): unknown {
  const { type: _type, subtype: _subtype, what: _what, ...rest } = JSON.parse(JSON.stringify(json)) as Record<string, unknown>;
  const routes = (rest.routes ?? []) as { attributes: Record<string, unknown> }[];
  for (const attributes of [rest.attributes as Record<string, unknown> | undefined, ...routes.map((route) => route.attributes)]) {
    if (attributes?.discarded === undefined) continue;
    const left = attributes.discarded as ({ type: number | null } | number | null)[];
    attributes.discarded = left.map((each) => String(typeof each === "object" && each !== null ? each.type : each)).sort();
  }
  return rest;
}
