/** Creates keys for a process whose store is in its data folder. */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../bin/netfacts", import.meta.url));

/** @param options  options of `netfacts keys create`. @returns the secret. */
export function keyOf(home: string, ...options: string[]): string {
  const args = ["keys", "create", "--label", "bench", ...options, "--data-dir", home, "--json"];
  return (JSON.parse(execFileSync(program, args, { encoding: "utf8" })) as { readonly secret: string }).secret;
}
