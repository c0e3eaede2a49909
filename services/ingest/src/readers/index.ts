/** The readers of source files, one per format; each reads unpacked pieces and tells what it took, what it left and why. */

export { type AsNameRecord, readAutnums, readNameList } from "./as-names.ts";
export type { ProfileRecord } from "./as-profiles.ts";
export { boundedContent, type ContentMeter } from "./bounded-content.ts";
export { type DelegationRecord, type DelegationRegistry, type DelegationStatus, readDelegated } from "./delegated.ts";
export { type NetworkTypeRecord, readNetworkTypesCsv, readOverridesCsv } from "./operator-csv.ts";
export { type Organisation, readPeeringDbNet, readPeeringDbOrg } from "./peeringdb.ts";
export { type Place, type ReadBounds, type ReaderReport, type SkippedRecords, type SourceContent, SourceError } from "./reader-report.ts";
export { readRoutinatorCsv } from "./routinator-csv.ts";
export { readRoutinatorJson, readRoutinatorJsonExt } from "./routinator-json.ts";
export { readRpkiClientJson } from "./rpki-client-json.ts";
export { readRtr } from "./rtr.ts";
export { type PrefixFilter, readSlurm, type SlurmExceptions, slurmAnchor } from "./slurm.ts";
export type { AspaReading, VrpExport } from "./vrp-export.ts";
export type { VrpList } from "./vrp-list.ts";
