/** The rules with durations of seconds. */

import { ruleFile } from "../../observability/alerts/index.ts";

/** What a minute of a rule takes, ms. */
const minuteMs = 200;
/** Alerts whose cause has a pace of its own. */
const minutesOf: Readonly<Record<string, number>> = {
  // Runs of the healthy system succeeded before.
  NetfactsIngestFailing: 100,
  // A process takes seconds for each start, and the store that long to be given up.
  NetfactsRestarting: 2_000,
  NetfactsIngestLeaseErrors: 1_000,
  // Between two failures of the database lies the time that it is waited for.
  NetfactsStoreUnavailable: 1_750,
  // So many requests take seconds under light load.
  NetfactsServiceUnanswered: 1_000,
  NetfactsReverseDnsFailing: 400,
  // Pods load a snapshot one after the other, and a busy machine takes its time.
  NetfactsSnapshotsDiffer: 600,
};

interface Group {
  readonly rules: readonly { readonly alert?: string }[];
}

/** @param shortestMs  which no window and no waiting goes below. */
export function shortRules(shortestMs: number): ReturnType<typeof ruleFile> {
  const shortened = (ofMinute: number) =>
    ruleFile((seconds) => `${Math.max(shortestMs, Math.round((seconds * ofMinute) / 60))}ms`).groups as readonly Group[];
  const paced = new Map(
    Object.entries(minutesOf).map(([name, ofMinute]) => [
      name,
      shortened(ofMinute)
        .flatMap(({ rules }) => rules)
        .find(({ alert }) => alert === name),
    ]),
  );
  return {
    groups: shortened(minuteMs).map((group) => ({ ...group, rules: group.rules.map((rule) => paced.get(rule.alert ?? "") ?? rule) })),
  };
}
