/** @netfacts/contracts: the one source of record schemas and types, problems, operations, canonical queries and header names. */

export { parseAsOf } from "./as-of.ts";
export { type CursorPlace, decodeCursor, encodeCursor } from "./cursor.ts";
export { type ErrorEntry, errors, type ProblemCode, problemCodes, type RetryAdvice } from "./errors.ts";
export { examples } from "./examples/index.ts";
export { contentTypes, type Format, formats, type ListFormat, type ListName, type ListView, mediaTypes, memberOfList } from "./formats.ts";
export { headers, ingestPath, internalHeaders, limitHeaderNames, requestIdPattern } from "./headers.ts";
export { type KeyChange, keysChangedSubject, type PlanChange } from "./key-change.ts";
export { Meta, MetaData, MetaHistory, Warning, type WarningCode, warningCodes, warningMeanings } from "./meta.ts";
export { nearestWord } from "./nearest-word.ts";
export type { AsnQuestion } from "./operations/asn.ts";
export type { AsnVrpsQuestion } from "./operations/asn-vrps.ts";
export type { AsnChangesQuestion, PrefixChangesQuestion } from "./operations/changes.ts";
export {
  type BatchKind,
  batchKinds,
  type ChangesName,
  isChanges,
  type LookupName,
  lookupNames,
  type OperationName,
  type OperationOf,
  operationByCode,
  operations,
  type Questions,
  type RecordOf,
} from "./operations/index.ts";
export type { IpQuestion } from "./operations/ip.ts";
export { listLimitDefault, listLimitMax } from "./operations/list-limits.ts";
export {
  changesServiceOf,
  type LookupDescription,
  pastServiceOf,
  pastUnits,
  type ServiceName,
  serviceNames,
  services,
} from "./operations/operation.ts";
export type { PrefixQuestion } from "./operations/prefix.ts";
export type { ReverseDnsQuestion } from "./operations/reverse-dns.ts";
export type { RoutingQuestion } from "./operations/routing.ts";
export { type SearchQuestion, searchCharactersMax, searchText } from "./operations/search.ts";
export type { StatusQuestion } from "./operations/status.ts";
export type { ValidityQuestion } from "./operations/validity.ts";
export {
  Allocation,
  AllocationConflict,
  type AllocationStatus,
  AsnSpecialPurpose,
  Block,
  CountryFlag,
  Holder,
  ListedNetworkType,
  Location,
  LocationOutlier,
  LocationOutliers,
  listedNetworkTypesMax,
  locationOutliersMax,
  NetworkType,
  SpecialPurpose,
} from "./parts/registration.ts";
export { AsSetOrigin, LowVisibilityMatch, Moas, Origin, OriginSummary, RelatedPrefix, Upstream, Visibility } from "./parts/routing.ts";
export { OriginValidation, type RpkiNote, type RpkiState, RpkiSummary, rpkiStates, VrpItem } from "./parts/rpki.ts";
export { errorDocsBaseFault, ProblemError, type ProblemFields, type ProblemPlace, problemBody, problemHeaders } from "./problem-error.ts";
export { decodeQuestion, encodeQuestion, QuestionSyntaxError } from "./questions.ts";
export { AsnAllocation, AsnCounts, AsnPrefix, AsnRecord, AsnRpki, Aspa, Neighbour, Neighbours } from "./records/asn.ts";
export { AsnVrp, AsnVrpsRecord } from "./records/asn-vrps.ts";
export { type AuditAction, AuditRecord, AuditRecords, auditActions } from "./records/audit.ts";
export {
  BatchAnswer,
  BatchMeta,
  BatchQuestion,
  BatchRequest,
  BatchResult,
  BatchSummary,
  batchQuestions,
  batchQuestionsMax,
} from "./records/batch.ts";
export { AsnChangesRecord, ChangeItem, PrefixChangesRecord, RegistrationOfChange } from "./records/changes.ts";
export {
  IngestRun,
  IngestRunSummary,
  IngestRuns,
  IngestSource,
  IngestSources,
  RollbackRequest,
  RunReport,
  RunRequest,
  RunSource,
  SourceSchedule,
} from "./records/ingest.ts";
export { IpLinks, IpRecord, IpRouting } from "./records/ip.ts";
export {
  ConcurrencyLimit,
  CreatedKey,
  KeyPatch,
  KeyRotation,
  keyBounds,
  ManagedKey,
  ManagedKeys,
  MonthLimit,
  NewKey,
  Plan,
  PlanLimits,
  Plans,
  RateLimit,
  RotatedKey,
  type ShownKeyState,
} from "./records/keys.ts";
export { MeKey, MeLimit, MeRecord, type Scope, scopes } from "./records/me.ts";
export {
  ObservationsDeleted,
  ObservationUpload,
  ObservationUploads,
  StoredObservation,
  uploadFormats,
} from "./records/observations.ts";
export { PrefixAllocation, PrefixRecord, PrefixVrps } from "./records/prefix.ts";
export { Problem, ProblemItem, type ResponderProblem, type TimeRange } from "./records/problem.ts";
export { AsProfile, AsProfiles, ProfileFields } from "./records/profiles.ts";
export { ForwardConfirmation, ReverseDnsName, ReverseDnsRecord, type ReverseDnsStatus } from "./records/reverse-dns.ts";
export { RoutingRecord } from "./records/routing.ts";
export {
  SearchHighlight,
  type SearchMatch,
  SearchRecord,
  SearchResult,
  type SearchType,
  searchMatches,
  searchTypes,
} from "./records/search.ts";
export { KeptSnapshot, KeptSnapshots, type SnapshotChange, SnapshotChanges } from "./records/snapshots.ts";
export { SectionStatus, SourceStatus, StatusRecord } from "./records/status.ts";
export { type UsageApart, type UsageClass, UsageItem, UsageItems, usageApart, usageClasses } from "./records/usage.ts";
export { ValidityRecord } from "./records/validity.ts";
export { PodReport, readPodReport, readSnapshotNotice, reloadSubjects, SnapshotNotice } from "./reload.ts";
export {
  type ImportedSection,
  importedSections,
  metaSections,
  RoutesData,
  SectionData,
  type SectionName,
  sectionContracts,
} from "./sections.ts";
export { sharedAnswersStream, sharedAnswersSubject } from "./shared-answers.ts";
export { isSnapshotId, type SnapshotNumber, snapshotIdOf, snapshotIdPattern, snapshotNumberOf } from "./snapshot-number.ts";
export { timestamp, timestampPattern } from "./timestamp.ts";
export {
  decodeQuery,
  encodeQuery,
  membersOf,
  type Page,
  type PastView,
  pastCallerOf,
  shownMembers,
  type View,
  wholeRecord,
} from "./view.ts";
