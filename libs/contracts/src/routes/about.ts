/** The routes about the caller and the installation, which the gateway answers by itself or for everybody. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { MeRecord } from "../records/me.ts";
import { StatusRecord } from "../records/status.ts";
import type { RouteDescription } from "./route.ts";

const tag = "About";

export const aboutRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: "/api/v1/me",
    id: "getMe",
    tag,
    summary: "The calling key",
    description: "The key that asks, its plan, what is left of each limit, and the address that the question came from. Costs no month.",
    scope: null,
    parameters: [],
    answers: [{ status: 200, description: "The key.", content: [{ type: "application/json", schema: MeRecord, example: examples.me }] }],
    problems: [],
  },
  {
    method: "get",
    path: "/api/v1/status",
    id: "getStatus",
    tag,
    summary: "The data in service",
    description: "Each section with its version, age, counts and sources. Answers while nothing is loaded too: `ready` is false then.",
    scope: "open",
    parameters: [],
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
    summary: "A country's flag",
    description: "The flag as SVG, by its code of ISO 3166-1 in lower case: what `country_flag.svg_url` of records leads to.",
    scope: "open",
    parameters: [
      {
        name: "country",
        in: "path",
        description: "Two letters, lower case.",
        schema: Type.String({ pattern: "^[a-z]{2}$" }),
        examples: ["nl"],
      },
    ],
    answers: [
      {
        status: 200,
        description: "The flag.",
        headers: ["etag", "cache-control"],
        content: [{ type: "image/svg+xml", schema: null, example: "<svg xmlns='http://www.w3.org/2000/svg'>…</svg>" }],
      },
      {
        status: 304,
        description: "The flag that `If-None-Match` names is still the one.",
        headers: ["etag", "cache-control"],
        content: [],
      },
    ],
    problems: ["route_not_found"],
  },
];
