/** The operations of this service: decode the question, take the generation, answer. */

import { decodeQuestion, type OperationName, type Questions } from "@netfacts/contracts";
import {
  AnswerNotes,
  type DatasetHolder,
  type RecordAnswer,
  recordAnswer,
  routingRecord,
  statusRecord,
  validityRecord,
} from "@netfacts/dataset";
import { type FrameHandler, type ItemHandler, problemReply, type RequestItem } from "@netfacts/messaging";
import type { IpAnswers, IpQuestionText } from "../domain/ip-answers.ts";

export interface OperationDeps {
  readonly dataset: DatasetHolder;
  readonly clock: { now(): number };
  readonly ipAnswers: IpAnswers;
}

/** One handler per operation that `ip-routing` serves. */
export function createOperations({ dataset, clock, ipAnswers }: OperationDeps): Map<string, ItemHandler> {
  const answered = <O extends OperationName>(
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

  return new Map<string, ItemHandler>([
    [
      "ip",
      (item) => {
        const generation = dataset.current();
        if (generation === null) return problemReply({ code: "data_not_ready" });
        return ipAnswers.answer(generation, readIpQuestion(item), clock.now());
      },
    ],
    answered("routing", routingRecord),
    answered("validity", validityRecord),
    answered("status", (_question, notes) => statusRecord(notes)),
  ]);
}

/** The canonical query of `ip` is the address's text. Throws `QuestionSyntaxError`. */
function readIpQuestion(item: RequestItem): IpQuestionText {
  return { ip: decodeQuestion("ip", item.query).ip, text: item.query, requestId: item.requestId };
}

/** Answers the addresses of a frame together, which costs a third of one by one under load, and leaves all else to `each`. */
export function answerIpTogether(each: FrameHandler, { dataset, clock, ipAnswers }: OperationDeps): FrameHandler {
  return (frame, answer) => {
    const generation = dataset.current();
    const left: number[] = [];
    const taken: number[] = [];
    const questions: IpQuestionText[] = [];
    for (const [index, item] of frame.items.entries()) {
      const question = item.op === "ip" && generation !== null ? tryReading(item) : null;
      if (question === null) left.push(index);
      else {
        taken.push(index);
        questions.push(question);
      }
    }
    if (generation === null || questions.length < 2) return each(frame, answer);
    let replies: RecordAnswer[];
    try {
      replies = ipAnswers.answers(generation, questions, clock.now());
    } catch {
      // One by one, the item at fault fails alone and its cause is told.
      return each(frame, answer);
    }
    for (const [position, reply] of replies.entries()) answer(taken[position] as number, reply);
    if (left.length === 0) return;
    const items = left.map((index) => frame.items[index] as RequestItem);
    return each({ ...frame, items }, (position, reply) => answer(left[position] as number, reply));
  };
}

/** null: not readable; the handler of the single item tells why. */
function tryReading(item: RequestItem): IpQuestionText | null {
  try {
    return readIpQuestion(item);
  } catch {
    return null;
  }
}
