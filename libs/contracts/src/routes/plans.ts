/** The operators' routes of plans. */

import Type, { type TSchema } from "typebox";
import { examples } from "../examples/index.ts";
import { keyBounds, Plan, PlanLimits, Plans } from "../records/keys.ts";
import type { RouteDescription, RouteParameter } from "./route.ts";

export const plansPath = "/admin/v1/plans";

const tag = "Plans";
const json = (schema: TSchema, example: unknown) => [{ type: "application/json", schema, example }] as const;

const name: RouteParameter = {
  name: "name",
  in: "path",
  description: "Name of the plan: lower-case letters, digits, `-` and `_`.",
  schema: Type.String({ pattern: keyBounds.planName }),
  examples: [examples.plan.name],
};

/** Under `/admin/v1/plans`. */
export const planRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: plansPath,
    id: "listPlans",
    tag,
    summary: "Plans",
    description: "All plans, ordered by name. The plan `default` always exists.",
    scope: "admin",
    parameters: [],
    answers: [{ status: 200, description: "The plans.", content: json(Plans, examples.plans) }],
    problems: [],
  },
  {
    method: "get",
    path: `${plansPath}/{name}`,
    id: "getPlan",
    tag,
    summary: "Limits of a plan",
    description: "The limits that apply to keys of this plan, unless a key has limits of its own.",
    scope: "admin",
    parameters: [name],
    answers: [{ status: 200, description: "The plan.", content: json(Plan, examples.plan) }],
    problems: ["plan_not_found"],
  },
  {
    method: "put",
    path: `${plansPath}/{name}`,
    id: "putPlan",
    tag,
    summary: "Create or change a plan",
    description: "Every gateway applies the new limits to the keys of the plan within a second. Their usage is kept.",
    scope: "admin",
    parameters: [name],
    body: { description: "The limits.", content: json(PlanLimits, examples.plan_limits) },
    answers: [
      { status: 200, description: "The plan after the change.", content: json(Plan, examples.plan) },
      { status: 201, description: "The new plan.", headers: ["location"], content: json(Plan, examples.plan) },
    ],
    problems: ["invalid_body", "payload_too_large", "unsupported_media_type", "precondition_failed"],
  },
  {
    method: "delete",
    path: `${plansPath}/{name}`,
    id: "deletePlan",
    tag,
    summary: "Delete a plan",
    description:
      "Deletes a plan that no key refers to. Deleting `default` resets it to the limits of the gateway's settings; if it was never changed, nothing happens and the response is the same.",
    scope: "admin",
    parameters: [name],
    answers: [{ status: 204, description: "The plan was deleted; `default` has the limits of the settings.", content: [] }],
    problems: ["plan_not_found", "plan_in_use", "precondition_failed"],
  },
];
