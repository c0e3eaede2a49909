/** Reads requests of operators by the description of their route: parameters, body, Idempotency-Key. Every fault names its place. */

import { createHash } from "node:crypto";
import { nearestWord, type ProblemCode, ProblemError, type ProblemItem } from "@netfacts/contracts";
import { CalendarDate, type RouteDescription, type RouteParameter, Timestamp } from "@netfacts/contracts/openapi";
import type { Idempotency, Operator } from "@netfacts/keys";
import type { FastifyRequest } from "fastify";
import { Value } from "typebox/value";
import { quoteValue } from "../edge/echo.ts";
import { schemaFaults, wantedText } from "../edge/schema-fault.ts";
import { searchOf } from "../edge/search.ts";
import { refuseIdempotencyKey } from "./refused-headers.ts";

/** The input of a handler. */
export interface AdminCall {
  readonly by: Operator;
  /** Decoded path parameters, not validated. */
  readonly path: Readonly<Record<string, string>>;
  /** Query parameters of the request; each fits its schema. */
  readonly query: Readonly<Record<string, string>>;
  /** Fits the schema of the route's body; `{}` if there is none. */
  readonly body: unknown;
  readonly idempotency: Idempotency | null;
  /** The header `Accept`. */
  readonly accept: string | undefined;
}

/** Patterns of times and dates, which the types of typebox do not have. */
const [timestampPattern, datePattern] = [Timestamp, CalendarDate].map((schema) => (schema as { readonly pattern?: string }).pattern);
const jsonTypes = /^application\/(json|merge-patch\+json)(?:\s*;\s*charset="?utf-8"?)?\s*$/i;
const utf8 = new TextDecoder("utf-8", { fatal: true });
/** More faults would not help a reader. */
const faultsMax = 50;

/** @throws ProblemError that lists every fault. */
export function readAdminCall(route: RouteDescription, request: FastifyRequest, by: Operator): AdminCall {
  const query = readQuery(route, searchOf(request));
  const idempotencyKey = readIdempotencyKey(route, request);
  const body = readBody(route, request);
  const idempotency = idempotencyKey === null ? null : { key: idempotencyKey, bodyHash: requestHash(request, body) };
  return { by, path: request.params as Record<string, string>, query, body, idempotency, accept: request.headers.accept };
}

/** The problem with these faults. A single fault is its `detail`. */
export function faultsProblem(code: ProblemCode, faults: readonly ProblemItem[]): ProblemError {
  const [first] = faults;
  const detail =
    faults.length === 1 && first !== undefined
      ? `${first.location} ${first.message}.`
      : `The request has ${faults.length} errors, listed in errors[].`;
  return new ProblemError(code, { detail, errors: faults.slice(0, faultsMax) });
}

function readQuery({ parameters }: RouteDescription, search: string): Record<string, string> {
  const known = new Map(parameters.filter((each) => each.in === "query").map((each) => [each.name, each]));
  const values: Record<string, string> = {};
  const faults: ProblemItem[] = [];
  const fault = (name: string, message: string, suggestion: string | null = null): void => {
    faults.push({ location: `query.${quoteValue(name)}`, code: "invalid_parameter", message, ...(suggestion !== null && { suggestion }) });
  };
  for (const [name, value] of new URLSearchParams(search)) {
    const parameter = known.get(name);
    if (parameter === undefined)
      fault(
        name,
        known.size === 0 ? "is unknown; this route has no parameters" : `is unknown; this route accepts ${[...known.keys()].join(", ")}`,
        nearestWord(name, [...known.keys()]),
      );
    else if (name in values) fault(name, "appears more than once");
    else if (!fits(parameter, value)) fault(name, `must be ${wantedText(parameter.schema)}`);
    else if (!isInCalendar(parameter.schema, value)) fault(name, notInCalendar);
    else values[name] = value;
  }
  if (faults.length > 0) throw faultsProblem("invalid_parameter", faults);
  return values;
}

/** Whether the text is a value of the parameter; whole numbers only in their usual form. */
function fits({ schema }: RouteParameter, text: string): boolean {
  if ((schema as { type?: unknown }).type !== "integer") return Value.Check(schema, text);
  return /^(0|[1-9]\d{0,9})$/.test(text) && Value.Check(schema, Number(text));
}

const notInCalendar = "is not a date that exists";

/** False if the schema requires a date or time and the calendar does not have it, such as 31 February. The text must fit the schema. */
function isInCalendar(schema: unknown, text: string): boolean {
  const { pattern } = (schema ?? {}) as { readonly pattern?: string };
  if (pattern !== timestampPattern && pattern !== datePattern) return true;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.replace("Z", ""));
}

function readIdempotencyKey({ parameters }: RouteDescription, request: FastifyRequest): string | null {
  const parameter = parameters.find((each) => each.in === "header");
  const value = request.headers["idempotency-key"];
  if (value === undefined) return null;
  if (parameter === undefined) {
    refuseIdempotencyKey(request);
    return null;
  }
  if (typeof value === "string" && Value.Check(parameter.schema, value)) return value;
  throw faultsProblem("invalid_parameter", [
    {
      location: "header.idempotency-key",
      code: "invalid_parameter",
      message: "must be 1 to 255 printable ASCII characters without spaces",
    },
  ]);
}

function readBody({ body: wanted }: RouteDescription, request: FastifyRequest): unknown {
  if (wanted === undefined) return {};
  const bytes = request.body as Buffer | undefined;
  if (bytes === undefined || bytes.length === 0) {
    if (wanted.required === false) return {};
    throw new ProblemError("invalid_body", { detail: "The request has no body." });
  }
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = request.headers;
  if (!jsonTypes.test(type) || encoding.toLowerCase() !== "identity") {
    const detail = "The body must be application/json in UTF-8, not compressed.";
    throw new ProblemError("unsupported_media_type", { detail, headers: { "accept-encoding": "identity" } });
  }
  const body = parseJson(bytes);
  const schema = wanted.content[0]?.schema ?? null;
  if (schema === null) return body;
  const faults = new Map<string, ProblemItem>();
  for (const error of Value.Errors(schema, body)) {
    for (const { pointer, message, suggestion } of schemaFaults(schema, error)) {
      const location = quoteValue(placeOf(pointer));
      // Report only the first fault of a place: further ones follow from it.
      if (faults.has(location)) continue;
      faults.set(location, { location, code: "invalid_body", message, ...(suggestion !== null && { suggestion }) });
    }
  }
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  for (const [name, value] of faults.size === 0 ? Object.entries(body as object) : []) {
    if (typeof value === "string" && !isInCalendar(properties[name], value))
      faults.set(name, { location: `body.${name}`, code: "invalid_body", message: notInCalendar });
  }
  if (faults.size > 0) throw faultsProblem("invalid_body", [...faults.values()]);
  return body;
}

function parseJson(bytes: Buffer): unknown {
  let text: string;
  let body: unknown;
  try {
    text = utf8.decode(bytes);
    body = JSON.parse(text);
  } catch (error) {
    // The parser's own message repeats a part of the text.
    const detail = (error as Error).name === "SyntaxError" ? "The body is not JSON." : "The body is not UTF-8.";
    throw new ProblemError("invalid_body", { detail });
  }
  const twice = memberTwice(text);
  if (twice !== null)
    throw new ProblemError("invalid_body", { detail: `The member "${quoteValue(twice)}" appears twice in an object of the body.` });
  return body;
}

/** A member that an object has twice: `JSON.parse` keeps the last, and what is before this service may read the first. @param text  JSON */
function memberTwice(text: string): string | null {
  // Counted in the text, less those of the objects; the whole has no name.
  const rest = new Map([["", 1]]);
  const add = (name: string, count: number) => rest.set(name, (rest.get(name) ?? 0) + count);
  for (const [, name = "", colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?/g)) if (colon !== undefined) add(JSON.parse(name), 1);
  JSON.parse(text, function (this: unknown, name: string, value: unknown) {
    if (!Array.isArray(this)) add(name, -1);
    return value;
  });
  return [...rest].find(([, count]) => count > 0)?.[0] ?? null;
}

/** `/rate/limit` → `body.rate.limit`, `/scopes/1` → `body.scopes[1]`. */
function placeOf(pointer: string): string {
  return ["body", ...pointer.split("/").slice(1)].join(".").replaceAll(/\.(\d+)(?=\.|$)/g, "[$1]");
}

/** Hash of method, URL and body: two requests with one hash are the same. */
function requestHash({ method, url }: FastifyRequest, body: unknown): string {
  return createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(body)}`)
    .digest("hex");
}
