/** Batches: many questions in one request, and their results in the same order. */

import Type, { type Static, type TObject } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { Meta, MetaData } from "../meta.ts";
import { type BatchKind, batchKinds, type Operations, operations, type RecordOf } from "../operations/index.ts";
import type { RecordSchema } from "../operations/operation.ts";
import { Count, member, oneOf, record, wordsOf } from "../schema.ts";
import { type ShownRecord, someMembers } from "../some-members.ts";
import { Problem } from "./problem.ts";

/** Most questions of a batch whose request or response is one JSON document. NDJSON in both directions has no such bound. */
export const batchQuestionsMax = 1_000;

function kindOf<const T extends string>(kind: T) {
  return member(oneOf([kind]), "Kind of the item: the route that it corresponds to.");
}

/** The members that `fields` can keep of a record. */
function fieldsOf({ properties }: RecordSchema) {
  return Type.Optional(
    member(
      wordsOf(Object.keys(properties)),
      "Top-level members to return, each at most once. `meta` is returned too, unless `meta` is false.",
    ),
  );
}

const metaMember = Type.Optional(
  member(Type.Boolean(), "Whether the record has its `meta`. Default: the parameter `meta` of the batch, or true."),
);

/** The question of each kind: its value, and as options the parameters of the kind's route. */
export const batchQuestions = Object.fromEntries(
  batchKinds.map((kind): [string, TObject] => {
    const { record: schema, lookup } = operations[kind];
    return [kind, record({ kind: kindOf(kind), ...lookup.batch.members, fields: fieldsOf(schema), meta: metaMember })];
  }),
) as Readonly<Record<BatchKind, TObject>>;

type MembersOf<K extends BatchKind> = Static<TObject<Operations[K]["lookup"]["batch"]["members"]>>;

/** One question; in NDJSON, one line. */
export const BatchQuestion = Type.Unsafe<BatchQuestion>(Type.Union(Object.values(batchQuestions)));
export type BatchQuestion = {
  [K in BatchKind]: { kind: K } & MembersOf<K> & { fields?: (keyof RecordOf<K>)[]; meta?: boolean };
}[BatchKind];

/** The request as `application/json`. */
export const BatchRequest = record({
  questions: member(Type.Array(BatchQuestion, { maxItems: batchQuestionsMax }), "Items of the batch. Results are in the same order."),
});
export type BatchRequest = Static<typeof BatchRequest>;

/**
 * One answer; in NDJSON, one line. It has either `record`, as the route of that kind returns it, or `problem`. `question` is as it was
 * sent. If it could not be read, `question` has the readable part, or is null.
 */
export const BatchResult = record({
  index: member(Count, "Index of the item in the request, starting at 0."),
  question: member(
    Type.Unsafe<Readonly<Record<string, unknown>> | null>({ type: ["object", "null"] }),
    "The item as sent. If it cannot be read, the parts that could be read, or null.",
  ),
  record: Type.Optional(
    member(
      Type.Unsafe<ShownRecord<BatchKind>>(Type.Union([...batchKinds.map((op) => operations[op].record), ...batchKinds.map(someMembers)])),
      "The record that the corresponding route returns; absent if there is a `problem`.",
    ),
  ),
  problem: Type.Optional(member(Problem, "Why there is no record; absent if there is one.")),
});
export type BatchResult = Static<typeof BatchResult>;

/** Items of batches are about the present. */
const { history: _history, ...ofEveryAnswer } = Meta.properties;

/**
 * `meta` of a batch. `data` is empty, because each record has the sections that it used in its own `meta`. `snapshots` has the snapshots
 * that answered, in order: one, unless it became unavailable midway (warning `snapshot_changed`); none if no record belongs to a snapshot.
 */
export const BatchMeta = record({
  ...ofEveryAnswer,
  data: member(MetaData, "Always empty: the `meta` of each record lists the sections that the record is based on."),
  snapshots: member(
    Type.Array(Type.String()),
    "Snapshots that answered, in order: one, or several with the warning `snapshot_changed`; empty if no record comes from a snapshot.",
  ),
});
export type BatchMeta = Static<typeof BatchMeta>;

const sums = {
  count: member(Count, "Number of results, including problems."),
  failed_count: member(Count, "Number of results that are problems."),
  meta: member(BatchMeta, "Request id, time, snapshots used, and warnings."),
};

/** The response as `application/json`. */
export const BatchAnswer = record({ results: member(Type.Array(BatchResult), "One result for each item, in the same order."), ...sums });
export type BatchAnswer = Static<typeof BatchAnswer>;

/** The last line of an NDJSON response. `problem`: why the remaining questions were not read. */
export const BatchSummary = record({
  count: sums.count,
  failed_count: sums.failed_count,
  problem: Type.Optional(member(Problem, "Why the remaining items were not read; absent if all items were read.")),
  meta: sums.meta,
});
export type BatchSummary = Static<typeof BatchSummary>;

const results = { from: "gateway", unit: "results" } as const;

export const batchFacts: FactsOf<BatchAnswer> = {
  results: {
    index: { from: "request", unit: "place, from 0" },
    question: "request",
    record: { page: "README" },
    problem: { page: "problem" },
  },
  count: results,
  failed_count: results,
  meta: {
    request_id: ["request", "gateway"],
    generated_at: "gateway",
    data: { page: "meta" },
    warnings: { page: "meta" },
    snapshots: "snapshot",
  },
};
