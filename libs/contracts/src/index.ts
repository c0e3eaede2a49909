/** @netfacts/contracts: the one source of record schemas and types, problems, operations, canonical queries and header names. */

export { type ErrorEntry, errors, type ProblemCode, problemCodes, type RetryAdvice } from "./errors.ts";
export { examples } from "./examples/index.ts";
export { headers, ingestPath, internalHeaders, requestIdPattern } from "./headers.ts";
export { type KeyChange, keysChangedSubject } from "./key-change.ts";
export {
  Meta,
  MetaData,
  RoutesData,
  SectionData,
  type SectionName,
  sectionNames,
  Warning,
  type WarningCode,
  warningCodes,
  warningMeanings,
} from "./meta.ts";
export { type OperationName, operationByCode, operations, type RecordOf, type ServiceName, serviceNames } from "./operations.ts";
export {
  Allocation,
  AllocationConflict,
  type AllocationStatus,
  AsnSpecialPurpose,
  allocationStatuses,
  Block,
  CountryFlag,
  Holder,
  Location,
  NetworkType,
  SpecialPurpose,
} from "./parts/registration.ts";
export { AsSetOrigin, LowVisibilityMatch, Moas, Origin, OriginSummary, RelatedPrefix, Upstream, Visibility } from "./parts/routing.ts";
export { OriginValidation, type RpkiNote, type RpkiState, RpkiSummary, rpkiNotes, rpkiStates, VrpItem } from "./parts/rpki.ts";
export { ProblemError, type ProblemFields, type ProblemPlace, problemBody, problemHeaders } from "./problem-error.ts";
export {
  type AsnQuestion,
  decodeQuestion,
  encodeQuestion,
  type IpQuestion,
  listLimitDefault,
  listLimitMax,
  type PrefixQuestion,
  QuestionSyntaxError,
  type Questions,
  type ReverseDnsQuestion,
  type RoutingQuestion,
  type StatusQuestion,
  type ValidityQuestion,
} from "./questions.ts";
export { AsnAllocation, AsnCounts, AsnPrefix, AsnRecord, AsnRpki, Aspa, Neighbour, Neighbours } from "./records/asn.ts";
export {
  IngestRun,
  IngestRunSummary,
  IngestRuns,
  IngestSource,
  IngestSources,
  RunReport,
  RunSource,
  SourceSchedule,
} from "./records/ingest.ts";
export { IpLinks, IpRecord, IpRouting } from "./records/ip.ts";
export { MeKey, MeLimit, MeRecord, type Scope, scopes } from "./records/me.ts";
export { PrefixAllocation, PrefixRecord, PrefixVrps } from "./records/prefix.ts";
export { Problem, ProblemItem, type ResponderProblem } from "./records/problem.ts";
export { ForwardConfirmation, ReverseDnsName, ReverseDnsRecord, type ReverseDnsStatus, reverseDnsStatuses } from "./records/reverse-dns.ts";
export { RoutingRecord } from "./records/routing.ts";
export { SectionStatus, SourceStatus, StatusRecord } from "./records/status.ts";
export { ValidityRecord } from "./records/validity.ts";
export { PodReport, readPodReport, reloadSubjects, SnapshotNotice } from "./reload.ts";
export { type SnapshotNumber, snapshotIdOf, snapshotNumberOf } from "./snapshot-number.ts";
