/** Sources as a table, with their faults below it. */

import type { IngestSource } from "@netfacts/contracts";
import { none, tableLines } from "../output.ts";

/** @param now  Unix ms: a source whose time has passed is due as soon as a process follows the list. */
export function sourceLines(sources: readonly IngestSource[], now: number): string[] {
  const titles = ["name", "section", "state", "records", "as of", "fetched", "next"];
  const rows = sources.map(({ name, section, state, stale, accepted, as_of, schedule }) => [
    name,
    section,
    stale === true ? `${state}, stale` : state,
    accepted === null ? none : accepted.toLocaleString("en-US"),
    minutes(as_of),
    minutes(schedule?.fetched_at ?? null),
    nextCheck(schedule?.next_check_at ?? null, now),
  ]);
  const faults = sources.flatMap(({ name, error, schedule }) =>
    // Faults of the last fetch, and of the last read.
    [...new Set([schedule?.error, schedule?.refused, error])].filter((fault) => fault != null).map((fault) => `${name}: ${fault}`),
  );
  return [...tableLines(titles, rows), ...(faults.length > 0 ? ["", ...faults] : [])];
}

function nextCheck(time: string | null, now: number): string {
  return time !== null && Date.parse(time) <= now ? "due" : minutes(time);
}

function minutes(time: string | null): string {
  return time === null ? none : `${time.slice(0, 16).replace("T", " ")}Z`;
}
