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
    summary: "Records for many addresses, prefixes and AS numbers",
    description: `Each item of a batch is answered by a record or a problem, in the order of the request. One JSON document has at most
${batchQuestionsMax.toLocaleString("en")} items, all answered from the same snapshot of the data. NDJSON, with one item per line, has no limit. It is read and answered line by line, so read the response while you
send. The last line of an NDJSON response is a summary (\`count\`, \`failed_count\`, \`meta\`). If it is missing, the response is incomplete.

Each valid item counts once towards the monthly quota. A batch costs 1 unit of the rate limit for all its items that cost 1, and for each other item what its own route
costs. Items that fail because of a server error do not count. If a limit has too few units left, a JSON document is rejected as a whole; in a stream, the items that do not
fit become \`quota_exceeded\` or \`rate_limit_exceeded\` problems. The key
needs the scope \`batch\` and the scope of each kind of item.`,
    scope: "batch",
    parameters: [
      {
        name: "format",
        in: "query",
        description: "Format of the response, regardless of `Accept`. Default: the format of the request.",
        schema: oneOf(["json", "ndjson"]),
        examples: ["json", "ndjson"],
      },
      {
        name: "meta",
        in: "query",
        description:
          'If `false`, records have no `meta` unless their item says `"meta": true`: about half the bytes of an `ip` record. The versions of the data and the warnings of each record are left out with it.',
        schema: oneOf(["true", "false"]),
        examples: ["false"],
      },
    ],
    body: {
      description:
        "Items in UTF-8, uncompressed or compressed with gzip (`Content-Encoding`). A JSON document has at most 1 MiB, an item of it and an NDJSON line at most 8,192 bytes.",
      content: [{ type: mediaTypes.json, schema: BatchRequest, example: batchRequestExample }, lines(BatchQuestion, batchQuestionExample)],
    },
    answers: [
      {
        status: 200,
        description: "The results.",
        content: [
          { type: mediaTypes.json, schema: BatchAnswer, example: batchExample },
          lines(Type.Union([BatchResult, BatchSummary]), batchResultExample),
        ],
      },
    ],
    problemHeaders: { 415: ["accept-post", "accept-encoding"] },
    problems: [
      "invalid_body",
      "invalid_parameter",
      "not_acceptable",
      "request_timeout",
      "batch_too_large",
      "payload_too_large",
      "unsupported_media_type",
      "quota_exceeded",
      "cost_exceeds_limit",
    ],
  },
];
