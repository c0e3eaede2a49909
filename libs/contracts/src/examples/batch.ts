/** A batch of two questions, one of them invalid, and its answer. */

import type { BatchAnswer, BatchQuestion, BatchRequest, BatchResult } from "../records/batch.ts";
import type { Problem } from "../records/problem.ts";
import { validityExample } from "./lookups.ts";
import { metaWithoutData } from "./meta.ts";

const validity: BatchQuestion = { kind: "validity", asn: 3_333, prefix: "193.0.0.0/21" };
const hostBits: BatchQuestion = { kind: "prefix", value: "193.0.6.139/21" };
const snapshots = ["20261121T085500Z-1a2b3c4d"];

export const batchQuestionExample: BatchQuestion = validity;
export const batchRequestExample: BatchRequest = { questions: [validity, hostBits] };

const problem: Problem = {
  type: "/docs/errors/prefix_has_host_bits",
  title: "The prefix has host bits set",
  status: 400,
  code: "prefix_has_host_bits",
  detail: "193.0.6.139/21 has bits set beyond its length.",
  instance: "/api/v1/batch",
  request_id: metaWithoutData.request_id,
  errors: [{ location: "value", code: "prefix_has_host_bits", message: "host bits are set", suggestion: "193.0.0.0/21" }],
};

export const batchResultExample: BatchResult = { index: 0, question: { ...validity }, record: validityExample };

export const batchExample: BatchAnswer = {
  results: [batchResultExample, { index: 1, question: { ...hostBits }, problem }],
  count: 2,
  failed_count: 1,
  meta: { ...metaWithoutData, snapshots },
};
