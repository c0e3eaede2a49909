/** The one way in which every data route answers: key, limits, question, service, bytes. */

import { encodeQuestion, type OperationName, operations, ProblemError, type Questions } from "@netfacts/contracts";
import type { ReplyItem } from "@netfacts/messaging";
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import { accepts } from "./accept.ts";
import { matchesEtag, weakEtag } from "./conditional.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Guard } from "./guard.ts";
import type { Lookup } from "./lookups.ts";
import { QuestionReader } from "./question-reader.ts";

/** What the answer depends on besides its URL. */
const vary = "Authorization, Accept";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Costs a unit of the month. */
  readonly counted: boolean;
}

/** The handler of one data route. */
export function lookupHandler<O extends OperationName>(lookup: Lookup<O>, guard: Guard, dispatcher: Dispatcher): RouteHandlerMethod {
  const { scope } = operations[lookup.op];
  return async (request, reply) => {
    const pass = await guard.admit(request, reply, scope, 1);
    let answer: Answer | undefined;
    try {
      requireJson(request);
      const query = encodeQuestion(lookup.op, readQuestion(lookup, request));
      answer = answerOf(lookup.op, query, await dispatcher.ask(lookup.op, query, request), request);
    } finally {
      pass.settle(answer?.counted ?? false);
    }
    return send(reply, answer);
  };
}

/** The raw query string of the request, without `?`. */
export function searchOf(request: FastifyRequest): string {
  const { url } = request;
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

/** @throws ProblemError unless the caller takes JSON. */
export function requireJson(request: FastifyRequest): void {
  if (!accepts(request.headers.accept, "application", "json")) throw new ProblemError("not_acceptable");
}

function readQuestion<O extends OperationName>(lookup: Lookup<O>, request: FastifyRequest): Questions[O] {
  const reader = new QuestionReader(request.params as Record<string, string>, searchOf(request), lookup.parameters);
  const question = lookup.read(reader);
  reader.finish();
  return question;
}

function answerOf(op: OperationName, query: string, item: ReplyItem, request: FastifyRequest): Answer {
  const headers: Record<string, string> = {
    "cache-control": item.cacheable ? `private, max-age=${item.maxAgeSeconds}` : "no-store",
    vary,
  };
  if (item.etag !== "") {
    const etag = weakEtag(op, query, item.etag);
    headers.etag = etag;
    if (matchesEtag(request.headers["if-none-match"], etag)) return { status: 304, headers, body: null, counted: false };
  }
  headers["content-type"] = "application/json; charset=utf-8";
  return { status: item.status, headers, body: item.body, counted: item.counted && item.status < 300 };
}

function send(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  reply.code(status).headers(headers);
  return body === null ? reply.send() : reply.send(body);
}
