/** The routes of ingest's operator API, which the gateway passes on. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { ingestPath } from "../headers.ts";
import { IngestRun, IngestRuns, IngestSources, RollbackRequest, RunRequest } from "../records/ingest.ts";
import { type KeptSnapshot, KeptSnapshots, SnapshotChanges } from "../records/snapshots.ts";
import { oneOf } from "../schema.ts";
import { sectionNames } from "../sections.ts";
import { observationRoutes } from "./observations.ts";
import type { RouteDescription } from "./route.ts";

const tag = "Ingest";
const upstream = ["upstream_error", "upstream_timeout"] as const;

const [{ id: later }, { id: earlier }] = examples.snapshots.items as [KeptSnapshot, KeptSnapshot];
const snapshotParameter = { in: "query", required: true, schema: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }) } as const;

/** Under `/admin/v1/ingest`, on the operator listener of gateways that have an `INGEST_URL`. */
export const ingestRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: `${ingestPath}/runs`,
    id: "listRuns",
    tag,
    summary: "Recent ingest runs",
    description: "The most recent runs, newest first.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "Maximum number of runs, 1 to 100.",
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
    summary: "Start an ingest run",
    description:
      "Imports all sources of the list now. Only one run can be in progress. The response is sent when the run has started; request the run to see its progress.",
    scope: "admin",
    parameters: [],
    body: {
      description: "Options that apply to this run only.",
      required: false,
      content: [{ type: "application/json", schema: RunRequest, example: examples.run_request }],
    },
    answers: [
      {
        status: 202,
        description: "The run has started.",
        headers: ["location"],
        content: [{ type: "application/json", schema: IngestRun, example: examples.run }],
      },
    ],
    problems: [...upstream, "run_in_progress", "invalid_body", "precondition_failed"],
  },
  {
    method: "get",
    path: `${ingestPath}/runs/{id}`,
    id: "getRun",
    tag,
    summary: "Report of an ingest run",
    description: "A run with its report: what was read from each source, what was skipped and why, and how long each stage took.",
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
    summary: "State and schedule of the sources",
    description: "The sources of the list: result of the last run, age of the data, and time of the next fetch.",
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
  {
    method: "get",
    path: `${ingestPath}/snapshots`,
    id: "listSnapshots",
    tag,
    summary: "Kept snapshots and the pods that serve them",
    description:
      "The snapshots that are kept whole, with the versions and counts of their sections. `GET /admin/v1/ingest/snapshots/changes` lists the changes between two. `POST /admin/v1/ingest/rollbacks` makes an earlier one the current one.",
    scope: "admin",
    parameters: [],
    answers: [
      {
        status: 200,
        description: "The snapshots.",
        content: [{ type: "application/json", schema: KeptSnapshots, example: examples.snapshots }],
      },
    ],
    problems: upstream,
  },
  {
    method: "get",
    path: `${ingestPath}/snapshots/changes`,
    id: "compareSnapshots",
    tag,
    summary: "Changes of a section between two snapshots",
    description:
      "The number of rows that differ, and the first of them. With a full table this takes some seconds. Each process of ingest makes one comparison after the other, and lets two requests wait.",
    scope: "admin",
    parameters: [
      { ...snapshotParameter, name: "from", description: "Id of the earlier snapshot. It must be kept whole.", examples: [earlier] },
      { ...snapshotParameter, name: "to", description: "Id of the later snapshot. It must be kept whole.", examples: [later] },
      {
        name: "section",
        in: "query",
        description: "The section, as in the list of snapshots.",
        required: true,
        schema: oneOf(sectionNames),
        examples: ["routes"],
      },
      {
        name: "limit",
        in: "query",
        description: "Maximum number of changes in `items`, 1 to 10,000. All are counted.",
        schema: Type.Integer({ minimum: 1, maximum: 10_000, default: 100 }),
        examples: ["100"],
      },
    ],
    answers: [
      {
        status: 200,
        description: "The changes.",
        content: [{ type: "application/json", schema: SnapshotChanges, example: examples.snapshot_changes }],
      },
    ],
    problems: [...upstream, "snapshot_not_found"],
  },
  {
    method: "post",
    path: `${ingestPath}/rollbacks`,
    id: "rollBack",
    tag,
    summary: "Make an earlier snapshot the current one",
    description:
      "All objects of the earlier snapshot are read and verified first. Then pods have 10 s to load it, and serve it together. An import in progress continues, and keeps what was taken back. The schedule does not rebuild what was taken back until its sources have newer versions. The response is sent when the rollback has started; it is listed among the runs.",
    scope: "admin",
    parameters: [],
    body: {
      description: "The two snapshots.",
      required: true,
      content: [{ type: "application/json", schema: RollbackRequest, example: examples.rollback_request }],
    },
    answers: [
      {
        status: 202,
        description: "The rollback has started.",
        headers: ["location"],
        content: [{ type: "application/json", schema: IngestRun, example: examples.rollback }],
      },
    ],
    problems: [...upstream, "run_in_progress", "snapshot_not_found", "snapshot_conflict", "invalid_body", "precondition_failed"],
  },
  ...observationRoutes,
];
