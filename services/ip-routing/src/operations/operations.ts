/** The operations of this service, each from its canonical query to its record; addresses of one frame are answered together. */

import { AddressList } from "@netfacts/address";
import { decodeQuestion, encodeQuery, wholeRecord } from "@netfacts/contracts";
import type { ItemHandler, RequestItem, ResponderOptions } from "@netfacts/messaging";
import { type AnswerContext, recordHandler, recordHandlers } from "@netfacts/records";
import type { IpAnswers } from "../domain/ip-answers.ts";

const anyAddress = { ip: { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 } } as const;
/** What the query of a record ends with that is whole but for its `meta`. */
const noMeta = encodeQuery("ip", anyAddress, { ...wholeRecord, meta: false }).slice(encodeQuery("ip", anyAddress, wholeRecord).length);

/** One handler for each operation that `ip-routing` serves. */
export function createOperations(ipAnswers: IpAnswers): ReadonlyMap<string, ItemHandler<AnswerContext>> {
  const shownIp = recordHandler("ip");
  const ip: ItemHandler<AnswerContext> = (item, context) => {
    const { text, meta } = addressIn(item);
    // Kept texts are of all members but `meta`.
    if (text.includes(" ")) return shownIp(item, context);
    const question = { ip: decodeQuestion("ip", text).ip, text, requestId: meta ? item.requestId : null };
    return ipAnswers.answer(context.generation, question, context.nowMs);
  };
  return new Map([...recordHandlers("ip-routing"), ["ip", ip]]);
}

/** Addresses of a frame whose records are shown alike, and which of its items they are. */
class Alike {
  readonly addresses = new AddressList();
  readonly items: number[] = [];
  readonly requestIds: string[] = [];

  clear(): void {
    this.addresses.clear();
    this.items.length = 0;
    this.requestIds.length = 0;
  }
}

/** Answers the addresses of a frame together, which costs a third of one by one under load, and leaves all else. */
export function answerIpTogether(ipAnswers: IpAnswers): NonNullable<ResponderOptions<AnswerContext>["together"]> {
  const whole = new Alike();
  const withoutMeta = new Alike();
  return (items, { generation, nowMs }, answer, bodyMemory) => {
    const left: number[] = [];
    whole.clear();
    withoutMeta.clear();
    for (const [index, item] of items.entries()) {
      const { text, meta } = item.op === "ip" ? addressIn(item) : noAddress;
      const alike = meta ? whole : withoutMeta;
      // The canonical query of `ip` is the address's text; of one that is none, the handler of the single item tells why.
      if (text !== "" && alike.addresses.add(text)) {
        alike.items.push(index);
        if (meta) alike.requestIds.push(item.requestId);
      } else left.push(index);
    }
    for (const alike of [whole, withoutMeta]) {
      if (alike.items.length < 2) {
        left.push(...alike.items);
        continue;
      }
      const replies = ipAnswers.answers(generation, alike.addresses, alike === whole ? alike.requestIds : null, nowMs, bodyMemory);
      for (const [position, reply] of replies.entries()) answer(alike.items[position] as number, reply);
    }
    return left.sort((a, b) => a - b);
  };
}

const noAddress = { text: "", meta: true } as const;

/** The query without its end that leaves `meta` out: the text of an address where all other members are wanted. */
function addressIn({ query }: RequestItem): { readonly text: string; readonly meta: boolean } {
  return query.endsWith(noMeta) ? { text: query.slice(0, -noMeta.length), meta: false } : { text: query, meta: true };
}
