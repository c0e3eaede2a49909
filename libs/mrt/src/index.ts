/** @netfacts/mrt: routing tables from MRT files (RFC 6396), and the opening of compressed files. */

export {
  decodePath,
  originIsPeer,
  originIsSet,
  type PathSegment,
  pathText,
  readPathOrigin,
  readPathSet,
  type SegmentType,
} from "./as-path.ts";
export { ContentError, type ContentErrorCode } from "./content/content-error.ts";
export { type Compression, type Content, openContent } from "./content/open-content.ts";
export { MrtError, type MrtErrorCode } from "./mrt-error.ts";
export type { Peer } from "./peer-index-table.ts";
export {
  examplesMaxDefault,
  type RibReport,
  type RibSink,
  recordBytesMaxDefault,
  type ScanOptions,
  type SkippedRecords,
  scanRib,
} from "./scan-rib.ts";
