/** The routes of ingest's operator API, which the gateway passes on. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { ingestPath } from "../headers.ts";
import { IngestRun, IngestRuns, IngestSources, RunRequest } from "../records/ingest.ts";
import type { RouteDescription } from "./route.ts";

const tag = "Ingest";
const upstream = ["upstream_error", "upstream_timeout"] as const;

/** Under `/admin/v1/ingest`, on the operators' listener of gateways that have an `INGEST_URL`. */
export const ingestRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: `${ingestPath}/runs`,
    id: "listRuns",
    tag,
    summary: "Runs of ingest",
    description: "The latest runs, the one that started last first.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "How many runs, 1 to 100.",
        schema: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
        examples: ["20"],
      },
    ],
    answers: [
      { status: 200, description: "The runs.", content: [{ type: "application/json", schema: IngestRuns, example: examples.runs }] },
    ],
    problems: upstream,
  },
  {
    method: "post",
    path: `${ingestPath}/runs`,
    id: "startRun",
    tag,
    summary: "Start a run",
    description:
      "Imports all sources of the list now. One run goes at a time; the answer comes when it has begun, and its record tells how it goes.",
    scope: "admin",
    parameters: [],
    body: {
      description: "What this run may do that others may not.",
      required: false,
      content: [{ type: "application/json", schema: RunRequest, example: examples.run_request }],
    },
    answers: [
      {
        status: 202,
        description: "The run has begun.",
        headers: ["location"],
        content: [{ type: "application/json", schema: IngestRun, example: examples.run }],
      },
    ],
    problems: [...upstream, "run_in_progress", "invalid_body"],
  },
  {
    method: "get",
    path: `${ingestPath}/runs/{id}`,
    id: "getRun",
    tag,
    summary: "One run",
    description: "A run with its report: what was read of each source, what was left out and why, how long each stage took.",
    scope: "admin",
    parameters: [
      { name: "id", in: "path", description: "Id of the run.", schema: Type.String({ minLength: 1 }), examples: [examples.run.id] },
    ],
    answers: [{ status: 200, description: "The run.", content: [{ type: "application/json", schema: IngestRun, example: examples.run }] }],
    problems: [...upstream, "run_not_found"],
  },
  {
    method: "get",
    path: `${ingestPath}/sources`,
    id: "listSources",
    tag,
    summary: "Sources and their health",
    description: "The sources of the list: how the last run found each, how old its data are, and when it is fetched next.",
    scope: "admin",
    parameters: [],
    answers: [
      {
        status: 200,
        description: "The sources.",
        content: [{ type: "application/json", schema: IngestSources, example: examples.sources }],
      },
    ],
    problems: upstream,
  },
];
