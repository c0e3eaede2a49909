/** Origin validation of any pair of AS and prefix, announced or not. */

import { formatPrefix } from "@netfacts/address";
import type { ValidityQuestion, ValidityRecord } from "@netfacts/contracts";
import type { AnswerNotes } from "./answer.ts";
import { validationRecord } from "./validation-parts.ts";

export function validityRecord({ asn, prefix }: ValidityQuestion, notes: AnswerNotes): Omit<ValidityRecord, "meta"> {
  notes.use("vrps");
  return { route: { asn, prefix: formatPrefix(prefix) }, rpki: validationRecord(notes.generation, prefix, asn, false, notes.nowMs) };
}
