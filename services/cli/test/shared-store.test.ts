/** `netfacts keys` on the database that gateways share: what one process makes another sees, and gateways are told of it. */

import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type KeyChange, keysChangedSubject } from "@netfacts/contracts";
import { secretMatches } from "@netfacts/keys";
import { createNatsMessaging, type NatsUser } from "@netfacts/messaging/nats";
import { openMongoStore } from "@netfacts/storage/mongo";
import { freePort } from "../../../test/support/free-ports.ts";
import { until } from "../../../test/support/http.ts";
import { MongoClient, type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { startNatsServer } from "../../../test/support/nats-server.ts";
import { accessOf, natsUsersConfig } from "../../../test/support/nats-users.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { type Ran, runProcessWith, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
let mongo: Mongodb;
let uri: string;

beforeAll(async () => {
  mongo = await startMongodb();
  uri = mongo.database(`cli_${randomUUID().slice(0, 8)}`);
});
afterAll(async () => {
  await mongo?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const run = (natsUrl: string, ...args: string[]): Promise<Ran> =>
  runProcessWith({ MONGODB_URI: uri, NATS_URL: natsUrl }, dataDir, "keys", ...args, "--json");

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly secret: string;
}

test("without NATS a change is made, and a note says that nobody was told", async () => {
  const nobody = `nats://127.0.0.1:${await freePort()}`;
  const created = await run(nobody, "create", "--label", "shared");
  expect({ code: created.code, err: created.err }).toEqual({ code: 0, err: expect.stringContaining("could not be announced over NATS") });
  const { secret, ...key } = JSON.parse(created.out) as Shown;

  const listed = await run(nobody, "list");
  expect(listed).toMatchObject({ code: 0, err: "" });
  expect((JSON.parse(listed.out) as { keys: Shown[] }).keys).toContainEqual(key);

  const store = await openMongoStore(uri, { appName: "test" });
  const record = await store.keys.find(key.id);
  await store.close();
  expect([record?.state, secretMatches(secret, record)]).toEqual(["active", true]);

  const revoked = await run(nobody, "revoke", key.id);
  expect({ code: revoked.code, err: revoked.err }).toEqual({ code: 0, err: expect.stringContaining("could not be announced over NATS") });
  const shown = await run(nobody, "show", key.id);
  expect(JSON.parse(shown.out)).toMatchObject({ id: key.id, state: "revoked" });
  // Neither is the file of the data folder used, nor made.
  expect(existsSync(join(dataDir, "store.sqlite"))).toBe(false);
});

test("a command waits for a server that needs longer than a gateway would wait", async () => {
  const proxy = await startTcpProxy(uri);
  // A gateway gives up a server that has not answered for 750 ms.
  proxy.delay(1_000, "toClient");
  const { code, err, out } = await runProcessWith({ MONGODB_URI: proxy.url, NATS_URL: "" }, dataDir, "keys", "list", "--json");
  await proxy.stop();
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(JSON.parse(out)).toHaveProperty("keys");
});

test("a wrong MONGODB_URI is named, without the password", async () => {
  const { code, err } = await runProcessWith({ MONGODB_URI: "mongodb://netfacts:hunter2@x@db/netfacts" }, dataDir, "keys", "list");
  expect([code, err]).toEqual([2, expect.stringContaining("MONGODB_URI is not a MongoDB URI; write mongodb://USER:PASSWORD@HOST")]);
  expect(err).not.toContain("hunter2");
});

test("with NATS gateways are told which key changed, and of nothing that was only looked at", async () => {
  // Others of a shared server tell of their keys too.
  const nats = await startNatsServer({ own: true });
  const messaging = await createNatsMessaging({ servers: nats.url, name: "test" });
  try {
    const told: KeyChange[] = [];
    messaging.subscribe(keysChangedSubject, (change) => told.push(change as KeyChange));
    const own = { key_id: "OWN00000", version: 0 };
    await until(() => {
      messaging.publish(keysChangedSubject, own);
      return told.length > 0;
    });
    const ofOthers = () => told.filter(({ key_id }) => key_id !== own.key_id);

    const created = await run(nats.url, "create", "--label", "told");
    expect(created).toMatchObject({ code: 0, err: "" });
    const { id } = JSON.parse(created.out) as Shown;
    await until(() => ofOthers().length > 0);
    expect(await run(nats.url, "list")).toMatchObject({ code: 0, err: "" });
    expect(await run(nats.url, "disable", id)).toMatchObject({ code: 0, err: "" });
    await until(() => ofOthers().length > 1);
    expect(ofOthers()).toEqual([
      { key_id: id, version: 1 },
      { key_id: id, version: 2 },
    ]);
  } finally {
    await messaging.close();
    await nats.stop();
  }
});

test("NATS refuses the announcement of a change: a note names the subject", async () => {
  const nats = await startNatsServer({ config: natsUsersConfig() });
  const revokeAs = async (user: NatsUser): Promise<Ran> => {
    const { id } = JSON.parse((await run("", "create", "--label", "refused")).out) as Shown;
    return runProcessWith({ MONGODB_URI: uri, NATS_URL: nats.url, ...accessOf(user) }, dataDir, "keys", "revoke", id);
  };
  try {
    const refused = await revokeAs("ip-routing");
    expect([refused.code, refused.out]).toEqual([0, expect.stringContaining("revoked")]);
    expect(refused.err).toMatch(/could not be announced over NATS.*30 s.*does not permit this user to publish to keys\.changed/);
    expect(await revokeAs("netfacts-cli")).toMatchObject({ code: 0, err: "" });
  } finally {
    await nats.stop();
  }
});

test("a key that another program made invalid is left out of the list, with a note that names it", async () => {
  const made = [];
  for (const label of ["good", "bad"]) made.push(JSON.parse((await run("", "create", "--label", label)).out) as Shown);
  const [good, bad] = made as [Shown, Shown];
  const client = await MongoClient.connect(uri);
  await client
    .db()
    .collection<{ _id: string }>("keys")
    .updateOne({ _id: bad.id }, { $unset: { scopes: 1 } });
  await client.close();
  const listed = await run("", "list");
  const ids = (JSON.parse(listed.out) as { keys: Shown[] }).keys.map(({ id }) => id);
  expect([listed.code, ids.includes(good.id), ids.includes(bad.id)]).toEqual([0, true, false]);
  const fault = `document "${bad.id}" of keys is not valid: scopes must be a list of texts, but is missing; correct it in the database`;
  expect(listed.err).toMatch(new RegExp(`^netfacts: store mongodb://.*: ${fault}\\n$`));
  const shown = await run("", "show", bad.id);
  expect([shown.code, shown.err.match(/not valid/g)]).toEqual([4, ["not valid"]]);
});
