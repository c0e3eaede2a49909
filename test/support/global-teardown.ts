/** Runs after the tests: stops shared servers and removes shared files. */

import { rmSync } from "node:fs";
import { natsServerSought } from "./global-setup.ts";
import { runFolderVariable } from "./run-folder.ts";
import { stopServerOwner } from "./server-owner.ts";

export default async function removeShared(): Promise<void> {
  await stopServerOwner();
  await natsServerSought;
  const folder = process.env[runFolderVariable];
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
