/** The MongoDB-protocol server of the tests: what other tests build upon when they kill, freeze and restart it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { type Mongodb, startMongodb } from "../support/mongodb.ts";
import { mongoJavaServerVersion } from "../support/mongodb-java.ts";
import { isListening, removeFolders, temporaryFolder } from "../support/processes.ts";

/** Shared by all tests. The last one ends it. */
let server: Mongodb;
beforeAll(async () => {
  server = await startMongodb({ own: true });
});
afterAll(async () => {
  await server?.stop();
  removeFolders();
});

function portOf({ url }: Pick<Mongodb, "url">): number {
  return Number(new URL(url).port);
}

test("listens on loopback under its own process number", async () => {
  expect(process.kill(server.pid ?? -1, 0)).toBe(true);
  expect(await isListening(portOf(server))).toBe(true);
});

test("a reply is what its own change made, whatever others change at the same time", async () => {
  const clients = await Promise.all(Array.from({ length: 4 }, () => MongoClient.connect(server.url)));
  try {
    // One round in five gave a version twice.
    for (let round = 0; round < 200; round++) {
      const changes = clients.map(async (client, index) => {
        const plans = client.db("replies").collection<{ _id: number; by: number; version: number }>("plans");
        const update = { $set: { by: index }, $inc: { version: 1 } };
        return (await plans.findOneAndUpdate({ _id: round }, update, { upsert: true, returnDocument: "after" }))?.version;
      });
      expect((await Promise.all(changes)).sort()).toEqual([1, 2, 3, 4]);
    }
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
});

test("says why it does not start", async () => {
  const second = startMongodb({ own: true, port: portOf(server) });
  await expect(second).rejects.toThrow(/ended at its start/);
});

test("comes back on its port after kill -9", async () => {
  await server.kill();
  expect(await isListening(portOf(server))).toBe(false);
  await server.restart();
  expect(await isListening(portOf(server))).toBe(true);
});

test("ends when it is stopped, also while it is frozen", async () => {
  for (const isFrozen of [false, true]) {
    if (isFrozen) {
      await server.restart();
      server.freeze();
    }
    const pid = server.pid ?? -1;
    await (isFrozen ? server.stop() : server.halt());
    expect(await isListening(portOf(server))).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  }
});

test("ends when the process that started it is gone", async () => {
  const program = `
    import { startMongodb } from ${JSON.stringify(new URL("../support/mongodb.ts", import.meta.url).href)};
    const { url, pid, kind } = await startMongodb({ own: true, folder: process.argv[1] });
    console.log(JSON.stringify({ url, pid, kind }));
    process.kill(process.pid, "SIGKILL");`;
  const args = ["--conditions=source", "--input-type=module", "--eval", program, temporaryFolder()];
  const child = spawn(process.execPath, args, { env: { ...process.env, NODE_NO_WARNINGS: "1" }, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { url, pid, kind } = JSON.parse(line.toString()) as { url: string; pid: number; kind: string };
  // mongod heeds no standard input: there the test ends it.
  if (kind === "mongod") process.kill(pid, "SIGKILL");
  await gone(portOf({ url }));
});

async function gone(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1").resume();
  const { promise, resolve } = Promise.withResolvers<void>();
  // Ends with the server; refused when it has ended already. Not `once`, which rejects at an error.
  socket.on("error", () => undefined).once("close", () => resolve());
  await promise;
}

test("make doctor looks for the version that the tests use", () => {
  const doctor = readFileSync(join(import.meta.dirname, "../../scripts/doctor.sh"), "utf8");
  expect(doctor).toContain(`mongo-java-server-${mongoJavaServerVersion}\n`);
});
