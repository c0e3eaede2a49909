/** What a dashboard shows: rows of panels, each with its queries, its unit, and the pages to read when it looks bad. */

/** Labels of a panel for each process. */
export const each = "{{service}} {{instance}}";

export interface Query {
  /** `$namespace` and `$instance` are the dashboard's variables, `$__rate_interval` is Grafana's. */
  readonly expr: string;
  /** Text of the legend, with labels as `{{label}}`. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** What it shows, and what is good or bad. */
  readonly description: string;
  readonly kind: "lines" | "number";
  /** Of Grafana: `reqps`, `s`, `bytes`, `percentunit`, `short`. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** Values from which it is yellow, and red. A null is left out. */
  readonly thresholds?: readonly [warning: number | null, critical: number];
  /** Alerts whose runbooks the panel links to. */
  readonly alerts?: readonly string[];
  /** The axis begins at 0 unless values may be below. */
  readonly mayBeNegative?: boolean;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** Name of the file, and the end of its uid. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly rows: readonly Row[];
}

type More = Omit<Panel, "title" | "description" | "kind" | "unit" | "queries">;

export function lines(title: string, unit: string, description: string, queries: Readonly<Record<string, string>>, more: More = {}): Panel {
  return { title, description, kind: "lines", unit, queries: queriesOf(queries), ...more };
}

export function number(
  title: string,
  unit: string,
  description: string,
  queries: Readonly<Record<string, string>>,
  more: More = {},
): Panel {
  return { title, description, kind: "number", unit, queries: queriesOf(queries), ...more };
}

/** By legend. */
function queriesOf(queries: Readonly<Record<string, string>>): Query[] {
  return Object.entries(queries).map(([legend, expr]) => ({ legend, expr }));
}

/** The selector of every query, with more matchers. */
export function where(more = ""): string {
  return `{namespace=~"$namespace"${more === "" ? "" : `,${more}`}}`;
}

/** Per second. */
export function rate(metric: string, more = ""): string {
  return `rate(${metric}${where(more)}[$__rate_interval])`;
}

export function sum(expr: string, ...by: readonly string[]): string {
  return by.length === 0 ? `sum(${expr})` : `sum by (${by.join(", ")}) (${expr})`;
}

export function quantile(share: number, histogram: string, more = "", ...by: readonly string[]): string {
  return `histogram_quantile(${share}, ${sum(rate(`${histogram}_bucket`, more), "le", ...by)})`;
}
