/** After the tests: removes what their files shared. */

import { rmSync } from "node:fs";
import { runFolderVariable } from "./run-folder.ts";

export default function removeShared(): void {
  const folder = process.env[runFolderVariable];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
