/** Operations that answer with a record of one generation: the context of a frame, and the handlers from query to answer. */

import { decodeQuery, operations, type ProblemCode } from "@netfacts/contracts";
import type { DatasetHolder, Generation } from "@netfacts/snapshot";
import { AnswerNotes, type PastNote, type RecordAnswer } from "./answer.ts";
import { type RecordBuilder, recordBuilders, type SnapshotOperation, type SnapshotService } from "./record-builders.ts";
import { shownList, shownSteps } from "./shown-answer.ts";
import { finish, type Steps } from "./steps.ts";

/** The context in which the questions of one frame are answered: taken once, so that no frame mixes generations. */
export interface AnswerContext {
  readonly generation: Generation;
  readonly nowMs: number;
  /** Absent: the answer is about the present. */
  readonly past?: PastNote;
}

/**
 * Takes the generation that must answer.
 *
 * @param pinnedSnapshot null: the current one.
 * @returns a refusal: `not_yet` when this process has not loaded the pinned snapshot yet.
 */
export function enterDataset(
  dataset: DatasetHolder,
  clock: { now(): number },
  pinnedSnapshot: string | null,
): { readonly context: AnswerContext } | { readonly refusal: ProblemCode | "not_yet" } {
  const generation = pinnedSnapshot === null ? dataset.current() : dataset.at(pinnedSnapshot);
  if (generation === null) return { refusal: "data_not_ready" };
  if (generation === "not_yet") return { refusal: "not_yet" };
  if (generation === "gone") return { refusal: "cursor_expired" };
  return { context: { generation, nowMs: clock.now() } };
}

/** Answers one question from its canonical query. */
export type RecordHandler = (item: QueryItem, context: AnswerContext) => RecordAnswer;

/** As `RecordHandler`, in steps, as lists can be long. */
export type RecordSteps = (item: QueryItem, context: AnswerContext) => Steps<RecordAnswer>;

interface QueryItem {
  readonly query: string;
  readonly requestId: string;
}

/** The handler of an operation: reads the canonical query, builds the record, and serialises the shown part once. */
export function recordHandler<O extends SnapshotOperation>(op: O): RecordHandler {
  const answer = recordSteps(op);
  return (item, context) => finish(answer(item, context));
}

function recordSteps<O extends SnapshotOperation>(op: O): RecordSteps {
  const build: RecordBuilder<O> = recordBuilders[op];
  return function* ({ query, requestId }, { generation, nowMs, past = null }) {
    const { question, view } = decodeQuery(op, query);
    const notes = new AnswerNotes(generation, nowMs, view, past);
    const record = yield* build(question, notes);
    return view.format === "json" ? yield* shownSteps(notes, record, view, requestId) : shownList(op, notes, record, view.format);
  };
}

/** The handlers of all operations of a service, by name. */
export function recordHandlers<S extends SnapshotService>(service: S): ReadonlyMap<string, RecordSteps> {
  const names = Object.keys(recordBuilders) as SnapshotOperation[];
  return new Map(names.filter((op) => operations[op].service === service).map((op) => [op, recordSteps(op)]));
}
