/** schemathesis, which searches for answers that violate an OpenAPI document. From PATH, the cache, or PyPI (in a separate environment). */

import { join } from "node:path";
import { type FoundTool, findInstalledTool } from "./debian.ts";
import { findPythonWith } from "./python-packages.ts";

/** Version of schemathesis; `schemathesis-requirements.txt` pins its dependencies. */
const schemathesisVersion = "4.32.5";
const requirements = join(import.meta.dirname, "schemathesis-requirements.txt");

/** Looks at `SCHEMATHESIS` in the environment, then in PATH, the cache and the registry. Cost the first time: ten seconds. */
export async function findSchemathesis(): Promise<FoundTool> {
  const installed = await findInstalledTool({ name: "schemathesis", variable: "SCHEMATHESIS" });
  return installed ?? findPythonWith(`schemathesis-${schemathesisVersion}`, ["-r", requirements]);
}

/** Arguments of the program before those of schemathesis. */
export function schemathesisArguments({ command }: Extract<FoundTool, { found: true }>): string[] {
  return command.endsWith("/python") ? ["-m", "schemathesis.cli"] : [];
}
