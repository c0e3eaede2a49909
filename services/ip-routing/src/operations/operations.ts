/** The operations of this service, each from its canonical query to its record; addresses of one frame are answered together. */

import { AddressList } from "@netfacts/address";
import { decodeQuestion } from "@netfacts/contracts";
import { type AnswerContext, recordOperation, routingRecord, statusRecord, validityRecord } from "@netfacts/dataset";
import type { ItemHandler, RequestItem, ResponderOptions } from "@netfacts/messaging";
import type { IpAnswers, IpQuestionText } from "../domain/ip-answers.ts";

/** One handler per operation that `ip-routing` serves. */
export function createOperations(ipAnswers: IpAnswers): ReadonlyMap<string, ItemHandler<AnswerContext>> {
  return new Map<string, ItemHandler<AnswerContext>>([
    ["ip", (item, { generation, nowMs }) => ipAnswers.answer(generation, questionOf(item), nowMs)],
    recordOperation("routing", routingRecord),
    recordOperation("validity", validityRecord),
    recordOperation("status", (_question, notes) => statusRecord(notes)),
  ]);
}

/** Answers the addresses of a frame together, which costs a third of one by one under load, and leaves all else. */
export function answerIpTogether(ipAnswers: IpAnswers): NonNullable<ResponderOptions<AnswerContext>["together"]> {
  const addresses = new AddressList();
  return (items, { generation, nowMs }, answer) => {
    const left: number[] = [];
    const taken: number[] = [];
    const requestIds: string[] = [];
    addresses.clear();
    for (const [index, item] of items.entries()) {
      // The canonical query of `ip` is the address's text; of one that is none, the handler of the single item tells why.
      if (item.op === "ip" && addresses.add(item.query)) {
        taken.push(index);
        requestIds.push(item.requestId);
      } else left.push(index);
    }
    if (taken.length < 2) return [...items.keys()];
    const replies = ipAnswers.answers(generation, addresses, requestIds, nowMs);
    for (const [position, reply] of replies.entries()) answer(taken[position] as number, reply);
    return left;
  };
}

/** Throws `QuestionSyntaxError`. */
function questionOf({ query, requestId }: RequestItem): IpQuestionText {
  return { ip: decodeQuestion("ip", query).ip, text: query, requestId };
}
