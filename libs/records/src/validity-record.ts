/** Origin validation of any pair of AS and prefix, announced or not. */

import { formatPrefix } from "@netfacts/address";
import type { ValidityQuestion, ValidityRecord } from "@netfacts/contracts";
import type { AnswerNotes } from "./answer.ts";
import { validationRecord, warnAboutVrps } from "./validation-parts.ts";

export function validityRecord({ asn, prefix }: ValidityQuestion, notes: AnswerNotes): Omit<ValidityRecord, "meta"> {
  notes.use("vrps");
  const { generation } = notes;
  warnAboutVrps(notes, "rpki", generation.vrps?.covering(prefix).length ?? null);
  return { route: { asn, prefix: formatPrefix(prefix) }, rpki: validationRecord(notes, prefix, asn, false) };
}
