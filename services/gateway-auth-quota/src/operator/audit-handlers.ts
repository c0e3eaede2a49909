/** Handler of the operators' route of the audit. */

import type { Store } from "@netfacts/storage";
import { invalidParameter } from "../edge/invalid-parameter.ts";
import { auditRecord } from "./admin-records.ts";
import type { AdminHandlers } from "./admin-routes.ts";
import { decodePlace, pageLimitDefault, pageOf } from "./page-cursor.ts";

/** Handlers by the ids of the routes. */
export function auditHandlers({ audit }: Pick<Store, "audit">): AdminHandlers {
  return {
    async listAudit({ query: { limit: size, cursor, from, to, ...exactly } }) {
      const limit = Number(size ?? pageLimitDefault);
      const before = decodePlace(cursor);
      if (from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to)) throw invalidParameter("from", "is after to");
      const found = await audit.list({
        limit: limit + 1,
        ...exactly,
        ...(from !== undefined && { from: Date.parse(from) }),
        ...(to !== undefined && { to: Date.parse(to) }),
        ...(before !== undefined && { before }),
      });
      return { status: 200, body: pageOf(found, limit, auditRecord, ({ at, id }) => ({ at, id })) };
    },
  };
}
