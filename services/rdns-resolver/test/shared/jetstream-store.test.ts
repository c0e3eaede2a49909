/** The shared store in JetStream: the contract, and what becomes of lookups when its server is away. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sharedAnswersStream } from "@netfacts/contracts";
import { connect } from "@netfacts/messaging/nats-client";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import { openJetStreamStore } from "../../src/shared/jetstream-store.ts";
import { becomes, describeSharedStore } from "./contract.ts";

let server: NatsServer;
beforeAll(async () => {
  server = await startNatsServer({ jetstream: true, own: true });
});
afterAll(() => server?.stop());

const settings = { bytesMax: 1_048_576, ageMaxSeconds: 3_600, onFault: () => undefined };
const connection = () => ({ servers: server.url, name: "rdns-resolver-cache" });

async function removeStream(): Promise<void> {
  const nc = await connect({ servers: server.url, name: "test" });
  await (await nc.jetstreamManager()).streams.delete(sharedAnswersStream);
  await nc.close();
}

describeSharedStore("shared answers in JetStream", async () => ({
  open: (options) => openJetStreamStore({ ...settings, connection: connection(), ...options }),
  remove: removeStream,
}));

test("one process reads what another one put", async () => {
  const [one, other] = [
    await openJetStreamStore({ ...settings, connection: connection() }),
    await openJetStreamStore({ ...settings, connection: connection() }),
  ];
  await becomes(one, "a.b", null);
  one.put("a.b", "shared");
  await becomes(other, "a.b", "shared");
  await one.close();
  await other.close();
  await removeStream();
});

test("other bounds hold for a stream that is there", async () => {
  const one = await openJetStreamStore({ ...settings, connection: connection() });
  await becomes(one, "a.b", null);
  const other = await openJetStreamStore({ ...settings, bytesMax: 2_097_152, connection: connection() });
  await becomes(other, "a.b", null);
  const nc = await connect({ servers: server.url, name: "test" });
  const { config } = await (await nc.jetstreamManager()).streams.info(sharedAnswersStream);
  expect(config.max_bytes).toBe(2_097_152);
  await nc.close();
  await one.close();
  await other.close();
});

test("a stream that is deleted is made again", async () => {
  const store = await openJetStreamStore({ ...settings, connection: connection() });
  await becomes(store, "a.b", null);
  await removeStream();
  await expect(store.get("a.b", 1_000)).rejects.toThrow();
  await becomes(store, "a.b", null);
  store.put("a.b", "again");
  await becomes(store, "a.b", "again");
  await store.close();
});

test("a server that does not answer costs the wait and no more, and comes back", async () => {
  const store = await openJetStreamStore({ ...settings, connection: connection() });
  await becomes(store, "a.c", null);
  store.put("a.c", "kept");
  await becomes(store, "a.c", "kept");
  server.freeze();
  const ran = startRunningTime();
  await expect(store.get("a.c", 50)).rejects.toThrow();
  expect(ran()).toBeLessThan(1_000);
  for (let number = 0; number < 1_000; number += 1) store.put(`a.${number}`, "while it is frozen");
  server.thaw();
  await becomes(store, "a.c", "kept");
  await store.close();
});
