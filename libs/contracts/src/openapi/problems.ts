/** The problems of a route as OpenAPI responses: one for each status, with an example for each code. */

import { errors, type ProblemCode } from "../errors.ts";
import { ProblemError, problemBody } from "../problem-error.ts";
import type { ProblemItem } from "../records/problem.ts";
import type { RouteDescription } from "../routes/route.ts";
import { answerHeaders, headerReferences } from "./headers.ts";
import type { Json } from "./schemas.ts";

/** Members of an example besides the text of the error table, for codes that have more. */
const particulars: Partial<Record<ProblemCode, { detail: string; errors?: ProblemItem[] }>> = {
  invalid_ip: {
    detail: '"193.0.6.256" is not an IPv4 or IPv6 address: octets range from 0 to 255.',
    errors: [{ location: "path.ip", code: "invalid_ip", message: "is not an IPv4 or IPv6 address: octets range from 0 to 255" }],
  },
  prefix_has_host_bits: {
    detail: "193.0.6.139/21 has bits set beyond its length.",
    errors: [{ location: "path.network", code: "prefix_has_host_bits", message: "host bits are set", suggestion: "193.0.0.0/21" }],
  },
  invalid_parameter: {
    detail: 'Parameter limit must be a whole number from 1 to 1000, not "1e2".',
    errors: [{ location: "query.limit", code: "invalid_parameter", message: "must be a whole number from 1 to 1000" }],
  },
};

const exampleRequestId = "01JD5T7Q9M3W8K2V6B4N1XCZPE";

/** Name in `components.examples`. */
function exampleName(code: ProblemCode): string {
  return `problem_${code}`;
}

/** An example of every problem, for `components.examples`. */
export function problemExamples(codes: readonly ProblemCode[]): Record<string, Json> {
  return Object.fromEntries(
    codes.map((code) => {
      const { detail, errors: faults } = particulars[code] ?? {};
      const violated =
        code === "rate_limit_exceeded"
          ? { violatedPolicies: ["rate" as const] }
          : code === "quota_exceeded"
            ? { violatedPolicies: ["month" as const] }
            : code === "concurrency_limit_exceeded"
              ? { violatedPolicies: ["concurrency" as const] }
              : {};
      const error = new ProblemError(code, {
        ...(detail !== undefined && { detail }),
        ...(faults !== undefined && { errors: faults }),
        ...violated,
      });
      const value = problemBody(error, { instance: "/api/v1/…", requestId: exampleRequestId, errorDocsBase: "/docs/errors/" });
      return [exampleName(code), { summary: errors[code].title, value: value as unknown as Json }];
    }),
  );
}

/** The responses of a route by status. `keyed`: whether responses with a known key have the headers of limits. `more`: further headers by status. */
export function problemResponses(
  codes: readonly ProblemCode[],
  keyed: boolean,
  more: RouteDescription["problemHeaders"] = {},
): Record<string, Json> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) byStatus.set(errors[code].status, [...(byStatus.get(errors[code].status) ?? []), code]);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, own]) => [
        String(status),
        {
          description: own.map((code) => `\`${code}\`: ${errors[code].happened}`).join("\n\n"),
          headers: headerReferences([...headersOf(status, own, keyed), ...(more[status] ?? [])]),
          content: {
            "application/problem+json": {
              schema: { $ref: "#/components/schemas/Problem" },
              examples: Object.fromEntries(own.map((code) => [code, { $ref: `#/components/examples/${exampleName(code)}` }])),
            },
          },
        },
      ]),
  );
}

/** Returned before the key is known, so without headers of limits. */
const beforeKey: ReadonlySet<number> = new Set([401, 414, 431]);

function headersOf(status: number, codes: readonly ProblemCode[], keyed: boolean): string[] {
  const retried = codes.some((code) => errors[code].retry === "later" && status !== 408);
  return [
    ...answerHeaders(keyed && !beforeKey.has(status)),
    ...(status === 401 ? ["www-authenticate"] : []),
    ...(retried ? ["retry-after"] : []),
  ];
}
