/** The route of batches. */

import Type from "typebox";
import { batchExample, batchQuestionExample, batchRequestExample, batchResultExample } from "../examples/batch.ts";
import { mediaTypes } from "../formats.ts";
import { BatchAnswer, BatchQuestion, BatchRequest, BatchResult, BatchSummary, batchQuestionsMax } from "../records/batch.ts";
import { oneOf } from "../schema.ts";
import { lines, type RouteDescription } from "./route.ts";

export const batchRoutes: readonly RouteDescription[] = [
  {
    method: "post",
    path: "/api/v1/batch",
    id: "askBatch",
    tag: "Data",
    summary: "Many questions at once",
    description: `Questions of any kind, each answered by its record or by a problem in its place, in the order in which they were asked. As one JSON document up to
${batchQuestionsMax.toLocaleString("en")} questions, all answered from one snapshot of the data; as NDJSON, a question a line, any number: read and answered line by line, so read while you send. The last
line of an NDJSON answer is a summary (\`count\`, \`failed_count\`, \`meta\`); one without it was cut off.

A batch costs one unit of the rate, and each question that can be asked one of the month; those of answers that fail on our side go back. A document whose
questions the month has too few units for is refused as a whole; in a stream the rest are \`quota_exceeded\` problems. The key needs the scope \`batch\`, and that
of each kind that it asks.`,
    scope: "batch",
    parameters: [
      {
        name: "format",
        in: "query",
        description: "The form of the answer, whatever `Accept` says; by default that of the questions.",
        schema: oneOf(["json", "ndjson"]),
        examples: ["json", "ndjson"],
      },
    ],
    body: {
      description:
        "The questions; in UTF-8, plain or packed with gzip (`Content-Encoding`). A JSON document has at most 1 MiB, a line 8,192 bytes.",
      content: [{ type: mediaTypes.json, schema: BatchRequest, example: batchRequestExample }, lines(BatchQuestion, batchQuestionExample)],
    },
    answers: [
      {
        status: 200,
        description: "The results.",
        headers: ["cache-control"],
        content: [
          { type: mediaTypes.json, schema: BatchAnswer, example: batchExample },
          lines(Type.Union([BatchResult, BatchSummary]), batchResultExample),
        ],
      },
    ],
    problems: [
      "invalid_body",
      "invalid_parameter",
      "not_acceptable",
      "request_timeout",
      "batch_too_large",
      "payload_too_large",
      "unsupported_media_type",
      "quota_exceeded",
    ],
  },
];
