/** An object at a server that accepts some of its messages, and refuses others or does not answer. */

import { expect, test } from "@jest/globals";
import type { JetStreamManager, NatsConnection } from "@netfacts/messaging/nats-client";
import { JetStreamObjects } from "../../src/jetstream/objects.ts";

const chunkBytes = 128 * 1024;
/** As many as are sent before the first of them is acknowledged. */
const window = 32;

test("an object is not stored if a chunk was refused in the moment in which another one was accepted", async () => {
  const stored: string[] = [];
  const answers = Promise.withResolvers<void>();
  let sent = 0;
  const publish = async (subject: string): Promise<void> => {
    const number = ++sent;
    if (number === window) setImmediate(answers.resolve);
    // The answers to all chunks of the window are in one packet. The last chunk is small: it fits where the others did not.
    if (number <= window) await answers.promise;
    if (number > 1 && number <= window) throw new Error("insufficient resources");
    stored.push(subject);
  };
  const missing = async () => Promise.reject(Object.assign(new Error("not found"), { code: "404" }));
  const streams = { info: async () => ({}), getMessage: missing, purge: async () => ({}) };
  const nc = { jetstream: () => ({ publish }) } as unknown as NatsConnection;
  const objects = new JetStreamObjects(nc, { streams } as unknown as JetStreamManager, "test", { replicas: 1, bytesPerSecond: null });

  await expect(objects.put(new Uint8Array(window * chunkBytes + 1))).rejects.toThrow("insufficient resources");
  expect(stored.filter((subject) => subject.startsWith("$O.test.M."))).toEqual([]);
});

test.each([
  // The description may be stored, and another publisher may name the object: as for a process that was frozen at this moment.
  ["stay if nobody says whether its description was stored", Object.assign(new Error("TIMEOUT"), { code: "TIMEOUT" }), 0],
  ["are removed if its description was refused", Object.assign(new Error("full"), { api_error: { code: 503, err_code: 10_047 } }), 1],
])("an object's chunks %s", async (_, error, removals) => {
  const removed: string[] = [];
  const publish = async (subject: string): Promise<void> => {
    if (subject.startsWith("$O.test.M.")) throw error;
  };
  const missing = async () => Promise.reject(Object.assign(new Error("not found"), { code: "404" }));
  const purge = async (_stream: string, { filter }: { filter: string }) => void removed.push(filter);
  const streams = { info: async () => ({}), getMessage: missing, purge };
  const nc = { jetstream: () => ({ publish }) } as unknown as NatsConnection;
  const objects = new JetStreamObjects(nc, { streams } as unknown as JetStreamManager, "test", { replicas: 1, bytesPerSecond: null });

  await expect(objects.put(new Uint8Array(1))).rejects.toThrow("JetStream");
  expect(removed).toHaveLength(removals);
});
