/** Sources as a table, with what is wrong below it. */

import type { IngestSource } from "@netfacts/contracts";
import { none, tableLines } from "../output.ts";

export function sourceLines(sources: readonly IngestSource[]): string[] {
  const titles = ["name", "section", "state", "records", "as of", "fetched", "next"];
  const rows = sources.map(({ name, section, state, stale, accepted, as_of, schedule }) => [
    name,
    section,
    stale === true ? `${state}, stale` : state,
    accepted === null ? none : accepted.toLocaleString("en-US"),
    minutes(as_of),
    minutes(schedule?.fetched_at ?? null),
    minutes(schedule?.next_check_at ?? null),
  ]);
  const faults = sources.flatMap(({ name, error, schedule }) =>
    // What was last asked for, else what was last read.
    [...new Set([schedule?.error, schedule?.refused, error])].filter((fault) => fault != null).map((fault) => `${name}: ${fault}`),
  );
  return [...tableLines(titles, rows), ...(faults.length > 0 ? ["", ...faults] : [])];
}

function minutes(time: string | null): string {
  return time === null ? none : `${time.slice(0, 16).replace("T", " ")}Z`;
}
