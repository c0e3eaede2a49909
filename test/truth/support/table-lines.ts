/** Route tables as lines `prefix⇥origin⇥full-feed peers⇥all peers`, and in what two of them differ. */

/** A line of `dump routes` without its last column, the RPKI state. */
export function withoutState(line: string): string {
  return line.slice(0, line.lastIndexOf("\t"));
}

export interface Differences {
  readonly count: number;
  /** `+` only in the actual table, `-` only in the expected one. */
  readonly examples: readonly string[];
}

export const noDifferences: Differences = { count: 0, examples: [] };
const examplesMax = 10;

/** Compares two tables whatever their order. A line that appears twice in the actual one is one too many. */
export function differences(actual: Iterable<string>, expected: Iterable<string>): Differences {
  const wanted = new Set(expected);
  const found: string[] = [];
  for (const line of actual) if (!wanted.delete(line)) found.push(`+ ${line}`);
  for (const line of wanted) found.push(`- ${line}`);
  return { count: found.length, examples: found.slice(0, examplesMax) };
}

/**
 * The differences found when one line of the actual table is wrong: each column in turn, the line missing, the line twice.
 * A comparison that finds none of one of them is worth nothing.
 */
export function differencesWhenAltered(actual: readonly string[], expected: readonly string[]): Differences[] {
  const middle = actual.length >> 1;
  const line = actual[middle] ?? "";
  const columns = line.split("\t");
  const wrong = columns.map((value, column) => [columns.with(column, `${value}1`).join("\t")]);
  // Among its neighbours: a whole table once for each alteration takes seconds.
  const [before, after] = [actual.slice(Math.max(0, middle - 500), middle), actual.slice(middle + 1, middle + 500)];
  const near = new Set([...before, line, ...after]);
  const own = expected.filter((one) => near.has(one));
  return [...wrong, [], [line, line]].map((instead) => differences([...before, ...instead, ...after], own));
}
