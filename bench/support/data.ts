/** Finds the full-size inputs. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The folder of full-size inputs. Ends the process with a message if it is missing. */
export function requireData(): string {
  const folder = process.env.NETFACTS_TEST_DATA ?? join(root, "../shared/data");
  if (!existsSync(folder)) {
    console.log(`not run: the full-size data are not in ${folder}; name their folder in NETFACTS_TEST_DATA`);
    process.exit(0);
  }
  return folder;
}
