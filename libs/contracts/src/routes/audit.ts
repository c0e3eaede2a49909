/** The operators' route of the audit. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { AuditRecords } from "../records/audit.ts";
import { Timestamp } from "../schema.ts";
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
    summary: "What operators changed",
    description:
      "Who did what to which key or plan, when and from where; the latest first. An entry is written before its change: where that came to " +
      "nothing, no key or plan has the entry's `details.version` by it.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "How many entries, 1 to 1,000.",
        schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
        examples: ["100"],
      },
      exactly("cursor", "`next_cursor` of the page before.", "WzE3NjM3MTU2MDIwMDAsIjBjNGYzYzllIl0"),
      { name: "from", in: "query", description: "From this moment on.", schema: Timestamp, examples: ["2026-11-01T00:00:00Z"] },
      { name: "to", in: "query", description: "Before this moment.", schema: Timestamp, examples: ["2026-12-01T00:00:00Z"] },
      exactly("actor", "Who.", "key:4H2B8RXA"),
      exactly("action", "What.", "key.update"),
      exactly("target", "To which key or plan.", "7Q9M3W8K"),
    ],
    answers: [
      { status: 200, description: "The entries.", content: [{ type: "application/json", schema: AuditRecords, example: examples.audit }] },
    ],
    problems: ["invalid_cursor"],
  },
];
