/** Before the tests: makes the folder of what their files share, and gets the programs that take longer than a test may. One that is not to be had is the failure of the tests that need it. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findMongodb } from "./mongodb.ts";
import { findNatsServer } from "./nats-server.ts";
import { findNsd } from "./nsd.ts";
import { runFolderVariable } from "./run-folder.ts";
import { findUnbound } from "./unbound.ts";

export default async function getPrograms(): Promise<void> {
  process.env[runFolderVariable] = mkdtempSync(join(tmpdir(), "netfacts-run-"));
  await findNatsServer();
  await findMongodb().catch(() => undefined);
  await findUnbound();
  await findNsd();
}
