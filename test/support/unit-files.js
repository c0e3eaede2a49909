/** Jest's filter for `make test-unit`: the files that start no process, promise no deadlines and have no large inputs. */

import { isLarge, runsAlone, startsProcesses } from "./test-groups.ts";

async function unitFiles(paths) {
  return { filtered: paths.filter((path) => !startsProcesses(path) && !runsAlone(path) && !isLarge(path)) };
}

// Jest requires a filter and takes the module itself for the function.
export { unitFiles as "module.exports" };
