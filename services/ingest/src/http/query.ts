/** The parameters of a request to the operator API. */

import { ProblemError, type ProblemItem } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";

const limitDefault = 20;
const limitMax = 100;

/** The parameters of a request; reports all their faults at once. */
export class Query {
  readonly #given: URLSearchParams;
  protected readonly known: readonly string[];
  readonly #faults: ProblemItem[] = [];

  constructor({ url }: FastifyRequest, known: readonly string[]) {
    const at = url.indexOf("?");
    this.#given = new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
    this.known = known;
    const takes = known.length === 0 ? "this route has no parameters" : `this route accepts ${known.join(", ")}`;
    const unknown = [...new Set(this.#given.keys())].filter((name) => !known.includes(name));
    for (const name of unknown.slice(0, 10)) this.fault(name.slice(0, 40).replaceAll(/[^\w.-]/g, "?"), `is unknown; ${takes}`);
  }

  /** Null: the parameter is absent or invalid. */
  text(name: string, form: RegExp, expected: string): string | null {
    const values = this.#given.getAll(name);
    if (values.length === 0) return null;
    const [value] = values;
    if (values.length === 1 && value !== undefined && form.test(value)) return value;
    this.fault(name, `must be ${expected}, given once`);
    return null;
  }

  /** The same, but if the parameter is absent, this is a fault, and the text is empty. */
  needed(name: string, form: RegExp, expected: string): string {
    const value = this.text(name, form, expected);
    if (value === null && !this.#given.has(name)) this.fault(name, `is missing; it must be ${expected}`);
    return value ?? "";
  }

  /** @param isMissing  a required parameter is absent @throws ProblemError */
  refuseFaults(isMissing = false): void {
    if (isMissing && this.#faults.length === 0) this.fault(this.known[0] ?? "", `is missing: give one of ${this.known.join(", ")}`);
    const errors = this.#faults;
    const [first] = errors;
    if (first === undefined) return;
    const detail =
      errors.length === 1 ? `${first.location} ${first.message}.` : `The request has ${errors.length} errors, listed in errors[].`;
    throw new ProblemError("invalid_parameter", { detail, errors });
  }

  protected fault(name: string, message: string): void {
    this.#faults.push({ location: `query.${name}`, code: "invalid_parameter", message });
  }
}

/** Reads the number of items to list, the only parameter of a route with a list. @throws ProblemError */
export function readLimit(request: FastifyRequest): number {
  const query = new Query(request, ["limit"]);
  const limit = query.text("limit", /^(?:[1-9]\d?|100)$/, `a number from 1 to ${limitMax}`);
  query.refuseFaults();
  return Number(limit ?? limitDefault);
}
