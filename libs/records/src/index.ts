/** Answers: records of one generation in the order of the contract, and the other parts of every answer. */

export { type AddressRange, addressRanges } from "./address-ranges.ts";
export { AnswerNotes, clockWarnings, etagInput, type PastNote, type RecordAnswer } from "./answer.ts";
export { asnRecord } from "./asn-record.ts";
export { asnVrpsSteps } from "./asn-vrps-record.ts";
export { type Change, type ChangedOrigin, type ChangedRegistration, type ChangeSubject, changesOf, subjectFacts } from "./changes.ts";
export {
  changesAnswer,
  changesQuestion,
  isRefusal,
} from "./changes-record.ts";
export {
  type ChangesPage,
  type ChangesPlace,
  type ChangesRefusal,
  type ChangesWalk,
  changeItem,
  changesSubject,
  type KeptSnapshots,
  snapshotOf,
  walkChanges,
} from "./changes-walk.ts";
export { countryFlag, isCountry } from "./country-flag.ts";
export { ipRecord, ipSections } from "./ip-record.ts";
export { type AnswerContext, enterDataset, recordHandler, recordHandlers } from "./operation.ts";
export { prefixRecord } from "./prefix-record.ts";
export { type RecordBuilder, recordBuilders, type SnapshotOperation, type SnapshotService } from "./record-builders.ts";
export { routingRecord } from "./routing-record.ts";
export { searchSteps } from "./search-record.ts";
export { csvCell, listText, shownAnswer } from "./shown-answer.ts";
export { statusRecord } from "./status-record.ts";
export { finish, type Steps } from "./steps.ts";
export { validationRecord, validationState } from "./validation-parts.ts";
export { validityRecord } from "./validity-record.ts";
