/** @netfacts/mrt: routing tables and updates from MRT files (RFC 6396). */

export {
  decodePath,
  encodePath,
  isMalformedByAsZero,
  originIsPeer,
  originIsSet,
  type PathSegment,
  pathText,
  readPathOrigin,
  readPathSet,
  type SegmentType,
} from "./as-path.ts";
export type { Discarded, UnknownAttribute } from "./attribute/attribute.ts";
export type { MpReach } from "./attribute/mp-reach-nlri.ts";
export type { PathAttributes } from "./attribute/path-attributes.ts";
export { describeRecord } from "./header.ts";
export { MrtError, type MrtErrorCode } from "./mrt-error.ts";
export type { Peer } from "./peer-index-table.ts";
export type { BadRecord, MrtRecord, RecordBody, RecordHeader, RibBody, StateChangeBody, UpdateBody } from "./record/mrt-record.ts";
export type { RoutePrefix } from "./record/prefixes.ts";
export { type ReadOptions, readRecords } from "./record/read-records.ts";
export type { RecordReading } from "./record/record-decoder.ts";
export { type RibReport, type RibSink, type ScanOptions, type Skipped, scanRib } from "./scan-rib.ts";
export { bgpdumpLines, writeBgpdumpLines, writeRouteColumns } from "./text/bgpdump-lines.ts";
export { LineBuffer } from "./text/line-buffer.ts";
export { attributesJson, recordJson } from "./text/record-json.ts";
