/** The full-size inputs outside of the repository, where there are any. */

import { existsSync } from "node:fs";
import { join } from "node:path";

const folder = process.env.NETFACTS_TEST_DATA || join(import.meta.dirname, "../../../..", "shared/data");

/** Full paths of files named relative to the data folder, or null after one plain line that says what was not run. */
export function testDataOrNotRun<const Names extends readonly string[]>(what: string, names: Names): { [I in keyof Names]: string } | null {
  const paths = names.map((name) => join(folder, name));
  const missing = paths.find((path) => !existsSync(path));
  if (missing === undefined) return paths as { [I in keyof Names]: string };
  console.log(`not run: ${what} (${missing} is not there)`);
  return null;
}
