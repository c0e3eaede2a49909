/** What is answered: records of one generation in the order of the contract, and what every answer carries beside them. */

export {
  AnswerNotes,
  clockWarnings,
  etagInput,
  maxAge,
  type RecordAnswer,
  recordAnswer,
  sectionData,
} from "./answer.ts";
export { type AsnRecordBody, asnRecord } from "./asn-record.ts";
export { countryFlag } from "./country-flag.ts";
export { type IpRecordBody, ipRecord, ipSections } from "./ip-record.ts";
export { type AnswerContext, enterDataset, type RecordHandler, recordHandler, recordHandlers } from "./operation.ts";
export { type PrefixRecordBody, prefixRecord } from "./prefix-record.ts";
export { type RecordBuilder, recordBuilders, type SnapshotOperation } from "./record-builders.ts";
export {
  allocationRecord,
  asnSpecialPurposeRecord,
  blockRecord,
  holderRecord,
  sameHolder,
  specialPurposeRecord,
} from "./registration-parts.ts";
export {
  asSetOriginRecord,
  lessSpecifics,
  lowVisibilityRecord,
  moasRecord,
  originRecord,
  originSummary,
  type RouteView,
  relatedPrefix,
  rpkiSummary,
  share,
  viewRoute,
  visibilityRecord,
  warnAboutRoute,
} from "./route-parts.ts";
export { type RoutingRecordBody, routingRecord } from "./routing-record.ts";
export { csvCell, listText, shownAnswer } from "./shown-answer.ts";
export { statusRecord } from "./status-record.ts";
export { validationRecord, validationState, vrpRecord } from "./validation-parts.ts";
export { validityRecord } from "./validity-record.ts";
