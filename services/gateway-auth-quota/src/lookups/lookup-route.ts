/** The one way in which every data route answers: key, limits, question, service, bytes. */

import { contentTypes, encodeCursor, errors, type LookupName, operations, ProblemError } from "@netfacts/contracts";
import type { ReplyItem } from "@netfacts/messaging";
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { CallerTurns } from "../edge/caller-turns.ts";
import type { Compressor, PackedBody } from "../edge/compression.ts";
import { echoPath } from "../edge/echo.ts";
import type { Guard } from "../edge/guard.ts";
import type { LoadShedder, ShedName } from "../edge/load-shedding.ts";
import { searchOf } from "../edge/search.ts";
import { conditionOf, dataTimeOf, type SnapshotChanges, weakEtag } from "./conditional.ts";
import { contextOf, type Dispatcher } from "./dispatcher.ts";
import { type LookupRequest, queryFor, readLookupRequest } from "./lookup-request.ts";
import type { Lookup } from "./lookups.ts";

/** `Vary` of an answer: the request headers that it depends on. */
export const vary = "Authorization, Accept, Accept-Encoding, Origin";

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | null;
  /** Costs a unit of the month. */
  readonly counted: boolean;
}

export interface LookupDeps {
  readonly guard: Guard;
  readonly dispatcher: Dispatcher;
  readonly compressor: Compressor;
  readonly shedder: LoadShedder;
  readonly turns: CallerTurns;
  readonly changes: SnapshotChanges;
}

/** The handler of one data route. */
export function lookupHandler<O extends LookupName>(lookup: Lookup<O>, deps: LookupDeps): RouteHandlerMethod {
  const { guard, dispatcher, compressor, shedder, turns, changes } = deps;
  const { scope, service } = operations[lookup.op];
  const respond = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    let place: ShedName = service;
    try {
      // First, so that a shed request costs neither work nor units.
      shedder.enter(place);
      const asked = readOrFault(lookup, request);
      if (!(asked instanceof ProblemError) && asked.view.past !== undefined) {
        shedder.leave(place);
        place = "history";
        shedder.enter(place);
      }
      const admitted = guard.admit(request, reply, scope, 1, lookup.op, asked instanceof ProblemError ? 1 : asked.units);
      const pass = admitted instanceof Promise ? await admitted : admitted;
      let answer: Answer | undefined;
      let failed = false;
      try {
        if (asked instanceof ProblemError) throw asked;
        const sentAt = performance.now();
        const { view } = asked;
        const query = view.past === undefined ? asked.query : queryFor(lookup.op, asked, pass.key.bucket);
        const question = { op: lookup.op, ...asked, query, isPast: view.past !== undefined, context: contextOf(request, pass.key) };
        const item = await shedder.within(place, pass.key.bucket, () => dispatcher.ask(question));
        const upstreamMs = performance.now() - sentAt;
        const turn = turns.next(pass.key.bucket, request.raw.socket);
        if (turn !== null) await turn;
        answer = answerOf(lookup.op, asked, item, request, changes);
        answer.headers["server-timing"] = serverTiming(reply.elapsedTime, upstreamMs);
      } catch (error) {
        failed = !(error instanceof ProblemError) || errors[error.code].status >= 500;
        throw error;
      } finally {
        pass.settle(answer?.counted ?? false, failed);
      }
      const packing = answer.body === null ? null : compressor.pack(answer.body, request.headers["accept-encoding"]);
      send(reply, answer, packing === null ? null : await packing);
    } finally {
      shedder.leave(place);
    }
  };
  // The framework gets no promise: if that resolved before the answer may leave (`turnToAnswer`), it would send a second answer.
  return (request, reply) => void respond(request, reply).catch((error) => reply.send(error));
}

/**
 * Reads the question before the key is checked, because its cost must be known when it is admitted. A fault is returned, not thrown: only a caller with a
 * valid key is told.
 */
function readOrFault<O extends LookupName>(lookup: Lookup<O>, request: FastifyRequest): LookupRequest<O> | ProblemError {
  try {
    return readLookupRequest(lookup, request);
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
}

/** Milliseconds with one decimal (Server Timing, W3C): here, and at the service with the way there. */
function serverTiming(totalMs: number, upstreamMs: number): string {
  // Both times end at different moments: on a busy machine the difference can fall below zero.
  return `gateway;dur=${tenths(Math.max(0, totalMs - upstreamMs))}, upstream;dur=${tenths(upstreamMs)}`;
}

/** One decimal, written from integers: formatting a fraction costs several times as much. */
function tenths(ms: number): string {
  const count = Math.round(ms * 10);
  return `${Math.trunc(count / 10)}.${count % 10}`;
}

/** @throws ProblemError when the caller's condition fails. */
function answerOf<O extends LookupName>(
  op: O,
  asked: LookupRequest<O>,
  item: ReplyItem,
  request: FastifyRequest,
  changes: SnapshotChanges,
): Answer {
  const etag = item.etag === "" ? null : weakEtag(op, asked.query, item.etag);
  const { past, page } = asked.view;
  // Later pages and answers about the past have a snapshot of their own: their date is the time of its data, and is never compared.
  const isCurrent = past === undefined && page === null;
  const lastModified = isCurrent ? changes.since(item.snapshotId) : dataTimeOf(item.snapshotId);
  const headers: Record<string, string> = {
    "cache-control": item.cacheable ? `private, max-age=${item.maxAgeSeconds}` : "no-store",
    vary,
  };
  if (etag !== null) headers.etag = etag;
  if (lastModified !== null) headers["last-modified"] = lastModified.text;
  // `Last-Modified` does not change when an answer changes with the clock, as when data become stale or a VRP expires.
  const isComparable = isCurrent && item.maxAgeSeconds > 0;
  const condition = conditionOf(request.headers, { etag, lastModified: isComparable ? lastModified : null });
  if (condition === "failed") throw new ProblemError("precondition_failed");
  const counted = item.counted && item.status < 300;
  // A 304 is free for a caller that has paid for this very answer. It repeats nothing of it, not even the link to the next page.
  if (condition !== "proceed") return { status: 304, headers, body: null, counted: counted && condition === "assumed" };
  const next = item.next === undefined ? null : nextLink(op, asked, item.snapshotId, item.next, request);
  if (next !== null) headers.link = next;
  headers["content-type"] = contentTypes[asked.view.format];
  return { status: item.status, headers, body: item.body, counted };
}

/** Link to the next page (RFC 8288), for formats without room for a cursor: this URL with the next cursor. Null: there is no such list. */
function nextLink<O extends LookupName>(
  op: O,
  { question }: LookupRequest<O>,
  snapshotId: string,
  start: number,
  request: FastifyRequest,
): string | null {
  const list = operations[op].listView?.list;
  if (list === undefined) return null;
  const search = new URLSearchParams(searchOf(request));
  search.set("cursor", encodeCursor(op, question, { snapshotId, page: { list, start } }));
  return `<${echoPath(request.url)}?${search}>; rel="next"`;
}

function send(reply: FastifyReply, { status, headers, body }: Answer, packed: PackedBody | null): void {
  reply.code(status).headers(headers);
  if (packed !== null) reply.header("content-encoding", packed.coding).send(packed.body);
  else if (body === null) reply.send();
  else reply.send(body);
}
