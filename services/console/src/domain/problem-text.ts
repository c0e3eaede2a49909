/** Texts of problems for people. The API's own texts name places and members, which are for programs. */

import type { Problem, ProblemItem } from "@netfacts/contracts";

/** Members that have another name on the pages. */
const names: Readonly<Record<string, string>> = { allowed_cidrs: "networks", expires_at: "expiry", asn: "origin AS" };

/** The detail, without the place of a single error, and without the name of a list of errors. */
export function detailOf({ detail, errors = [] }: Pick<Problem, "detail" | "errors">): string {
  const [first] = errors;
  if (errors.length === 1 && first !== undefined && detail === `${first.location} ${first.message}.`) return faultOf(first);
  return detail.replace(/, listed in errors\[\]\.$/, ":");
}

/** `body.allowed_cidrs[0]` with `is not a CIDR` is "Entry 1 of networks is not a CIDR.", and `host bits are set` of a path is "Host bits are set." */
export function faultOf({ location, message }: Pick<ProblemItem, "location" | "message">): string {
  const [, name, index] = /^(?:body|path|query)\.(.+?)(?:\[(\d+)\])?$/.exec(location) ?? [];
  const text = `${message.replace(/\.$/, "")}.`;
  // Other messages are sentences of their own.
  if (name === undefined || !/^(is|are|has|must) /.test(message)) return capitalised(text);
  const shown = names[name] ?? name.replaceAll(/[._]/g, " ");
  const place = index === undefined ? shown : `entry ${Number(index) + 1} of ${shown}`;
  return capitalised(`${place} ${text}`);
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
