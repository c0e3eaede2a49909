/** The operations of this service, each from its canonical query to its record; addresses of one frame are answered together. */

import { decodeQuestion } from "@netfacts/contracts";
import { type AnswerContext, recordOperation, routingRecord, statusRecord, validityRecord } from "@netfacts/dataset";
import type { ItemHandler, RequestItem, ResponderOptions } from "@netfacts/messaging";
import type { IpAnswers, IpQuestionText } from "../domain/ip-answers.ts";

/** One handler per operation that `ip-routing` serves. */
export function createOperations(ipAnswers: IpAnswers): ReadonlyMap<string, ItemHandler<AnswerContext>> {
  return new Map<string, ItemHandler<AnswerContext>>([
    ["ip", (item, { generation, nowMs }) => ipAnswers.answer(generation, readIpQuestion(item), nowMs)],
    recordOperation("routing", routingRecord),
    recordOperation("validity", validityRecord),
    recordOperation("status", (_question, notes) => statusRecord(notes)),
  ]);
}

/** Answers the addresses of a frame together, which costs a third of one by one under load, and leaves all else. */
export function answerIpTogether(ipAnswers: IpAnswers): NonNullable<ResponderOptions<AnswerContext>["together"]> {
  return (items, { generation, nowMs }, answer) => {
    const left: number[] = [];
    const taken: number[] = [];
    const questions: IpQuestionText[] = [];
    for (const [index, item] of items.entries()) {
      const question = item.op === "ip" ? tryReading(item) : null;
      if (question === null) left.push(index);
      else {
        taken.push(index);
        questions.push(question);
      }
    }
    if (questions.length < 2) return [...items.keys()];
    for (const [position, reply] of ipAnswers.answers(generation, questions, nowMs).entries()) answer(taken[position] as number, reply);
    return left;
  };
}

/** The canonical query of `ip` is the address's text. Throws `QuestionSyntaxError`. */
function readIpQuestion(item: RequestItem): IpQuestionText {
  return { ip: decodeQuestion("ip", item.query).ip, text: item.query, requestId: item.requestId };
}

/** null: not readable; the handler of the single item tells why. */
function tryReading(item: RequestItem): IpQuestionText | null {
  try {
    return readIpQuestion(item);
  } catch {
    return null;
  }
}
