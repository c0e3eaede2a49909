/** A route as data: what OpenAPI, the reference page and the contract tests know of it. One table a listener, in the files beside. */

import type { TSchema } from "typebox";
import type { ProblemCode } from "../errors.ts";
import { mediaTypes } from "../formats.ts";
import type { Scope } from "../records/me.ts";
import { member } from "../schema.ts";

/** One value that a request brings in its path, query or headers. */
export interface RouteParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  /** The value as text in the URL; patterns and enumerations are those that the route really takes. */
  readonly schema: TSchema;
  /** Values that a reader can try, all at once with those of the other parameters; the first is the one that the reference page fills in. */
  readonly examples: readonly string[];
  /** Not of the path, whose parameters always are. Default: false. */
  readonly required?: boolean;
}

/** A body by its content type. `schema` null: bytes or lines that `description` of the route tells about. */
export interface RouteContent {
  readonly type: string;
  readonly schema: TSchema | null;
  readonly example: unknown;
}

/** NDJSON: the schema of a body whose lines are each as `schema` says. */
export function lines(schema: TSchema, example: unknown): RouteContent {
  return {
    type: mediaTypes.ndjson,
    schema: member(schema, "One line of the body. The body has any number of lines, which OpenAPI 3.1 cannot express."),
    example,
  };
}

/** An answer that is no problem. */
export interface RouteAnswer {
  readonly status: number;
  readonly description: string;
  /** Empty: without a body (204, 304). The first is what is sent where the caller has no preference. */
  readonly content: readonly RouteContent[];
  /** Names of the headers that are sent besides those of every answer, in lower case. */
  readonly headers?: readonly string[];
}

/** One operation of the API. GET routes answer HEAD too. */
export interface RouteDescription {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** From the root, with `{name}` for a parameter: `/api/v1/ip/{ip}`. */
  readonly path: string;
  /** Unique; camel case: the method's name in clients. */
  readonly id: string;
  /** Group in the reference page. */
  readonly tag: string;
  /** A few words, then sentences (Markdown). */
  readonly summary: string;
  readonly description: string;
  /** The scope that a key needs; null: any key; "open": no key. */
  readonly scope: Scope | "open" | null;
  readonly parameters: readonly RouteParameter[];
  /** `required`: default: true. */
  readonly body?: { readonly description: string; readonly required?: boolean; readonly content: readonly RouteContent[] };
  /** At least one; the first is the usual one. */
  readonly answers: readonly [RouteAnswer, ...RouteAnswer[]];
  /** Of problems by status: headers that are sent besides those of every problem, in lower case. */
  readonly problemHeaders?: Readonly<Record<number, readonly string[]>>;
  /** Codes that this route can answer besides those that every route can (`commonProblems`). */
  readonly problems: readonly ProblemCode[];
}

/** What any route can answer, by who may call it. */
export const commonProblems: {
  readonly open: readonly ProblemCode[];
  readonly keyed: readonly ProblemCode[];
} = {
  open: [
    "invalid_parameter",
    "bad_request",
    "key_in_query",
    "not_acceptable",
    "request_timeout",
    "uri_too_long",
    "headers_too_large",
    "internal_error",
    "shutting_down",
  ],
  keyed: [
    "missing_api_key",
    "invalid_api_key",
    "expired_api_key",
    "revoked_api_key",
    "disabled_api_key",
    "insufficient_scope",
    "ip_not_allowed",
    "rate_limit_exceeded",
    "concurrency_limit_exceeded",
    "too_many_failed_keys",
    "limits_unavailable",
    "upstream_unavailable",
    "temporarily_overloaded",
  ],
};
