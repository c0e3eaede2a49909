/** The records of the audit: what operators changed. */

import Type, { type Static } from "typebox";
import { member, NullableText, record, Timestamp } from "../schema.ts";

export const AuditRecord = record({
  id: member(Type.String(), "Id of the entry."),
  at: member(Timestamp, "When it was about to be done."),
  actor: member(Type.String(), "Who: `key:7Q9M3W8K`, `cli:root`."),
  action: member(Type.String(), "What: `key.revoke`, `plan.put`."),
  target: member(NullableText, "To what: the id of a key, the name of a plan; null where it is of neither."),
  address: member(NullableText, "From where: the client's address, or `cli` for the command line; null where not known."),
  key_id: member(NullableText, "The key that allowed it; null: the command line."),
  details: member(Type.Unknown(), "What else is worth knowing, by action; never a secret."),
});
export type AuditRecord = Static<typeof AuditRecord>;

export const AuditRecords = record({
  items: member(Type.Array(AuditRecord), "This page, the latest first."),
  next_cursor: member(NullableText, "`cursor` of the next page; null on the last."),
});
export type AuditRecords = Static<typeof AuditRecords>;
