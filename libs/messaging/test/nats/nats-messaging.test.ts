/** NATS keeps the contract of every transport. */

import { afterAll, beforeAll } from "@jest/globals";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";
import { describeMessaging } from "../contract.ts";

let server: NatsServer;
beforeAll(async () => {
  server = await startNatsServer({ own: true });
});
afterAll(() => server.stop());

describeMessaging("over NATS", (options) => createNatsMessaging({ servers: server.url, name: "test", ...options }));
