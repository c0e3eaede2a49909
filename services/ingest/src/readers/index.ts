/** The readers of source files, one per format; each reads unpacked pieces and tells what it took, what it left and why. */

export { type AsNameRecord, readAutnums, readNameList } from "./as-names.ts";
export { boundedContent, type ContentMeter } from "./bounded-content.ts";
export { type DelegationRecord, type DelegationRegistry, type DelegationStatus, readDelegated } from "./delegated.ts";
export { type Place, type ReadBounds, type ReaderReport, type SkippedRecords, type SourceContent, SourceError } from "./reader-report.ts";
export { type RpkiClientContent, readRpkiClientJson } from "./rpki-client-json.ts";
export type { VrpList } from "./vrp-list.ts";
