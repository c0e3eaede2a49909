/** The operations of this service: each makes a record from a canonical query. Addresses of one frame are answered together. */

import { AddressList } from "@netfacts/address";
import { decodeQuestion, encodeQuery, wholeRecord } from "@netfacts/contracts";
import type { ItemHandler, RequestItem, ResponderOptions } from "@netfacts/messaging";
import { type AnswerContext, recordHandler, recordHandlers } from "@netfacts/records";
import type { IpAnswers } from "../domain/ip-answers.ts";

const anyAddress = { ip: { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 } } as const;
/** The end of a query for a record with all members except `meta`. */
const noMeta = encodeQuery("ip", anyAddress, { ...wholeRecord, meta: false }).slice(encodeQuery("ip", anyAddress, wholeRecord).length);

/** One handler for each operation that `ip-routing` serves. */
export function createOperations(ipAnswers: IpAnswers): ReadonlyMap<string, ItemHandler<AnswerContext>> {
  const shownIp = recordHandler("ip");
  const ip: ItemHandler<AnswerContext> = (item, context) => {
    const { text, meta } = addressIn(item);
    // Cached texts have all members, with or without `meta`.
    if (text.includes(" ")) return shownIp(item, context);
    const question = { ip: decodeQuestion("ip", text).ip, text, requestId: meta ? item.requestId : null };
    return ipAnswers.answer(context.generation, question, context.nowMs);
  };
  return new Map([...recordHandlers("ip-routing"), ["ip", ip]]);
}

/** Addresses of a frame whose records have the same members, with the indexes of their items. */
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

/** Answers the addresses of a frame together, which under load costs a third of single answers. Leaves all other items. */
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
      // The canonical query of `ip` is the text of the address. For any other text, the handler of a single item reports the fault.
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

/** Splits off the end of a query that excludes `meta`. The rest is the text of an address if all other members are wanted. */
function addressIn({ query }: RequestItem): { readonly text: string; readonly meta: boolean } {
  return query.endsWith(noMeta) ? { text: query.slice(0, -noMeta.length), meta: false } : { text: query, meta: true };
}
