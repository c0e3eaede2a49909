/** The routes about the caller and the installation, which the gateway answers by itself or for everybody. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { MeRecord } from "../records/me.ts";
import { StatusRecord } from "../records/status.ts";
import { oneOf } from "../schema.ts";
import type { RouteDescription, RouteParameter } from "./route.ts";

const tag = "About";

const formatParameter: RouteParameter = {
  name: "format",
  in: "query",
  description: "Format of the response, regardless of `Accept`.",
  schema: oneOf(["json"]),
  examples: ["json"],
};

export const aboutRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: "/api/v1/me",
    id: "getMe",
    tag,
    summary: "The calling key and its remaining limits",
    description:
      "The key of this request, its plan, what is left of each limit, and the client address. This request does not count towards the quota.",
    scope: null,
    parameters: [formatParameter],
    answers: [{ status: 200, description: "The key.", content: [{ type: "application/json", schema: MeRecord, example: examples.me }] }],
    problems: [],
  },
  {
    method: "get",
    path: "/api/v1/status",
    id: "getStatus",
    tag,
    summary: "Version, age and sources of the data",
    description:
      "Each loaded section with its version, age, counts and sources. This route also works while nothing is loaded: `ready` is then false.",
    scope: "open",
    parameters: [formatParameter],
    answers: [
      {
        status: 200,
        description: "The sections.",
        content: [{ type: "application/json", schema: StatusRecord, example: examples.status }],
      },
    ],
    problems: ["upstream_unavailable", "upstream_error", "upstream_timeout", "temporarily_overloaded"],
  },
  {
    method: "get",
    path: "/flags/{country}.svg",
    id: "getFlag",
    tag,
    summary: "Flag of a country as SVG",
    description: "Flag as SVG, by lower-case ISO 3166-1 code. `country_flag.svg_url` in records refers to it.",
    scope: "open",
    parameters: [
      {
        name: "country",
        in: "path",
        description: "Two lower-case letters.",
        schema: Type.String({ pattern: "^[a-z]{2}$" }),
        examples: ["nl"],
      },
    ],
    answers: [
      {
        status: 200,
        description: "The flag.",
        headers: ["etag"],
        content: [{ type: "image/svg+xml", schema: null, example: "<svg xmlns='http://www.w3.org/2000/svg'>…</svg>" }],
      },
      {
        status: 304,
        description: "The flag has not changed since the one that `If-None-Match` names.",
        headers: ["etag"],
        content: [],
      },
    ],
    problems: ["route_not_found"],
  },
];
