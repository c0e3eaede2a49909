/**
 * The service level objectives, over 30 days: the share of requests to the API that do not fail, and the share of lookups that are fast.
 * Burn rates over two windows each: https://sre.google/workbook/alerting-on-slos/.
 */

import { type Alert, days, hours, minutes, type Times } from "./alert.ts";

/** Share of the requests to the API that must not get a 5xx. */
export const availabilityObjective = 0.999;
/** Share of the lookups that must end within `fastSeconds`. */
export const latencyObjective = 0.99;
/** A bound of the histogram's buckets. */
const fastSeconds = 0.25;

/** Refusals because of the caller's own connection or missing key are answered before a route is chosen: no route counts them. */
const api = 'service="gateway-auth-quota",route=~"/api/.*"';
/** Batches last as long as their items, and reverse DNS as long as nameservers of others. */
const lookups = `${api},route!~".*/(batch|reverse-dns).*"`;

export interface Recording {
  readonly record: string;
  readonly expr: string;
}

interface Objective {
  readonly name: string;
  readonly what: string;
  /** Share of requests that miss it, recorded for each window as `<record>:ratio_rate<window>`. */
  readonly record: string;
  readonly budget: number;
  /** Requests of the window that missed it, per second. */
  missed(window: string): string;
  total(window: string): string;
}

export const objectives: readonly Objective[] = [
  {
    name: "Error",
    what: "requests to the API fail",
    record: "netfacts:failed_requests",
    budget: 1 - availabilityObjective,
    missed: (window) => `sum by (namespace) (rate(netfacts_http_requests_total{${api},status=~"5.."}[${window}]))`,
    total: (window) => `sum by (namespace) (rate(netfacts_http_requests_total{${api}}[${window}]))`,
  },
  {
    name: "Latency",
    what: `lookups take longer than ${fastSeconds * 1_000} ms`,
    record: "netfacts:slow_lookups",
    budget: 1 - latencyObjective,
    missed: (window) =>
      `(sum by (namespace) (rate(netfacts_http_request_duration_seconds_count{${lookups}}[${window}]))` +
      ` - sum by (namespace) (rate(netfacts_http_request_duration_seconds_bucket{${lookups},le="${fastSeconds}"}[${window}])))`,
    total: (window) => `sum by (namespace) (rate(netfacts_http_request_duration_seconds_count{${lookups}}[${window}]))`,
  },
];

/** Windows in seconds, with the name that a recorded series has whatever the test makes of the length. */
const windows = new Map([
  ["5m", 5 * minutes],
  ["30m", 30 * minutes],
  ["1h", hours],
  ["2h", 2 * hours],
  ["6h", 6 * hours],
  ["1d", days],
  ["3d", 3 * days],
]);

interface Burn {
  readonly long: string;
  readonly short: string;
  /** Times the rate at which the budget of 30 days would just be used up. */
  readonly factor: number;
}

const fast: readonly Burn[] = [
  { long: "1h", short: "5m", factor: 14.4 },
  { long: "6h", short: "30m", factor: 6 },
];
const slow: readonly Burn[] = [
  { long: "1d", short: "2h", factor: 3 },
  { long: "3d", short: "6h", factor: 1 },
];
/** With fewer requests than this in the long window, a share of them says nothing. */
const missedMin = 10;

export function recordings(time: Times): Recording[] {
  return objectives.flatMap(({ record, missed, total }) =>
    [...windows].flatMap(([name, seconds]) => [
      { record: `${record}:rate${name}`, expr: missed(time(seconds)) },
      { record: `${record}:ratio_rate${name}`, expr: `${record}:rate${name} / ${total(time(seconds))}` },
    ]),
  );
}

export function objectiveAlerts(time: Times): Alert[] {
  return objectives.flatMap(({ name, what, record, budget }) => {
    const burns = (list: readonly Burn[]): string => list.map((burn) => exceeds(burn, record, budget, time)).join(" or ");
    const objective = `${Math.round((1 - budget) * 1_000) / 10} %`;
    return [
      {
        name: `Netfacts${name}BudgetBurnsFast`,
        expr: burns(fast),
        holds: time(2 * minutes),
        severity: "critical",
        summary: `{{ $value | humanizePercentage }} of ${what}`,
        description: `So many ${what} that the budget of 30 days (objective ${objective}) is used up within five days.`,
      },
      {
        name: `Netfacts${name}BudgetBurnsSlowly`,
        expr: burns(slow),
        holds: time(15 * minutes),
        severity: "warning",
        summary: `{{ $value | humanizePercentage }} of ${what}, for hours`,
        description: `So many ${what} that the budget of 30 days (objective ${objective}) is used up before these days end.`,
      },
    ] satisfies Alert[];
  });
}

function exceeds({ long, short, factor }: Burn, record: string, budget: number, time: Times): string {
  const threshold = Number((factor * budget).toPrecision(6));
  const seconds = windows.get(long) ?? 0;
  return (
    `(${record}:ratio_rate${long} > ${threshold} and ${record}:ratio_rate${short} > ${threshold}` +
    ` and ${record}:rate${long} * ${secondsOf(time(seconds))} >= ${missedMin})`
  );
}

/** `5m` → 300, of one number and one unit. */
export function secondsOf(duration: string): number {
  const [, count = "0", unit = "s"] = /^(\d+)(ms|[smhd])$/.exec(duration) ?? [];
  return Number(count) * ({ ms: 0.001, s: 1, m: minutes, h: hours, d: days }[unit] ?? 1);
}
