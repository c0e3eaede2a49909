/** The routes of uploaded observations, which ingest answers and the gateway passes on. */

import Type from "typebox";
import { examples } from "../examples/index.ts";
import { observationLineExample } from "../examples/observations.ts";
import { ingestPath } from "../headers.ts";
import {
  ObservationsDeleted,
  ObservationUpload,
  ObservationUploads,
  StoredObservation,
  UploadedObservation,
} from "../records/observations.ts";
import { AddressText, oneOf, PrefixText } from "../schema.ts";
import { lines, type RouteContent, type RouteDescription, type RouteParameter } from "./route.ts";

const tag = "Observations";
const upstream = ["upstream_error", "upstream_timeout", "upstream_unavailable"] as const;
const path = `${ingestPath}/observations`;

const uploadId = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const sourceName = Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" });

const selectors: readonly RouteParameter[] = [
  {
    name: "address",
    in: "query",
    description: "Observations that name this address.",
    schema: AddressText,
    examples: ["192.0.2.1"],
  },
  {
    name: "prefix",
    in: "query",
    description: "Observations that name this prefix, or prefixes and addresses inside it.",
    schema: PrefixText,
    examples: [],
  },
  { name: "source", in: "query", description: "Everything of this source.", schema: sourceName, examples: [] },
  { name: "key_id", in: "query", description: "Everything that this key uploaded.", schema: Type.String({ minLength: 1 }), examples: [] },
];

const text = (type: string, example: string): RouteContent => ({ type, schema: null, example });

export const observationRoutes: readonly RouteDescription[] = [
  {
    method: "post",
    path,
    id: "uploadObservations",
    tag,
    summary: "Upload observations",
    description:
      "Stores observations of addresses and prefixes, or a geofeed, line by line while the body arrives. The content type names the format. If the connection breaks, everything up to the last stored line is kept: send the rest with the same `upload` and the `offset` that the upload shows. Bytes that are stored already are skipped.",
    scope: "admin",
    parameters: [
      {
        name: "upload",
        in: "query",
        description: "Id of the upload, to resume it later. Default: a new one.",
        schema: uploadId,
        examples: ["probes-20261124"],
      },
      {
        name: "offset",
        in: "query",
        description: "Position in the file of the first byte of the body.",
        schema: Type.Integer({ minimum: 0, default: 0 }),
        examples: ["0"],
      },
      {
        name: "source",
        in: "query",
        description: "Name under which the observations count as one opinion. Default: the id of the upload.",
        schema: sourceName,
        examples: ["probes"],
      },
      {
        name: "part",
        in: "query",
        description: "True if the file goes on after this body, so that its last line may be incomplete.",
        schema: oneOf(["true", "false"]),
        examples: ["false"],
      },
    ],
    body: {
      description: "The file, or the rest of it, uncompressed.",
      content: [
        lines(UploadedObservation, observationLineExample),
        text("text/csv", "ip,lat,lon,observed_at\n193.0.6.139,52.37,4.9,2026-11-20T22:14:05Z\n"),
        text("application/geofeed+csv", "193.0.0.0/21,NL,NL-NH,Amsterdam,\n"),
      ],
    },
    answers: [
      {
        status: 200,
        description: "The upload, with the invalid lines.",
        content: [{ type: "application/json", schema: ObservationUpload, example: examples.upload }],
      },
    ],
    problems: [
      ...upstream,
      "invalid_body",
      "upload_conflict",
      "too_many_uploads",
      "payload_too_large",
      "unsupported_media_type",
      "observations_full",
      "precondition_failed",
    ],
  },
  {
    method: "get",
    path,
    id: "exportObservations",
    tag,
    summary: "Export what is stored about an address or a prefix",
    description:
      "Every stored line that names the address or prefix, a prefix that contains it, or one inside it. Lines of `sources.yaml` are not stored.",
    scope: "admin",
    parameters: [
      { ...(selectors[0] as RouteParameter), description: "Address to export. Either `address` or `prefix` is required." },
      { ...(selectors[1] as RouteParameter), description: "Prefix to export." },
    ],
    answers: [
      {
        status: 200,
        description: "One line for each stored line.",
        content: [{ type: "application/x-ndjson", schema: StoredObservation, example: examples.stored_observation }],
      },
    ],
    problems: upstream,
  },
  {
    method: "delete",
    path,
    id: "deleteObservations",
    tag,
    summary: "Delete observations",
    description:
      "Deletes stored lines at once. Answers change with the next aggregation. Exactly one parameter is required. Repeat the request while `complete` is false.",
    scope: "admin",
    parameters: selectors,
    answers: [
      {
        status: 200,
        description: "Number of lines deleted.",
        content: [{ type: "application/json", schema: ObservationsDeleted, example: examples.observations_deleted }],
      },
    ],
    problems: [...upstream, "precondition_failed"],
  },
  {
    method: "get",
    path: `${path}/uploads`,
    id: "listUploads",
    tag,
    summary: "Recent uploads",
    description: "The most recent uploads, newest first.",
    scope: "admin",
    parameters: [
      {
        name: "limit",
        in: "query",
        description: "Maximum number of uploads, 1 to 100.",
        schema: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
        examples: ["20"],
      },
    ],
    answers: [
      {
        status: 200,
        description: "The uploads.",
        content: [{ type: "application/json", schema: ObservationUploads, example: examples.uploads }],
      },
    ],
    problems: upstream,
  },
  {
    method: "get",
    path: `${path}/uploads/{id}`,
    id: "getUpload",
    tag,
    summary: "Progress of an upload",
    description: "How many bytes of the upload are stored, and its invalid lines.",
    scope: "admin",
    parameters: [{ name: "id", in: "path", description: "Id of the upload.", schema: uploadId, examples: [examples.upload.upload] }],
    answers: [
      {
        status: 200,
        description: "The upload.",
        content: [{ type: "application/json", schema: ObservationUpload, example: examples.upload }],
      },
    ],
    problems: [...upstream, "upload_not_found"],
  },
];
