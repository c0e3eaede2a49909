/** Where inputs of full size are, for checks that only they can make. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = process.env.NETFACTS_TEST_DATA ?? fileURLToPath(new URL("../../../../../shared/data", import.meta.url));

/** Folders of the test data; null, and a line that says so, where they are not here. */
export function fullSizeData(...folders: string[]): string[] | null {
  const paths = folders.map((folder) => join(root, folder));
  if (paths.every((path) => existsSync(path))) return paths;
  console.log(`not run: no test data in ${root}`);
  return null;
}
