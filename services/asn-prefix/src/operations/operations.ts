/** The operations of this service: decode the question, take the generation, answer. */

import { decodeQuestion, type Questions } from "@netfacts/contracts";
import { AnswerNotes, asnRecord, type DatasetHolder, prefixRecord, recordAnswer } from "@netfacts/dataset";
import { type ItemHandler, problemReply } from "@netfacts/messaging";

export interface OperationDeps {
  readonly dataset: DatasetHolder;
  readonly clock: { now(): number };
}

/** One handler per operation that `asn-prefix` serves. */
export function createOperations({ dataset, clock }: OperationDeps): Map<string, ItemHandler> {
  const answered = <O extends "asn" | "prefix">(
    op: O,
    answer: (question: Questions[O], notes: AnswerNotes) => object,
  ): [string, ItemHandler] => [
    op,
    (item) => {
      const generation = dataset.current();
      if (generation === null) return problemReply({ code: "data_not_ready" });
      const notes = new AnswerNotes(generation, clock.now());
      return recordAnswer(notes, answer(decodeQuestion(op, item.query), notes), item.requestId);
    },
  ];
  return new Map([answered("asn", asnRecord), answered("prefix", prefixRecord)]);
}
