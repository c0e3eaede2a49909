/** Batches of any length. Questions are sent in blocks, one HTTP request each; results are returned as they arrive. */

import type { BatchQuestion, BatchResult, BatchSummary } from "@netfacts/contracts";
import { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
import { readLines } from "./lines.ts";
import type { Transport } from "./transport.ts";

export interface BatchOptions {
  /** Cancels the batch; its reason is thrown. */
  readonly signal?: AbortSignal;
  /** Questions in one request, 1 to 1,000; each request costs one unit of the rate limit for all questions that cost one. Default: 1,000. */
  readonly blockSize?: number;
}

const type = "application/x-ndjson";
const blockSizeMax = 1_000;

/** The reader sets the pace: a block is sent when the results of the previous one were taken. */
export async function* batchResults(
  transport: Transport,
  questions: Iterable<BatchQuestion> | AsyncIterable<BatchQuestion>,
  { signal, blockSize = blockSizeMax }: BatchOptions,
): AsyncGenerator<BatchResult, void, undefined> {
  if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > blockSizeMax)
    throw new TypeError(`blockSize must be an integer from 1 to ${blockSizeMax}`);
  let first = 0;
  for await (const block of blocksOf(questions, blockSize)) {
    for (const result of await blockResults(transport, block, signal)) yield { ...result, index: first + result.index };
    first += block.length;
  }
}

/** A block fits in memory. If its response is interrupted, the block is sent again, and the caller never sees half of it. */
function blockResults(transport: Transport, block: readonly BatchQuestion[], signal: AbortSignal | undefined): Promise<BatchResult[]> {
  const text = block.map((question) => `${JSON.stringify(question)}\n`).join("");
  return transport.ask({ path: "/api/v1/batch", accept: type, body: { type, text }, signal }, async ({ response, alive }) => {
    const results: BatchResult[] = [];
    for await (const line of readLines(response, alive)) {
      const item = parseLine(line, response.status);
      if ("index" in item) results.push(item);
      else if (item.problem !== undefined) throw new NetfactsProblem(item.problem, transport.limits);
      else if (results.length === block.length) return results;
      else break;
    }
    throw new NetfactsUnreachable(`the response ended after ${results.length} of ${block.length} results`);
  });
}

function parseLine(line: string, status: number): BatchResult | BatchSummary {
  try {
    return JSON.parse(line) as BatchResult | BatchSummary;
  } catch (cause) {
    throw new NetfactsUnreachable("a line of the response is not JSON", { status, cause });
  }
}

async function* blocksOf<T>(items: Iterable<T> | AsyncIterable<T>, size: number): AsyncGenerator<T[], void, undefined> {
  let block: T[] = [];
  for await (const item of items) {
    block.push(item);
    if (block.length < size) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}
