/** What the driver and Node throw, as StoreErrors. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "@jest/globals";
import {
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from "mongodb";
import type { MongoConnection } from "../src/mongo/mongo-connection.ts";
import { asStoreError } from "../src/mongo/mongo-faults.ts";
import { MongoObservationRows } from "../src/mongo/mongo-observation-rows.ts";
import { mongoUsage } from "../src/mongo/mongo-usage.ts";

test.each([
  [13, "readonly"],
  [14_031, "full"],
  [0, "unavailable"],
])("usage that the server refuses with code %d is told as other writes are", async (code, expected) => {
  const refused = new MongoBulkWriteError({ message: "refused", code, writeErrors: [] }, {} as MongoBulkWriteError["result"]);
  const connection = {
    shown: "mongodb://here/netfacts",
    db: { collection: () => ({ bulkWrite: () => Promise.reject(refused) }) },
    within: (_ms: number, work: () => Promise<unknown>) =>
      work().catch((error: unknown) => {
        throw asStoreError("mongodb://here/netfacts", error);
      }),
  } as unknown as MongoConnection;
  const increments = [{ keyId: "K", bucket: "K", day: "2026-11-21", routeClass: "ip", counted: 1, uncounted: 0 }];
  const added = mongoUsage(connection).add({ writer: "one", sequence: 1, increments });
  await expect(added).rejects.toMatchObject({ fault: expected });
});

/** A connection on which each bulk write fails with these faults by place and code, and with a failed write concern if `isLost`. */
function failingWith(codes: readonly number[], isLost: boolean): MongoConnection {
  const shown = "mongodb://here/netfacts";
  const writeErrors = codes.map((code, index) => ({ code, index }));
  const result = { getWriteConcernError: () => (isLost ? { code: 91 } : undefined) };
  const failed = new MongoBulkWriteError(
    { message: "failed", code: codes[0] as number, writeErrors: writeErrors as never },
    result as unknown as MongoBulkWriteError["result"],
  );
  return {
    shown,
    db: { collection: () => ({ insertMany: () => Promise.reject(failed) }) },
    within: (_ms: number, work: () => Promise<unknown>) =>
      work().catch((error: unknown) => {
        throw asStoreError(shown, error);
      }),
  } as unknown as MongoConnection;
}

test.each([
  ["are all there already: stored", [11_000, 11_000], false, null],
  ["are there already, but may be lost again: not stored", [11_000], true, "unavailable"],
  ["are there already, or do not fit: not stored", [11_000, 14_031], false, "unavailable"],
])("rows of observations that %s", async (_what, codes, isLost, expected) => {
  const inserted = new MongoObservationRows(failingWith(codes, isLost)).insert(1, []);
  if (expected === null) expect(await inserted).toBeUndefined();
  else await expect(inserted).rejects.toMatchObject({ fault: expected });
});

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

const unserved = (message: string) => new MongoServerSelectionError(message, {} as TopologyDescription);

test.each([
  ["wrong credentials", new MongoServerError({ message: "Authentication failed.", code: 18 }), /check user and password .* authSource/],
  ["missing credentials", new MongoServerError({ message: "Command find requires authentication", code: 13 }), /check user and password/],
  ["missing rights", new MongoServerError({ message: "not authorized", code: 13 }), /give the user of its URI the role readWrite/],
  ["an index of others", new MongoServerError({ message: "Index already exists with a different name: a", code: 85 }), /drop that index/],
  ["an unknown authority", unserved("unable to verify the first certificate"), /tlsCAFile/],
  ["a server with another name", unserved("Hostname/IP does not match certificate's altnames: Host: a."), /check the host, tls/],
  ["a server that wants a certificate", unserved("1:error:2:SSL routines:x:tlsv13 alert certificate required:3 "), /tlsCertificateKeyFile/],
  [
    "a server without TLS",
    unserved("Client network socket disconnected before secure TLS connection was established"),
    /check the host, tls/,
  ],
  ["a server that requires TLS", unserved("connection <monitor> to 127.0.0.1:27017 closed"), /requires tls=true/],
  ["nobody there", unserved("connect ECONNREFUSED 127.0.0.1:27017"), /check that the MongoDB server runs and can be reached from here/],
])("the remedy for %s names what to check", (_what, error, remedy) => {
  expect(asStoreError("mongodb://here/netfacts", error)).toMatchObject({ message: expect.stringMatching(remedy) });
});

test("without a primary, the state of each server is named", () => {
  const seen = (setName: string | null, ...servers: object[]) => {
    const reason = { setName, servers: new Map(servers.map((server, at) => [`db-${at}`, { address: `db-${at}:27017`, ...server }])) };
    const error = new MongoServerSelectionError("Server selection timed out after 3000 ms", reason as unknown as TopologyDescription);
    return (asStoreError("mongodb://here/netfacts", error) as Error).message;
  };
  expect(seen("rs0")).toContain('none of its hosts is in a replica set named "rs0"; check hosts and replicaSet in its URI');
  expect(seen(null, { type: "RSGhost" })).toContain("db-0:27017 is in a replica set that is not initiated; check hosts");
  expect(seen("rs0", { type: "RSSecondary" }, { type: "Unknown", error: new Error("connect ECONNREFUSED 10.0.0.2:27017") })).toContain(
    'no primary of the replica set "rs0" was found: db-0:27017 is a secondary, db-1:27017 connect ECONNREFUSED 10.0.0.2:27017; check that the MongoDB server',
  );
});

test("an operation that was not sent, as a login was refused before, says so", () => {
  const cause = new MongoServerError({ message: "Authentication failed.", code: 18 });
  const cleared = new MongoNetworkError("Connection pool for db:27017 was cleared", { cause });
  Object.defineProperty(cleared, "name", { value: "MongoPoolClearedError" });
  expect(fault(cleared)).toBe("readonly");
  expect(fault(new MongoServerSelectionError(cause.message, { error: cause } as unknown as TopologyDescription))).toBe("readonly");
});
