/** Batches over a real connection, and the answer as it came. */

import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import type { BatchAnswer, BatchResult, BatchSummary } from "@netfacts/contracts";
import type { NewKey } from "@netfacts/keys";
import { type GatewayOptions, type Harness, type HttpAnswer, readScopes, startGateway } from "../support/gateway.ts";

export interface BatchHarness extends Harness {
  readonly url: string;
  /** The text of a key with `batch` and every read scope. */
  batchKey(spec?: Partial<NewKey>): Promise<string>;
  /** POST with such a key, unless the headers say otherwise. */
  post(body: string | Uint8Array, headers?: Record<string, string>, query?: string): Promise<HttpAnswer>;
}

export const json = { "content-type": "application/json" };
export const ndjson = { "content-type": "application/x-ndjson" };

export async function startBatchGateway(options: GatewayOptions = {}): Promise<BatchHarness> {
  const harness = await startGateway(options);
  const url = `${await harness.gateway.listen()}/api/v1/batch`;
  const batchKey = (spec: Partial<NewKey> = {}) => harness.key({ scopes: ["batch", ...readScopes], ...spec });
  let ownKey: Promise<string> | undefined;
  return {
    ...harness,
    url,
    batchKey,
    async post(body, headers = json, query = "") {
      ownKey ??= batchKey();
      return post(url + query, { authorization: `Bearer ${await ownKey}`, ...headers }, body);
    },
  };
}

const unpackers: Readonly<Record<string, () => Duplex>> = { gzip: createGunzip, br: createBrotliDecompress, zstd: createZstdDecompress };

/** The body as it was before it was packed, as it comes. */
function unpacked(response: IncomingMessage): Readable {
  const make = unpackers[response.headers["content-encoding"] ?? ""];
  return make === undefined ? response : response.pipe(make());
}

/** The answer, whole or as far as it came; unpacked. Bytes that are no UTF-8 fail. */
export function post(url: string, headers: Record<string, string>, body: string | Uint8Array): Promise<HttpAnswer & { complete: boolean }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: "POST", headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      const body = unpacked(response);
      body.on("data", (piece: Buffer) => pieces.push(piece));
      body.on("error", () => {});
      response.on("error", () => body.destroy());
      body.once("close", () => {
        try {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: utf8Text(Buffer.concat(pieces)),
            complete: response.complete,
          });
        } catch (error) {
          reject(error);
        }
      });
    });
    request.once("error", reject);
    request.end(body);
  });
}

/** Throws where bytes are no UTF-8; an answer that was cut may end within a character. */
function utf8Text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
}

export function documentOf(answer: HttpAnswer): BatchAnswer {
  return JSON.parse(answer.body) as BatchAnswer;
}

/** The results of an NDJSON answer, and its last line. */
export function linesOf(answer: HttpAnswer): { results: BatchResult[]; summary: BatchSummary } {
  if (!answer.body.endsWith("\n")) throw new Error(`the last line has no end: ${answer.body.slice(-200)}`);
  const lines = answer.body
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { summary: lines.pop() as BatchSummary, results: lines as BatchResult[] };
}

/** The code of each result; `ok` for a record. */
export function codesOf(results: readonly BatchResult[]): string[] {
  return results.map(({ problem }) => problem?.code ?? "ok");
}

export function asLines(questions: readonly unknown[]): string {
  return questions.map((question) => `${JSON.stringify(question)}\n`).join("");
}

export function addresses(count: number): { kind: "ip"; value: string }[] {
  return Array.from({ length: count }, (_, index) => ({ kind: "ip", value: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` }));
}

/** A batch whose lines are sent and read by hand. */
export interface LineStream {
  readonly request: ClientRequest;
  send(text: string | Uint8Array): void;
  /** No more lines come. */
  end(): void;
  /** The next line of the answer; null after the last, or where it was cut off. */
  next(): Promise<string | null>;
  /** Whether the answer came whole. */
  isWhole(): boolean;
  response(): Promise<IncomingMessage>;
}

export function openLines(url: string, headers: Record<string, string>): LineStream {
  const request = httpRequest(url, { method: "POST", headers: { ...ndjson, ...headers }, agent: false });
  request.flushHeaders();
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  // Whoever awaits it is told; an answer that was given up is nobody's.
  answered.catch(() => {});
  request.on("error", () => {});
  let lines: AsyncGenerator<string> | null = null;
  let whole = false;
  async function* read(response: IncomingMessage): AsyncGenerator<string> {
    let rest = "";
    const body = unpacked(response);
    // What is broken off ends the reading, whatever it is read through.
    if (body !== response) response.once("error", () => body.destroy());
    body.setEncoding("utf8");
    try {
      for await (const piece of body) {
        const parts = (rest + piece).split("\n");
        rest = parts.pop() ?? "";
        yield* parts;
      }
      whole = response.complete && rest === "";
    } catch {
      // Cut off.
    }
  }
  return {
    request,
    send: (text) => void request.write(text),
    end: () => void request.end(),
    async next() {
      lines ??= read(await answered);
      const { value, done } = await lines.next();
      return done === true ? null : value;
    },
    isWhole: () => whole,
    response: () => answered,
  };
}

/** The rest of the answer. */
export async function restOf(stream: LineStream): Promise<{ results: BatchResult[]; summary: BatchSummary | null }> {
  const results: BatchResult[] = [];
  let summary: BatchSummary | null = null;
  for (let line = await stream.next(); line !== null; line = await stream.next()) {
    const value = JSON.parse(line) as BatchResult | BatchSummary;
    if ("index" in value) results.push(value);
    else summary = value;
  }
  return { results, summary };
}

/** Resolves when it holds; fails after a time that only a hanging gateway needs. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Sends these at the pace at which they are taken, in pieces of 500 lines, and then the end. */
export async function sendAll(stream: LineStream, questions: readonly unknown[]): Promise<void> {
  for (let sent = 0; sent < questions.length; sent += 500) {
    if (stream.request.write(asLines(questions.slice(sent, sent + 500)))) await new Promise(setImmediate);
    else await new Promise((resolve) => stream.request.once("drain", resolve));
  }
  stream.end();
}

/** Until a count that has begun goes on no more. */
export async function untilItStands(count: () => number): Promise<void> {
  let before = -1;
  await until(async () => {
    const stands = count() === before && before > 0;
    before = count();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stands;
  }, "a stand");
}
