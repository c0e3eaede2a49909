/** Before the tests: gets the programs that take longer than a test may. One that is not to be had is the failure of the tests that need it. */

import { findMongodb } from "./mongodb.ts";
import { findNatsServer } from "./nats-server.ts";

export default async function getPrograms(): Promise<void> {
  await findNatsServer();
  await findMongodb().catch(() => undefined);
}
