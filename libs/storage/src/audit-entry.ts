/** The entry in the form of every store: with an id, and without secrets. */

import { randomUUID } from "node:crypto";
import type { AuditEntry } from "@netfacts/keys";
import { redactText, withoutKeys } from "@netfacts/keys";

export function auditEntry(entry: Omit<AuditEntry, "id">): AuditEntry {
  const { at, actor, action, target, address, keyId, details } = entry;
  const clean = (text: string | null): string | null => (text === null ? null : redactText(text));
  return {
    id: randomUUID(),
    at,
    actor: redactText(actor),
    action: redactText(action),
    target: clean(target),
    address: clean(address),
    keyId: clean(keyId),
    details: withoutKeys(details),
  };
}
