/** What the driver and Node throw, as StoreErrors. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { MongoInvalidArgumentError, MongoNetworkError, MongoServerError } from "mongodb";
import { asStoreError } from "../src/mongo/mongo-faults.ts";

const fault = (error: unknown) => (asStoreError("mongodb://here/netfacts", error) as { fault?: string }).fault;

test("a connection that breaks while the driver writes is a store that is away, not a fault of ours", async () => {
  const server = createServer((socket) => socket.resetAndDestroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [reset] = (await once(socket, "error").catch((error) => [error])) as [NodeJS.ErrnoException];
  server.close();
  expect(reset.code).toBe("ECONNRESET");
  expect(fault(reset)).toBe("unavailable");
  const destroyed = await new Promise((done) => socket.write("late", done));
  expect(destroyed).toMatchObject({ code: "ERR_STREAM_DESTROYED" });
  expect(fault(destroyed)).toBe("unavailable");
});

test("so is one that the server ended just before the driver writes", async () => {
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.resume();
  const written = new Promise((done) => {
    socket.once("end", () => {
      socket.end();
      socket.write("late", done);
    });
  });
  socket.once("error", () => undefined);
  const error = await written;
  server.close();
  expect(error).toMatchObject({ code: "EPIPE" });
  expect(fault(error)).toBe("unavailable");
});

test("what the driver says of the server is told apart, and a fault of ours stays what it is", () => {
  expect(fault(new MongoNetworkError("connection 1 closed"))).toBe("unavailable");
  expect(fault(new MongoServerError({ message: "not authorized", code: 13 }))).toBe("readonly");
  for (const error of [
    new TypeError("ours"),
    new MongoInvalidArgumentError("ours"),
    new MongoServerError({ message: "twice", code: 11_000 }),
  ])
    expect(asStoreError("mongodb://here/netfacts", error)).toBe(error);
});
