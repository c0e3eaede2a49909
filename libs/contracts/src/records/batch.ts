/** Batches: many questions in one request, and their results in the same order. */

import Type, { type Static } from "typebox";
import { Meta, MetaData } from "../meta.ts";
import { operations } from "../operations.ts";
import { rpkiStates } from "../parts/rpki.ts";
import { listLimitMax } from "../questions.ts";
import { Count, member, oneOf, record, wordsOf } from "../schema.ts";
import { type ShownRecord, someMembers } from "../some-members.ts";
import { AsnRecord } from "./asn.ts";
import { IpRecord } from "./ip.ts";
import { PrefixRecord } from "./prefix.ts";
import { Problem } from "./problem.ts";
import { ReverseDnsRecord } from "./reverse-dns.ts";
import { RoutingRecord } from "./routing.ts";
import { ValidityRecord } from "./validity.ts";

/** Questions of one batch that is asked or answered as one JSON document; NDJSON both ways has no such bound. */
export const batchQuestionsMax = 1_000;

const Limit = Type.Optional(member(Type.Integer({ minimum: 1, maximum: listLimitMax }), "Items of each list; default: 100."));
const address = member(Type.String(), "An IPv4 or IPv6 address.");
const asn = member(Type.Unsafe<string | number>({ type: ["string", "integer"] }), "`AS3333`, `3333`, asdot, or the number itself.");
const prefix = member(Type.String(), "A prefix in CIDR form, without host bits.");

function kindOf<const T extends string>(kind: T) {
  return member(oneOf([kind]), "Which route's question it is.");
}

/** The members that `fields` can keep of a record. */
function fieldsOf<R extends { readonly properties: object }>({ properties }: R) {
  return Type.Optional(
    member(
      wordsOf(Object.keys(properties) as (keyof R["properties"] & string)[]),
      "Top-level members to keep, each once; `meta` always stands.",
    ),
  );
}

/** The question of each kind: its value, and the options that the route of that kind takes as parameters. */
export const batchQuestions = {
  ip: record({ kind: kindOf("ip"), value: address, fields: fieldsOf(IpRecord) }),
  routing: record({
    kind: kindOf("routing"),
    value: address,
    include: Type.Optional(member(Type.Array(oneOf(["more_specifics", "upstreams"])), "Optional parts of the record.")),
    limit: Limit,
    fields: fieldsOf(RoutingRecord),
  }),
  asn: record({
    kind: kindOf("asn"),
    value: asn,
    family: Type.Optional(member(Type.Unsafe<4 | 6>({ type: "integer", enum: [4, 6] }), "`prefixes` of one IP version only.")),
    rpki: Type.Optional(member(oneOf(rpkiStates), "`prefixes` of one RPKI state only.")),
    aggregate: Type.Optional(member(Type.Boolean(), "Merges `prefixes` without ever adding unannounced space.")),
    limit: Limit,
    fields: fieldsOf(AsnRecord),
  }),
  prefix: record({ kind: kindOf("prefix"), value: prefix, limit: Limit, fields: fieldsOf(PrefixRecord) }),
  reverse_dns: record({ kind: kindOf("reverse_dns"), value: address, fields: fieldsOf(ReverseDnsRecord) }),
  validity: record({ kind: kindOf("validity"), asn, prefix, fields: fieldsOf(ValidityRecord) }),
} as const;

export type BatchKind = keyof typeof batchQuestions;

/** Every kind of question. */
export const batchKinds = Object.keys(batchQuestions) as readonly BatchKind[];

/** One question; in NDJSON, one line. */
export const BatchQuestion = Type.Unsafe<BatchQuestion>(Type.Union(Object.values(batchQuestions)));
export type BatchQuestion = Static<(typeof batchQuestions)[BatchKind]>;

/** What is asked as `application/json`. */
export const BatchRequest = record({
  questions: member(Type.Array(BatchQuestion, { maxItems: batchQuestionsMax }), "The questions, in the order in which they are answered."),
});
export type BatchRequest = Static<typeof BatchRequest>;

/**
 * One answer; in NDJSON, one line. Either `record`, which is what the route of that kind answers, or `problem`. `question` is told as it
 * was asked; of one that could not be read, what could be read of it, or null.
 */
export const BatchResult = record({
  index: member(Count, "Place of the question, from 0."),
  question: member(
    Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ["object", "null"] }),
    "The question as it was asked; of one that cannot be read, what could be read of it, or null.",
  ),
  record: Type.Optional(
    member(
      Type.Unsafe<ShownRecord<BatchKind>>(Type.Union([...batchKinds.map((op) => operations[op].record), ...batchKinds.map(someMembers)])),
      "What the route of that kind answers; absent where there is a problem.",
    ),
  ),
  problem: Type.Optional(member(Problem, "Why there is no record; absent where there is one.")),
});
export type BatchResult = Static<typeof BatchResult>;

/**
 * `meta` of a batch. `data` is empty: each record tells in its own `meta` which sections it used. `snapshots` are the snapshots that
 * answered, in their order: one, unless the first was given up midway, which warning `snapshot_changed` tells; none where no record is of one.
 */
export const BatchMeta = record({
  ...Meta.properties,
  data: member(MetaData, "Empty: each record tells in its own `meta` which sections it used."),
  snapshots: member(
    Type.Array(Type.String()),
    "The snapshots that answered, in their order: one, unless warning `snapshot_changed` stands; none where no record is of one.",
  ),
});
export type BatchMeta = Static<typeof BatchMeta>;

const sums = {
  count: member(Count, "Results, problems included."),
  failed_count: member(Count, "Results that are problems."),
  meta: member(BatchMeta, "Who asked when, which snapshots answered, and what to mind."),
};

/** What is answered as `application/json`. */
export const BatchAnswer = record({ results: member(Type.Array(BatchResult), "One for each question, in their order."), ...sums });
export type BatchAnswer = Static<typeof BatchAnswer>;

/** The last line of an NDJSON answer. `problem`: why the rest of the questions was not read. */
export const BatchSummary = record({
  count: sums.count,
  failed_count: sums.failed_count,
  problem: Type.Optional(member(Problem, "Why the rest of the questions was not read; absent where all were.")),
  meta: sums.meta,
});
export type BatchSummary = Static<typeof BatchSummary>;
