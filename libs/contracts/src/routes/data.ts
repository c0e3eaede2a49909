/** The data routes, made of the operations. The gateway takes its paths and parameters from here, so that it can have no others. */

import Type from "typebox";
import { formats, mediaTypes } from "../formats.ts";
import { isChanges, type LookupName, lookupNames, operations } from "../operations/index.ts";
import { type LookupDescription, type Operation, pastUnits, services } from "../operations/operation.ts";
import { asOfParameter, pastProblems } from "../operations/parameters.ts";
import { oneOf, wordsOf } from "../schema.ts";
import { someMembers } from "../some-members.ts";
import { membersOf } from "../view.ts";
import type { RouteAnswer, RouteContent, RouteDescription, RouteParameter } from "./route.ts";

/** Headers of a 200 and of a 304, besides those of every answer. */
const recordHeaders = ["etag", "last-modified", "vary", "server-timing"];

/** The parameters of every data route: which members, and in which format. */
function shape(op: LookupName, lists: boolean): RouteParameter[] {
  const members = membersOf(op);
  return [
    {
      name: "fields",
      in: "query",
      description: `Top-level members to return, separated by commas or as repeated parameters, each at most once. \`meta\` is returned too, unless \`meta=false\`. Available: ${members.map((name) => `\`${name}\``).join(", ")}.`,
      schema: wordsOf(members),
      examples: [members.slice(0, 2).join(",")],
    },
    {
      name: "meta",
      in: "query",
      description:
        "If `false`, leaves out `meta`, and with it the versions of the data and the warnings of this response. Only supported for JSON.",
      schema: oneOf(["true", "false"]),
      examples: ["true"],
    },
    {
      name: "format",
      in: "query",
      description: lists
        ? "Format of the response, regardless of `Accept`. Formats other than `json` contain only the list."
        : "Format of the response, regardless of `Accept`.",
      schema: oneOf(lists ? formats : ["json"]),
      examples: ["json"],
    },
  ];
}

function answers(description: string, json: RouteContent, lists: readonly RouteContent[] = []): [RouteAnswer, RouteAnswer] {
  return [
    { status: 200, description, headers: lists.length === 0 ? recordHeaders : [...recordHeaders, "link"], content: [json, ...lists] },
    {
      status: 304,
      description:
        "The response has not changed since the one that `If-None-Match` or `If-Modified-Since` names. It does not count towards the quota if `If-None-Match` names the entity tag itself; a 304 to `*` or to a date does.",
      headers: recordHeaders,
      content: [],
    },
  ];
}

interface DataRoute extends RouteDescription {
  readonly op: LookupName;
}

function dataRoute(op: LookupName): DataRoute {
  const { scope, record, example, listView, lookup, service }: Omit<Operation, "page"> & { readonly lookup: LookupDescription } =
    operations[op];
  const { path, id, summary, description, parameters, answer, cost, lists, problems } = lookup.route;
  const hasPast = services[service].snapshots && !isChanges(op);
  return {
    op,
    method: "get",
    path,
    id,
    tag: "Data",
    summary,
    description: `${description}\n\nCost: ${cost}${hasPast ? ` With \`as_of\`, ${pastUnits} units more.` : ""}`,
    scope,
    parameters: [...parameters, ...shape(op, listView !== null), ...(hasPast ? [asOfParameter] : [])],
    answers: answers(answer, { type: mediaTypes.json, schema: Type.Union([record, someMembers(op)]), example }, lists),
    problems: hasPast ? [...new Set([...problems, ...pastProblems])] : problems,
  };
}

/** In the order of the reference page. */
export const dataRoutes: readonly DataRoute[] = lookupNames.map(dataRoute);
