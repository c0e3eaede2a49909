/** The operations of this service, each from its canonical query to its record. */

import type { ItemHandler } from "@netfacts/messaging";
import { type AnswerContext, asnRecord, prefixRecord, recordOperation } from "@netfacts/records";

export const operations: ReadonlyMap<string, ItemHandler<AnswerContext>> = new Map<string, ItemHandler<AnswerContext>>([
  recordOperation("asn", asnRecord),
  recordOperation("prefix", prefixRecord),
]);
