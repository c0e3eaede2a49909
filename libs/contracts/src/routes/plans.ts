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
    description: "Every plan, by name. There is always one of the name `default`.",
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
    summary: "One plan",
    description: "The limits that keys of this plan have, where they have none of their own.",
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
    summary: "Make or change a plan",
    description: "The limits of its keys follow within a second, at every gateway. What they used already stays used.",
    scope: "admin",
    parameters: [name],
    body: { description: "The limits.", content: json(PlanLimits, examples.plan_limits) },
    answers: [
      { status: 200, description: "The plan as it is now.", content: json(Plan, examples.plan) },
      { status: 201, description: "The plan, which is new.", headers: ["location"], content: json(Plan, examples.plan) },
    ],
    problems: ["invalid_body", "payload_too_large", "unsupported_media_type"],
  },
  {
    method: "delete",
    path: `${plansPath}/{name}`,
    id: "deletePlan",
    tag,
    summary: "Delete a plan",
    description:
      "Only one that no key refers to. The limits of `default` are those of the gateway's settings afterwards; where nobody wrote it they are so already, and the answer is the same.",
    scope: "admin",
    parameters: [name],
    answers: [{ status: 204, description: "It is gone; `default` is as in the settings.", content: [] }],
    problems: ["plan_not_found", "plan_in_use"],
  },
];
