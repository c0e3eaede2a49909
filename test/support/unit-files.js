/** Jest's filter for `make test-unit`: files that start no process, test no deadlines and have no large inputs. */

import { isLarge, runsAlone, startsProcesses } from "./test-groups.ts";

async function unitFiles(paths) {
  return { filtered: paths.filter((path) => !startsProcesses(path) && !runsAlone(path) && !isLarge(path)) };
}

// Jest loads a filter with `require`, and uses the module itself as the function.
export { unitFiles as "module.exports" };
