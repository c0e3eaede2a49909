/** What an alert says: its query, how long it must hold, who is told, and what they read first. */

export interface Alert {
  /** Begins with `Netfacts`; its page is `docs/operations/runbooks/<name>.md`. */
  readonly name: string;
  readonly expr: string;
  /** How long `expr` must hold, as a duration of the rules (`Times`). */
  readonly holds: string;
  /** `critical`: callers are affected, or soon will be: wake somebody. `warning`: look at it in the working day. */
  readonly severity: "critical" | "warning";
  /** One line, with labels of the alert as `{{ $labels.x }}`. */
  readonly summary: string;
  /** What it means for callers, in one or two sentences. */
  readonly description: string;
}

/** Writes a duration, given in seconds, as Prometheus reads it. A test passes one that shortens them. */
export type Times = (seconds: number) => string;

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** `300` → `5m`. */
export const times: Times = (seconds) => {
  for (const [unit, length] of units) if (seconds >= length && seconds % length === 0) return `${seconds / length}${unit}`;
  throw new RangeError(`not a whole number of seconds above 0: ${seconds}`);
};

export const minutes = 60;
export const hours = 3_600;
export const days = 86_400;

/** Adds the label `service` to a metric of a Node process, and leaves out processes that are not ours. */
export function ofOurs(metric: string): string {
  return `${metric} * on (namespace, job, instance) group_left (service) netfacts_process_info`;
}
