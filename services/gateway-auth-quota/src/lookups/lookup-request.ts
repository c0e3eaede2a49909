/** What a request asks a service: its question, how the answer is to be shown, and of which snapshot. */

import { hash } from "node:crypto";
import {
  decodeCursor,
  encodeQuery,
  type Format,
  isChanges,
  type LookupName,
  mediaTypes,
  membersOf,
  operations,
  type PastView,
  ProblemError,
  pastUnits,
  type Questions,
  type View,
  wholeRecord,
} from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";
import { notAcceptable, preferredType } from "../edge/accept.ts";
import { invalidParameter } from "../edge/invalid-parameter.ts";
import { searchOf } from "../edge/search.ts";
import type { Lookup } from "./lookups.ts";
import { QuestionReader } from "./question-reader.ts";

export interface LookupRequest<O extends LookupName> {
  readonly question: Questions[O];
  /** Units that it costs: of the rate limit, and of its key's share of the service (`operations`). */
  readonly units: number;
  readonly view: View;
  /** Question and view, encoded as the service gets them. */
  readonly query: string;
  /** The snapshot that must answer; null: the current one. */
  readonly pinnedSnapshot: string | null;
}

/** @throws ProblemError that lists every fault. */
export function readLookupRequest<O extends LookupName>(lookup: Lookup<O>, request: FastifyRequest): LookupRequest<O> {
  const { op } = lookup;
  const search = searchOf(request);
  const reader = new QuestionReader(request.params as Record<string, string>, search, lookup.parameters);
  const question = lookup.read(reader);
  // Few requests have a query string; without one there is nothing to read.
  const wish = search === "" ? noWish : readWish(lookup, reader);
  reader.finish();
  const format = wish.format ?? acceptedFormat(lookup, request.headers.accept);
  if (wish.fields !== null && format !== "json") throw onlyJson("fields");
  if (!wish.meta && format !== "json") throw onlyJson("meta");
  const place = wish.cursor === "" ? null : decodeCursor(op, question, wish.cursor);
  if (wish.cursor !== "" && place === null) throw invalidCursor("is incomplete, or belongs to a different request");
  const page = place?.page ?? null;
  if (page !== null && format !== "json" && page.list !== operations[op].listView?.list)
    throw invalidCursor(`belongs to the list ${page.list}, which is only available as JSON`);
  const past = isChanges(op)
    ? { at: place?.at ?? 0, snapshotId: place?.snapshotId ?? null, turn: 0 }
    : wish.at === null
      ? null
      : { at: wish.at, snapshotId: place?.snapshotId ?? null, turn: 0 };
  const isWhole = wish.fields === null && format === "json" && page === null && wish.meta && past === null;
  const view = isWhole ? wholeRecord : { fields: wish.fields, format, page, meta: wish.meta, ...(past !== null && { past }) };
  return {
    question,
    units: operations[op].units(question as never) + (wish.at === null ? 0 : pastUnits),
    view,
    query: encodeQuery(op, question, view),
    pinnedSnapshot: past === null ? (place?.snapshotId ?? null) : null,
  };
}

/** The query about the past as a service gets it: with a number for the caller, so that callers take turns. The entity tag does not depend on this number. */
export function queryFor<O extends LookupName>(op: O, { question, view }: LookupRequest<O>, caller: string): string {
  const past = { ...(view.past as PastView), turn: hash("sha256", caller, "buffer").readUInt32LE(0) };
  return encodeQuery(op, question, { ...view, past });
}

/** How the query string wants the answer. Format null: `Accept` decides. Empty cursor: the first page. */
interface Wish {
  readonly fields: readonly string[] | null;
  readonly format: Format | null;
  readonly cursor: string;
  readonly meta: boolean;
  /** Unix seconds; null: the present. */
  readonly at: number | null;
}

const noWish: Wish = { fields: null, format: null, cursor: "", meta: true, at: null };

function readWish<O extends LookupName>({ op, formats, pages }: Lookup<O>, reader: QuestionReader): Wish {
  const fields = reader.words("fields", membersOf(op));
  const format = reader.choice("format", formats);
  const meta = reader.flag("meta", true);
  return { fields, format, cursor: pages ? reader.text("cursor") : "", meta, at: reader.pastTime("as_of") };
}

function acceptedFormat({ formats }: Lookup<LookupName>, accept: string | undefined): Format {
  const offers = formats.map((format) => mediaTypes[format]) as [string, ...string[]];
  const type = preferredType(accept, offers);
  const format = formats.find((candidate) => mediaTypes[candidate] === type);
  if (format === undefined) throw notAcceptable(offers);
  return format;
}

function onlyJson(name: "fields" | "meta"): ProblemError {
  return invalidParameter(name, "is only supported for JSON; the other formats contain a single list");
}

function invalidCursor(message: string): ProblemError {
  return new ProblemError("invalid_cursor", {
    detail: `The cursor ${message}.`,
    errors: [{ location: "query.cursor", code: "invalid_cursor", message }],
  });
}
