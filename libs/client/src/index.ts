/** @netfacts/client: the client of the Netfacts API for Node and browsers. It needs only `fetch`. */

export type {
  AsnPrefix,
  AsnRecord,
  AsnVrp,
  AsnVrpsRecord,
  BatchQuestion,
  BatchResult,
  BatchSummary,
  IpRecord,
  MeRecord,
  PrefixRecord,
  Problem,
  ProblemCode,
  RelatedPrefix,
  ReverseDnsRecord,
  RoutingRecord,
  StatusRecord,
  ValidityRecord,
} from "@netfacts/contracts";
export type { BatchOptions } from "./batch.ts";
export {
  type AsnOptions,
  type AsnVrpsOptions,
  type CallOptions,
  NetfactsClient,
  type PageOptions,
  type RoutingOptions,
  readRecord,
} from "./client.ts";
export { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
export type { LimitState, Limits } from "./limits.ts";
export type { ClientOptions, RetryOptions } from "./options.ts";
