/** Every alert, by group, and the rule file that Prometheus reads. */

import { type Alert, minutes, type Times, times } from "./alert.ts";
import { dataAlerts } from "./data.ts";
import { gatewayAlerts } from "./gateway.ts";
import { objectiveAlerts, recordings } from "./objectives.ts";
import { processAlerts } from "./processes.ts";

export type { Alert, Times } from "./alert.ts";
export { times } from "./alert.ts";

/** Where an alert's page is, from the repository's root; a chart or a site puts its own address in front. */
export const runbooks = "docs/operations/runbooks/";

function alertGroups(time: Times = times): Readonly<Record<string, readonly Alert[]>> {
  return {
    "netfacts-objectives": objectiveAlerts(time),
    "netfacts-data": dataAlerts(time),
    "netfacts-gateway": gatewayAlerts(time),
    "netfacts-processes": processAlerts(time),
  };
}

export function alerts(): Alert[] {
  return Object.values(alertGroups()).flat();
}

/** As a file of Prometheus, and as `spec` of a PrometheusRule. */
export function ruleFile(time: Times = times): { readonly groups: readonly object[] } {
  const recorded = { name: "netfacts-recordings", interval: time(minutes / 2), rules: recordings(time) };
  const alerting = Object.entries(alertGroups(time)).map(([name, list]) => ({
    name,
    interval: time(minutes / 2),
    rules: list.map(({ name: alert, expr, holds, severity, summary, description }) => ({
      alert,
      expr,
      for: holds,
      labels: { severity },
      annotations: { summary, description, runbook_url: `${runbooks}${alert}.md` },
    })),
  }));
  return { groups: [recorded, ...alerting] };
}
