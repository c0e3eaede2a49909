/**
 * Before the tests: makes the folder of what their files share, lets them ask for shared servers, and gets the programs that take longer
 * than a test may. A program that cannot be had fails the tests that need it.
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

/** Resolves when nats-server was found or built, or cannot be. */
export let natsServerSought: Promise<unknown> = Promise.resolve();

/** @param filter  of the unit run, which starts no process. */
export default async function prepareRun({ filter }: { readonly filter?: string | undefined }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-run-"));
  process.env[runFolderVariable] = folder;
  if (filter) {
    // Its threads load their modules from the bundle.
    await bundle(folder);
    return;
  }
  // Where it has to be built, files that need it wait for it, and others run meanwhile.
  natsServerSought = findNatsServer().catch(() => undefined);
  await bundle(folder, { further: Object.fromEntries(testPrograms().map((path) => [path.replace(/\.ts$/, ""), path])) });
  await findMongodb().catch(() => undefined);
  await findUnbound();
  await findNsd();
  await findZoneSigner();
  process.env[serverOwnerVariable] = await startServerOwner();
}
