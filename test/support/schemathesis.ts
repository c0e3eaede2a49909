/** schemathesis, which reads an OpenAPI document and looks for answers that are not as it says. From PATH, the cache, or PyPI into an environment of its own. */

import { join } from "node:path";
import { type FoundTool, findInstalledTool } from "./debian.ts";
import { findPythonWith } from "./python-packages.ts";

/** Of schemathesis; what it needs is pinned beside (`schemathesis-requirements.txt`). */
export const schemathesisVersion = "4.32.5";
const requirements = join(import.meta.dirname, "schemathesis-requirements.txt");

/** `SCHEMATHESIS` in the environment, PATH, the cache, the registry. Cost the first time: ten seconds. */
export async function findSchemathesis(): Promise<FoundTool> {
  const installed = await findInstalledTool({ name: "schemathesis", variable: "SCHEMATHESIS" });
  return installed ?? findPythonWith(`schemathesis-${schemathesisVersion}`, ["-r", requirements]);
}

/** Its arguments before those of the command line. */
export function schemathesisArguments({ command }: Extract<FoundTool, { found: true }>): string[] {
  return command.endsWith("/python") ? ["-m", "schemathesis.cli"] : [];
}
