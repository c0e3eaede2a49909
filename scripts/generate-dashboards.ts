/** Writes the Grafana dashboards, from observability/panels. */

import { dashboards } from "../observability/panels/dashboards.ts";
import { grafanaDashboard } from "../observability/panels/grafana.ts";

export const documents = dashboards.map((dashboard) => ({
  path: `observability/dashboards/${dashboard.name}.json`,
  content: () => `${JSON.stringify(grafanaDashboard(dashboard), null, 2)}\n`,
}));
