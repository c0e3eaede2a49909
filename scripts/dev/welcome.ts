/** What `make dev` tells once all processes are ready. */

export interface Row {
  readonly name: string;
  readonly pid: number | null;
  /** Where it is reached: a URL, or an address and a port; empty: over NATS only. */
  readonly at: string;
  /** Where its metrics and health are. */
  readonly operations: string;
}

export interface Welcome {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
  readonly key: string;
  readonly url: string;
  /** Where operators are served. */
  readonly operatorUrl: string;
  /** What the command line needs in its environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** What the printed request asks about. */
export const exampleAddress = "193.0.6.139";

/** Lines for people; the line that begins with `curl` works as it stands. */
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
