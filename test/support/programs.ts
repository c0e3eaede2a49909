/** How tests start the programs: as the bundle that the run has made, which starts in a third of the time that the sources take. */

import { join, resolve } from "node:path";
import { runFolderVariable } from "./run-folder.ts";

const root = resolve(import.meta.dirname, "../..");

export type Program = "standalone" | "gateway-auth-quota" | "ip-routing" | "asn-prefix" | "rdns-resolver" | "ingest" | "cli";

/** Arguments of Node. Outside a run of tests (the soak): of the sources. */
export function programArgs(program: Program): string[] {
  const main = `services/${program}/src/main`;
  const run = process.env[runFolderVariable];
  return run === undefined ? ["--conditions=source", join(root, `${main}.ts`)] : [join(run, "bundle", `${main}.js`)];
}
