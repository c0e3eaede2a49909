/** The operations of this service, each from its canonical query to its record; addresses of one frame are answered together. */

import { AddressList } from "@netfacts/address";
import { decodeQuestion } from "@netfacts/contracts";
import type { ItemHandler, RequestItem, ResponderOptions } from "@netfacts/messaging";
import { type AnswerContext, recordHandler, recordHandlers } from "@netfacts/records";
import type { IpAnswers, IpQuestionText } from "../domain/ip-answers.ts";

/** One handler for each operation that `ip-routing` serves. */
export function createOperations(ipAnswers: IpAnswers): ReadonlyMap<string, ItemHandler<AnswerContext>> {
  const shownIp = recordHandler("ip");
  const ip: ItemHandler<AnswerContext> = (item, context) => {
    // Kept texts are of whole records.
    if (isShownInPart(item)) return shownIp(item, context);
    return ipAnswers.answer(context.generation, questionOf(item), context.nowMs);
  };
  return new Map([...recordHandlers("ip-routing"), ["ip", ip]]);
}

/** Answers the addresses of a frame together, which costs a third of one by one under load, and leaves all else. */
export function answerIpTogether(ipAnswers: IpAnswers): NonNullable<ResponderOptions<AnswerContext>["together"]> {
  const addresses = new AddressList();
  return (items, { generation, nowMs }, answer, bodyMemory) => {
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
    const replies = ipAnswers.answers(generation, addresses, requestIds, nowMs, bodyMemory);
    for (const [position, reply] of replies.entries()) answer(taken[position] as number, reply);
    return left;
  };
}

function isShownInPart({ query }: RequestItem): boolean {
  return query.includes(" ");
}

/** Throws `QuestionSyntaxError`. */
function questionOf({ query, requestId }: RequestItem): IpQuestionText {
  return { ip: decodeQuestion("ip", query).ip, text: query, requestId };
}
