/** The problem of one wrong query parameter. */

import { ProblemError } from "@netfacts/contracts";

/** @param message  goes on after the name: "is after to". */
export function invalidParameter(name: string, message: string): ProblemError {
  return new ProblemError("invalid_parameter", {
    detail: `Parameter ${name} ${message}.`,
    errors: [{ location: `query.${name}`, code: "invalid_parameter", message }],
  });
}
