/** The operators' route of the audit. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { AuditRecords, auditActions } from "../records/audit.ts";
import { oneOf, Timestamp } from "../schema.ts";
import type { RouteDescription, RouteParameter } from "./route.ts";

const auditPath = "/admin/v1/audit";

const exactly = (name: string, description: string, example: string): RouteParameter => ({
  name,
  in: "query",
  description,
  schema: Type.String({ minLength: 1 }),
  examples: [example],
});

export const auditRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: auditPath,
    id: "listAudit",
    tag: "Audit",
    summary: "Audit log",
    description:
      "Changes to keys, plans and overrides of AS profiles, deletions of observations, runs and rollbacks, with actor, time and origin; newest first. An entry is written before the change. If the change failed, no " +
      "key or plan has the version in `details.version` of the entry.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "Maximum number of entries, 1 to 1,000.",
        schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
        examples: ["100"],
      },
      exactly("cursor", "`next_cursor` of the previous page.", "WzE3NjM3MTU2MDIwMDAsIjBjNGYzYzllIl0"),
      { name: "from", in: "query", description: "Start time (inclusive).", schema: Timestamp, examples: ["2026-11-01T00:00:00Z"] },
      { name: "to", in: "query", description: "End time (exclusive).", schema: Timestamp, examples: ["2026-12-01T00:00:00Z"] },
      exactly("actor", "Who.", "key:4H2B8RXA"),
      { name: "action", in: "query", description: "What.", schema: oneOf(auditActions), examples: ["key.update"] },
      exactly("target", "Key id, plan name, AS (`AS64500`), source, address, prefix, run or snapshot.", "7Q9M3W8K"),
    ],
    answers: [
      { status: 200, description: "The entries.", content: [{ type: "application/json", schema: AuditRecords, example: examples.audit }] },
    ],
    problems: ["invalid_cursor"],
  },
];
