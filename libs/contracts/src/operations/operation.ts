/** The description of an operation: one object from which contracts, listeners and documents derive everything. */

import type { Static, TProperties, TSchema } from "typebox";
import type { ProblemCode } from "../errors.ts";
import type { FactsOf } from "../facts/fact.ts";
import type { ListName, ListView } from "../formats.ts";
import type { Meta } from "../meta.ts";
import type { Scope } from "../records/me.ts";
import type { RouteContent, RouteParameter } from "../routes/route.ts";
import type { Codec } from "./codec.ts";

/** What services need to know about each other. `snapshots`: whether the answers come from a snapshot of the data. */
export const services = {
  "ip-routing": { snapshots: true },
  "asn-prefix": { snapshots: true },
  "rdns-resolver": { snapshots: false },
} as const;

export type ServiceName = keyof typeof services;

/** Every service that answers operations. */
export const serviceNames = Object.keys(services) as readonly ServiceName[];

/** The name under which a service answers about the past. It is a separate name, so that no current answer waits for a snapshot to load. */
export function pastServiceOf(service: ServiceName): string {
  return `${service}-history`;
}

/** The name under which a service answers about changes between snapshots. It is a name of its own, as not every pod can answer these. */
export function changesServiceOf(service: ServiceName): string {
  return `${service}-changes`;
}

/** Units that a question about the past costs in addition, because a snapshot may have to be loaded for it. */
export const pastUnits = 9;

/** Every record is an object that ends with `meta`. */
export interface RecordSchema extends TSchema {
  readonly properties: Readonly<Record<string, TSchema>> & { readonly meta: typeof Meta };
}

/** An operation with a data route; most are taken by batches as well. */
export interface LookupDescription {
  readonly route: {
    readonly path: string;
    /** Further paths of the same question, which are not documented. */
    readonly otherPaths?: readonly string[];
    readonly id: string;
    readonly summary: string;
    readonly description: string;
    /** Besides `fields` and `format`, which every data route has. */
    readonly parameters: readonly RouteParameter[];
    /** The content of a 200 response. */
    readonly answer: string;
    /** What `units` computes, in words, in units of the rate limit. */
    readonly cost: string;
    /** Formats besides JSON, in the order of `listFormats`. Only with a `listView`. */
    readonly lists?: readonly RouteContent[];
    readonly problems: readonly ProblemCode[];
  };
  /** Null if the question is about all kept snapshots, which batches do not accept. The service answers it under the name of `changesServiceOf`. */
  readonly batch: {
    /** Members of the question besides `kind` and `fields`. */
    readonly members: TProperties;
    /** The path parameter that the member `value` corresponds to; null if there is no such member. Others are named as in the query. */
    readonly value: string | null;
  } | null;
}

export interface Operation<
  N extends string = string,
  S extends ServiceName = ServiceName,
  R extends RecordSchema = RecordSchema,
  Q = unknown,
  L extends LookupDescription | null = LookupDescription | null,
> {
  /** The kind in batches, the class in usage, and the name in logs. */
  readonly name: N;
  /** Number of the operation in frames, 1 to 255. It is never reused for another operation. */
  readonly code: number;
  readonly service: S;
  /** The scope that a key needs; null if none. */
  readonly scope: Scope | null;
  /** Schema of the record that answers. */
  readonly record: R;
  readonly example: Static<R>;
  /** Its page in docs/api/records. */
  readonly page: {
    /** Name of the record, without an article. */
    readonly title: string;
    /** What the record is, in a sentence. */
    readonly intro: string;
    readonly facts: FactsOf<Static<R>>;
  };
  readonly question: Codec<Q>;
  /** Cost of an answer as a multiple of a plain record, for the rate limit and for the key's share of a service. It is known before the lookup. */
  units(question: Q): number;
  /** Lists of the record that have pages. */
  readonly lists: readonly ListName[];
  /** The list that the formats besides JSON show; null if there is only JSON. */
  readonly listView: ListView | null;
  /** Null if it has neither a data route nor a kind in batches. */
  readonly lookup: L;
}

/** An operation with the types of its description. */
export function operation<
  const N extends string,
  const S extends ServiceName,
  R extends RecordSchema,
  Q,
  L extends LookupDescription | null,
>(described: Operation<N, S, R, Q, L>): Operation<N, S, R, Q, L> {
  return described;
}
