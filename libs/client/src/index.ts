/** @netfacts/client: the client of the Netfacts API for Node and browsers. It needs only `fetch`. */

export type {
  AsnChangesRecord,
  AsnPrefix,
  AsnRecord,
  AsnVrp,
  AsnVrpsRecord,
  BatchQuestion,
  BatchResult,
  BatchSummary,
  ChangeItem,
  IpRecord,
  MeRecord,
  PrefixChangesRecord,
  PrefixRecord,
  Problem,
  ProblemCode,
  RelatedPrefix,
  ReverseDnsRecord,
  RoutingRecord,
  SearchRecord,
  StatusRecord,
  ValidityRecord,
} from "@netfacts/contracts";
export type { BatchOptions } from "./batch.ts";
export {
  type AsnOptions,
  type AsnVrpsOptions,
  type CallOptions,
  type ChangesOptions,
  NetfactsClient,
  type PageOptions,
  type PastOptions,
  type RoutingOptions,
  readRecord,
} from "./client.ts";
export { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
export type { LimitState, Limits } from "./limits.ts";
export type { ClientOptions, RetryOptions } from "./options.ts";
