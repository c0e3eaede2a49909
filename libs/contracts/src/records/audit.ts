/** The records of the audit: what operators changed. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { member, NullableText, record, Timestamp } from "../schema.ts";

/** All actions of the audit. */
export const auditActions = [
  "key.create",
  "key.update",
  "key.rotate",
  "key.disable",
  "key.enable",
  "key.revoke",
  "plan.put",
  "plan.delete",
  "profile.put",
  "profile.delete",
  "observations.upload",
  "observations.delete",
  "run.start",
  "snapshot.rollback",
] as const;
export type AuditAction = (typeof auditActions)[number];

export const AuditRecord = record({
  id: member(Type.String(), "Id of the entry."),
  at: member(Timestamp, "Time of the entry, which is written just before the action."),
  actor: member(
    Type.String(),
    "Who acted: `key:<id>` for an operator's key, `cli:<user>` for the command line, `bootstrap` for the first key, `schedule` or `start` for runs that ingest starts by itself.",
  ),
  action: member(Type.String(), "Action: `key.revoke`, `plan.put`, `profile.put`."),
  target: member(
    NullableText,
    "Target of the action: key id, plan name, AS, source, address, prefix, run or snapshot; null if there is none.",
  ),
  address: member(
    NullableText,
    "Origin of the action: client address, or `cli` for the command line; null if unknown, and for `bootstrap`, `schedule` and `start`.",
  ),
  key_id: member(NullableText, "Key that authorised the action; null if no key did, as for the command line."),
  details: member(Type.Unknown(), "Details of the action. They never contain a secret."),
});
export type AuditRecord = Static<typeof AuditRecord>;

export const AuditRecords = record({
  items: member(Type.Array(AuditRecord), "Entries of this page, newest first."),
  next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
});
export type AuditRecords = Static<typeof AuditRecords>;

export const auditFacts: FactsOf<AuditRecords> = {
  items: {
    id: "audit",
    at: "audit",
    actor: "audit",
    action: "audit",
    target: "audit",
    address: "audit",
    key_id: "audit",
    details: "audit",
  },
  next_cursor: { from: "gateway", example: "WzE3NjM3MTU2MDIwMDAsIjBjNGYzYzllIl0" },
};
