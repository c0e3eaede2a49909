/** The form of an operation: everything that contracts, edges and documents derive from, in one object. */

import type { Static, TProperties, TSchema } from "typebox";
import type { ProblemCode } from "../errors.ts";
import type { FactsOf } from "../facts/fact.ts";
import type { ListName, ListView } from "../formats.ts";
import type { Meta } from "../meta.ts";
import type { Scope } from "../records/me.ts";
import type { RouteContent, RouteParameter } from "../routes/route.ts";
import type { Codec } from "./codec.ts";

/** What each service needs to know of its neighbours: `snapshots`, whether its answers come from a snapshot of the data. */
export const services = {
  "ip-routing": { snapshots: true },
  "asn-prefix": { snapshots: true },
  "rdns-resolver": { snapshots: false },
} as const;

export type ServiceName = keyof typeof services;

/** Every service that answers operations. */
export const serviceNames = Object.keys(services) as readonly ServiceName[];

/** By this name a service is asked about the past: apart from the present, so that no answer of today waits for a snapshot that is loaded. */
export function pastServiceOf(service: ServiceName): string {
  return `${service}-history`;
}

/** By this name a service is asked what changed between snapshots. It is not the name of the past, so that a pod that cannot answer such a question is not asked. */
export function changesServiceOf(service: ServiceName): string {
  return `${service}-changes`;
}

/** What a question about the past costs more than the same one about today, in units: a snapshot may have to be loaded for it. */
export const pastUnits = 9;

/** Every record is an object that ends with `meta`. */
export interface RecordSchema extends TSchema {
  readonly properties: Readonly<Record<string, TSchema>> & { readonly meta: typeof Meta };
}

/** An operation with a data route; most are taken by batches as well. */
export interface LookupDescription {
  readonly route: {
    readonly path: string;
    /** Further paths of the same question, which no document names. */
    readonly otherPaths?: readonly string[];
    readonly id: string;
    readonly summary: string;
    readonly description: string;
    /** Besides `fields` and `format`, which every data route has. */
    readonly parameters: readonly RouteParameter[];
    /** What a 200 has. */
    readonly answer: string;
    /** What `units` computes, in words: in units of the rate limit. */
    readonly cost: string;
    /** In place of JSON; in the order of `listFormats`. Only with a `listView`. */
    readonly lists?: readonly RouteContent[];
    readonly problems: readonly ProblemCode[];
  };
  /** Null: the question is about all kept snapshots, which batches do not take. The service answers it under the name of `changesServiceOf`. */
  readonly batch: {
    /** Members of the question besides `kind` and `fields`. */
    readonly members: TProperties;
    /** The parameter in the path that the member `value` stands for; null: there is no such member. All others are named as in the query. */
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
  /** Stands for the operation in frames: 1 to 255, never given to another. */
  readonly code: number;
  readonly service: S;
  /** What a key needs; null: open to all. */
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
  /** What an answer costs, as a multiple of a plain record's: of the rate limit, and of its key's share of a service. Known before it is asked. */
  units(question: Q): number;
  /** Lists of the record that page. */
  readonly lists: readonly ListName[];
  /** The list that the formats besides JSON show; null: there is JSON only. */
  readonly listView: ListView | null;
  /** Null: neither a data route nor a kind of batches. */
  readonly lookup: L;
}

/** The operation with its types, as it is described. */
export function operation<
  const N extends string,
  const S extends ServiceName,
  R extends RecordSchema,
  Q,
  L extends LookupDescription | null,
>(described: Operation<N, S, R, Q, L>): Operation<N, S, R, Q, L> {
  return described;
}
