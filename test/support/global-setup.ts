/** Before the tests: gets the programs that take longer than a test may. One that is not to be had is the failure of the tests that need it. */

import { findMongodb } from "./mongodb.ts";
import { findNatsServer } from "./nats-server.ts";
import { findNsd } from "./nsd.ts";
import { findUnbound } from "./unbound.ts";

export default async function getPrograms(): Promise<void> {
  await findNatsServer();
  await findMongodb().catch(() => undefined);
  await findUnbound();
  await findNsd();
}
