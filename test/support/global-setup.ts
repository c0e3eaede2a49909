/**
 * Runs before the tests: makes the folder for shared files, starts the owner of shared servers, and gets programs, because a download takes
 * longer than a test may. If a program cannot be found, the tests that need it fail.
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../../scripts/bundle.ts";
import { findMongodb } from "./mongodb.ts";
import { findNatsServer } from "./nats-server.ts";
import { findNsd } from "./nsd.ts";
import { testPrograms } from "./programs.ts";
import { runFolderVariable } from "./run-folder.ts";
import { startServerOwner } from "./server-owner.ts";
import { serverOwnerVariable } from "./shared-server.ts";
import { findZoneSigner } from "./signed-zones.ts";
import { findUnbound } from "./unbound.ts";

/** Resolves when nats-server was found or built, or when this has failed. */
export let natsServerSought: Promise<unknown> = Promise.resolve();

/** @param filter  set in the unit run, which starts no process. */
export default async function prepareRun({ filter }: { readonly filter?: string | undefined }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-run-"));
  process.env[runFolderVariable] = folder;
  if (filter) {
    // Threads of tests load their modules from the bundle.
    await bundle(folder);
    return;
  }
  // If it must be built, only test files that need it wait.
  natsServerSought = findNatsServer().catch(() => undefined);
  await bundle(folder, { further: Object.fromEntries(testPrograms().map((path) => [path.replace(/\.ts$/, ""), path])) });
  await findMongodb().catch(() => undefined);
  await findUnbound();
  await findNsd();
  await findZoneSigner();
  process.env[serverOwnerVariable] = await startServerOwner();
}
