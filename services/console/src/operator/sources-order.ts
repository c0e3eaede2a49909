/** Order of sources for operators, failing ones first, and advice for them. Pure. */

import type { IngestSource } from "@netfacts/contracts";

const ranks: Readonly<Record<IngestSource["state"], number>> = { failed: 0, kept: 1, unknown: 3, read: 4 };

const rankOf = ({ state, stale }: IngestSource) => (stale === true && ranks[state] > 2 ? 2 : ranks[state]);

/** Failed sources first, then those with an older version in service, then stale ones; otherwise in the order of the list. */
export function failingFirst(sources: readonly IngestSource[]): IngestSource[] {
  return sources.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Advice for a source; null: no action is needed. */
export function adviceFor({ state, error, stale, required, schedule }: IngestSource): string | null {
  if (error !== null) {
    const served =
      state === "kept"
        ? "The previous version stays in service."
        : required
          ? "Runs fail until it can be read."
          : "Answers are without it.";
    return `${served} ${remedyOf(error, schedule?.next_check_at !== null && schedule !== null)}`;
  }
  if (stale === true) return "No newer version was published, or none was fetched. Check its location, or look for a newer file.";
  if (state === "unknown") return "No stored run read it. Start a run.";
  return null;
}

function remedyOf(error: string, isChecked: boolean): string {
  const again = isChecked ? "Ingest asks again by itself." : "Start a run to ask again.";
  if (/\bshr(?:a|u|i)nk/.test(error)) return "If so many records are really gone, start a run that accepts it.";
  if (/bad_records_max/.test(error))
    return "Too many records are invalid: the report of the run shows examples. Fix the file, or set bad_records_max for this source.";
  if (/status 40[13]/.test(error)) return "The server refuses us: check the credentials and the location in the list of sources.";
  if (/status 4\d\d/.test(error)) return "The location may have changed: check it in the list of sources.";
  if (/status 5\d\d|timed? ?out|time limit|ECONN|ENOTFOUND|EAI_AGAIN|unreachable|socket|network/i.test(error))
    return `The server or the way to it fails. ${again}`;
  if (/no usable version/.test(error)) return `See the log of ingest for what was wrong with each version. ${again}`;
  if (/ENOENT|no such file/i.test(error)) return "The file does not exist: check the path in the list of sources.";
  return `The content cannot be used. Check the file and its format in the list of sources. ${again}`;
}
