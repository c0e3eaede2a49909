/** Handlers of the operators' routes of plans. */

import { type PlanLimits, ProblemError } from "@netfacts/contracts";
import { plansPath } from "@netfacts/contracts/openapi";
import { type Administration, defaultPlan, type KeyLimits } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";
import { plan, unwrittenDefault } from "./admin-records.ts";
import type { AdminCall } from "./admin-request.ts";
import type { AdminHandlers } from "./admin-routes.ts";

export interface PlanHandlerDeps {
  readonly store: Pick<Store, "plans">;
  readonly administration: Administration;
  /** Limits of the plan `default` until it is written. */
  readonly defaultLimits: KeyLimits;
}

/** Handlers by the ids of the routes. */
export function planHandlers({ store, administration, defaultLimits }: PlanHandlerDeps): AdminHandlers {
  return {
    async listPlans() {
      const items = (await store.plans.list()).map(plan);
      const all = items.some(({ name }) => name === defaultPlan) ? items : [...items, unwrittenDefault(defaultLimits)];
      return { status: 200, body: { items: all.sort((a, b) => (a.name < b.name ? -1 : 1)) } };
    },

    async getPlan(call) {
      const found = await store.plans.find(nameOf(call));
      if (found !== null) return { status: 200, body: plan(found) };
      if (nameOf(call) === defaultPlan) return { status: 200, body: unwrittenDefault(defaultLimits) };
      throw new ProblemError("plan_not_found");
    },

    async putPlan(call) {
      const { rate, month, concurrency = null } = call.body as PlanLimits;
      const limits = { rate: { limit: rate.limit, windowSeconds: rate.window_seconds }, month, concurrency };
      const written = await administration.putPlan(call.by, nameOf(call), limits);
      const isNew = written.version === 1;
      return { status: isNew ? 201 : 200, body: plan(written), ...(isNew && { headers: { location: `${plansPath}/${written.name}` } }) };
    },

    async deletePlan(call) {
      const outcome = await administration.deletePlan(call.by, nameOf(call));
      if (outcome === "deleted" || outcome === "unwritten") return { status: 204 };
      throw new ProblemError(outcome === "absent" ? "plan_not_found" : "plan_in_use");
    },
  };
}

function nameOf({ path }: AdminCall): string {
  return path.name ?? "";
}
