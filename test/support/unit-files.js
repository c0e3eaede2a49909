/** Jest's filter for `make test-unit`: the files that start no process. */

import { startsProcesses } from "./test-groups.ts";

async function unitFiles(paths) {
  return { filtered: paths.filter((path) => !startsProcesses(path)) };
}

// Jest requires a filter and takes the module itself for the function.
export { unitFiles as "module.exports" };
