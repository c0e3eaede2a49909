/** Requests to the operators' routes of keys, plans and the audit, with JSON in and out. */

import { expect } from "@jest/globals";
import { adminRoutes, type RouteDescription } from "@netfacts/contracts/openapi";
import { Value } from "typebox/value";
import type { HttpAnswer } from "./gateway.ts";
import type { OperatorHarness } from "./operator.ts";

export const keys = "/admin/v1/keys";
export const plans = "/admin/v1/plans";
export const audit = "/admin/v1/audit";

// biome-ignore lint/suspicious/noExplicitAny: records of many shapes, whose members the tests name.
type Body = Record<string, any>;

export interface AdminResult extends HttpAnswer {
  readonly json: Body;
}

export interface AdminOptions {
  readonly headers?: Record<string, string>;
  readonly key?: string | null;
}

/** Sends a body as JSON. An answer that is no problem is checked against the description of its route. */
export async function ask(
  harness: OperatorHarness,
  method: string,
  path: string,
  body?: unknown,
  options: AdminOptions = {},
): Promise<AdminResult> {
  const answer = await harness.ask(method, path, {
    ...options,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json", ...options.headers } }),
  });
  const json = (answer.body === "" ? {} : JSON.parse(answer.body)) as Body;
  if (answer.status < 300) expectDescribed(method, path, answer, json);
  return { ...answer, json };
}

/** The record of a new key, with its secret. */
export async function makeKey(harness: OperatorHarness, spec: object = {}): Promise<Body> {
  const made = await ask(harness, "POST", keys, { label: "siem-prod", scopes: ["ip"], ...spec });
  if (made.status !== 201) throw new Error(made.body);
  return made.json;
}

function expectDescribed(method: string, path: string, answer: HttpAnswer, json: Body): void {
  const route = routeOf(method, path);
  const described = route.answers.find(({ status }) => status === answer.status);
  if (described === undefined) throw new Error(`${route.id} answered ${answer.status}, which its description does not have`);
  const schema = described.content[0]?.schema ?? null;
  if (schema === null) expect(answer.body).toBe("");
  else expect([...Value.Errors(schema, json)]).toEqual([]);
  for (const name of described.headers ?? []) expect(answer.headers).toHaveProperty(name);
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.headers).toHaveProperty("ratelimit");
}

function routeOf(method: string, path: string): RouteDescription {
  const segments = (path.split("?")[0] ?? "").split("/");
  const fits = (pattern: string): boolean => {
    const wanted = pattern.split("/");
    return wanted.length === segments.length && wanted.every((part, at) => part.startsWith("{") || part === segments[at]);
  };
  const route = adminRoutes.find((each) => each.method === method.toLowerCase() && fits(each.path));
  if (route === undefined) throw new Error(`no route for ${method} ${path}`);
  return route;
}
