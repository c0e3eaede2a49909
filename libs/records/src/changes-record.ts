/** Questions about changes: reads a query, and builds the record of a page. */

import { hash } from "node:crypto";
import {
  type ChangesName,
  decodeQuery,
  encodeCursor,
  type Meta,
  type Questions,
  type RecordOf,
  shownMembers,
  timestamp,
  type View,
} from "@netfacts/contracts";
import type { Manifest } from "@netfacts/snapshot";
import type { RecordAnswer } from "./answer.ts";
import type { ChangeSubject } from "./changes.ts";
import { type ChangesPage, type ChangesPlace, type ChangesRefusal, type ChangesWalk, changesSubject, snapshotOf } from "./changes-walk.ts";

/** The subject of each operation. */
const subjects: { readonly [O in ChangesName]: (question: Questions[O]) => ChangeSubject } = {
  asn_changes: ({ asn }) => ({ asn }),
  prefix_changes: ({ prefix }) => ({ prefix }),
};

export interface ChangesAsked<O extends ChangesName> {
  readonly op: O;
  readonly question: Questions[O];
  readonly view: View;
  readonly walk: Omit<ChangesWalk, "msMax">;
}

/** The time that caches may keep a page, in seconds. For this long, their readers may miss a new snapshot. */
const maxAgeSeconds = 60;

export function changesQuestion<O extends ChangesName>(op: O, query: string): ChangesAsked<O> {
  const { question, view } = decodeQuery(op, query);
  const { limit }: { readonly limit: number } = question;
  const { past, page } = view;
  if (past === undefined) throw new Error("the question does not say who asks");
  const place: ChangesPlace | null =
    past.snapshotId === null ? null : { snapshotId: past.snapshotId, at: past.at, shown: (page?.start ?? 1) - 1 };
  return { op, question, view, walk: { subject: subjects[op](question), place, limit, turn: past.turn } };
}

export function isRefusal(found: ChangesPage | ChangesRefusal): found is ChangesRefusal {
  return "refusal" in found;
}

/** @param latest  manifest of the latest snapshot; null: not known. */
export function changesAnswer<O extends ChangesName>(
  { op, question, view, walk: { subject } }: ChangesAsked<O>,
  { publications, items, skipped, next }: ChangesPage,
  latest: Manifest | null,
  { requestId, nowMs }: { readonly requestId: string; readonly nowMs: number },
): RecordAnswer {
  const [first, last] = [publications[0], publications.at(-1)];
  if (first === undefined || last === undefined) throw new Error("nothing is kept");
  const cursor =
    next === null ? null : { snapshotId: next.snapshotId, at: next.at, page: { list: "changes" as const, start: next.shown + 1 } };
  const record: Omit<RecordOf<ChangesName>, "meta"> = {
    subject: changesSubject(subject),
    earliest: first.at,
    latest: last.at,
    changes: {
      items: [...items],
      skipped: skipped.map(snapshotOf),
      next_cursor: cursor === null ? null : encodeCursor(op, question, cursor),
    },
  };
  const warnings: Meta["warnings"] = [];
  if (next !== null && (view.fields === null || view.fields.includes("changes")))
    warnings.push({ code: "truncated", detail: `changes shows ${items.length}; earlier snapshots are on the next page` });
  if (latest?.sample_data === true) warnings.push({ code: "sample_data", detail: "this response uses the sample dataset" });
  const meta: Meta = { request_id: requestId, generated_at: timestamp(nowMs), data: {}, warnings };
  // Contains the ids of the snapshots, which no other answer to the same question has: only a client that got this answer has its tag.
  const basis = JSON.stringify([record, publications, warnings.map(({ code }) => code)]);
  return {
    status: 200,
    contentType: "json",
    body: Buffer.from(JSON.stringify(shownMembers({ ...record, meta }, view))),
    counted: true,
    cacheable: true,
    maxAgeSeconds,
    etag: hash("sha256", basis, "base64url").slice(0, 22),
    snapshotId: last.id,
  };
}
