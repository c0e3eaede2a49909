/** The MongoDB store: the contract. */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "@jest/globals";
import { MongoClient } from "mongodb";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import type { Store } from "../src/index.ts";
import { openMongoStore } from "../src/mongo/index.ts";
import { describeStore } from "./contract.ts";

let server: Mongodb;
let client: MongoClient;
let database: string | null = null;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startMongodb();
  client = await MongoClient.connect(server.url);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

async function open(): Promise<Store> {
  database ??= `netfacts-test-${randomUUID()}`;
  const store = await openMongoStore(server.database(database));
  stores.push(store);
  return store;
}

async function dispose(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  if (database !== null) await client.db(database).dropDatabase();
  database = null;
}

describeStore("MongoDB", { changesSeen: "own", open, dispose });
