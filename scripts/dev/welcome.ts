/** The text that `make dev` prints when all processes are ready. */

export interface Row {
  readonly name: string;
  readonly pid: number | null;
  /** Its URL, or its address and port; empty: it is reached only over NATS. */
  readonly at: string;
  /** URL of its metrics and health. */
  readonly operations: string;
}

export interface Welcome {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
  readonly key: string;
  readonly url: string;
  /** URL of the operator listener. */
  readonly operatorUrl: string;
  /** Environment that the command line needs. */
  readonly env: Readonly<Record<string, string>>;
}

/** Address in the printed request. */
export const exampleAddress = "193.0.6.139";

/** Lines for people; the line that begins with `curl` can be run unchanged. */
export function welcomeText({ rows, notes, key, url, operatorUrl, env }: Welcome): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [
    "",
    ...table([["process", "pid", "reached at", "metrics and health"], ...rows.map(cells)]),
    "",
    ...notes,
    `Your API key, shown only once: ${key}`,
    "",
    "Try it:",
    `curl -sS -H 'Authorization: Bearer ${key}' ${url}/api/v1/ip/${exampleAddress}`,
    "",
    "Keys and limits of these processes:",
    `${settings.join(" ")} bin/netfacts keys list`,
    "",
    `Pages for operators: ${operatorUrl}/`,
    `Operator API: ${operatorUrl}/docs/reference, with a key that has the scope admin:`,
    `${settings.join(" ")} bin/netfacts keys create --label operator --scopes admin`,
    "",
    "ready; press Ctrl-C to stop all processes in order, or twice to stop at once; all data are then deleted",
    "",
  ].join("\n");
}

function cells({ name, pid, at, operations }: Row): string[] {
  return [name, String(pid ?? ""), at || "over NATS", operations];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
