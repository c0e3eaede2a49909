/** The users of `nats.conf`: each may do what its service does, and nothing of what another one does. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { NatsConnection, Subscription } from "nats";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import type { Messaging } from "../../src/index.ts";
import { connect } from "../../src/nats/connect.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";
import { type NatsUser, natsAuthorization, natsRights, natsUsers } from "../../src/nats/rights.ts";
import { item, reply, textOf } from "../contract/items.ts";
import { pause } from "./support.ts";

let server: NatsServer;
const raw = new Map<NatsUser, NatsConnection>();
const opened: { close(): Promise<void> }[] = [];
const accessOf = (user: NatsUser) => ({ NATS_USER: user, NATS_PASSWORD: `password of ${user}` });
beforeAll(async () => {
  server = await startNatsServer({
    own: true,
    jetstream: true,
    config: natsAuthorization({ passwordOf: (user) => `"password of ${user}"` }),
  });
  for (const user of natsUsers) {
    const connection = await connect({ servers: server.url, name: user, access: accessOf(user) });
    raw.set(user, connection);
    opened.push(connection);
  }
});
afterAll(async () => {
  for (const end of opened.reverse()) await end.close();
  await server?.stop();
});

const ignored = { callback: () => undefined };

/** What the server refuses of what `act` does. The subscriptions that `act` returns end with it: later tests have the subjects to themselves. */
async function refusals(user: NatsUser, act: (connection: NatsConnection) => readonly Subscription[]): Promise<string[]> {
  const connection = raw.get(user) as NatsConnection;
  const found: string[] = [];
  const status = connection.status();
  void (async () => {
    for await (const { permissionContext } of status)
      if (permissionContext !== undefined) found.push(`${permissionContext.operation} ${permissionContext.subject}`);
  })();
  const subscriptions = act(connection);
  await connection.flush();
  // The refusals came before the answer to the flush; they are handed out in a later turn.
  await pause(20);
  (status as unknown as { stop(): void }).stop();
  for (const subscription of subscriptions) subscription.unsubscribe();
  await connection.flush();
  return found;
}

/** One subject of each kind, with a made-up name where any name fits. */
const exampleOf = (subject: string) => subject.replace(/[>*]$/, "x1");
const all = natsRights();
const everyPublished = [...new Set(natsUsers.flatMap((user) => all[user].publish.map(exampleOf)))];
const everySubscribed = [...new Set(natsUsers.flatMap((user) => all[user].subscribe))];
// Each is a right of its own, which only what is named gives.
const beyond = [
  "nf.f1.pod.single",
  "nf.c1.ip-routing.x1",
  "dataset.other",
  "keys",
  "$SYS.REQ.SERVER.PING",
  "$JS.API.STREAM.DELETE.KV_netfacts-snapshots",
];

describe.each(natsUsers)("%s", (user) => {
  const { publish, subscribe } = all[user];

  test("publishes what its service publishes, and nothing else", async () => {
    const inboxes = natsUsers.map((other) => `_INBOX.${other}.x1`);
    const tried = [...everyPublished, ...beyond, ...inboxes];
    const refused = await refusals(user, (connection) => {
      for (const subject of tried) connection.publish(subject);
      return [];
    });
    const permitted = new Set(publish.map(exampleOf));
    expect(refused.sort()).toEqual(
      tried
        .filter((subject) => !permitted.has(subject))
        .map((subject) => `publish ${subject}`)
        .sort(),
    );
  });

  test("listens to what its service serves, and to nothing else", async () => {
    const tried = [...everySubscribed, ...beyond, ">", "nf.>", "_INBOX.>", "keys.>", "$KV.>"];
    const refused = await refusals(user, (connection) => tried.map((subject) => connection.subscribe(subject, ignored)));
    const permitted = new Set(subscribe);
    expect(refused.sort()).toEqual(
      tried
        .filter((subject) => !permitted.has(subject))
        .map((subject) => `subscription ${subject}`)
        .sort(),
    );
  });
});

describe("whoever took a service over cannot", () => {
  const lookups = ["ip-routing", "asn-prefix", "rdns-resolver"] as const;
  const others = (service: string) => lookups.filter((other) => other !== service);
  const snapshots = ["$KV.netfacts-snapshots.current", "$O.netfacts-snapshots.C.x", "$JS.API.STREAM.PURGE.KV_netfacts-snapshots"];
  const never: Record<string, { readonly publish: readonly string[]; readonly subscribe: readonly string[] }> = {
    "gateway-auth-quota": {
      publish: [...snapshots, "dataset.published", "dataset.activate", "pods.loaded", "_INBOX.gateway-auth-quota.x"],
      subscribe: [...lookups.flatMap((service) => [`nf.f1.${service}.single`, `nf.c1.${service}`]), "_INBOX.>"],
    },
    ingest: {
      publish: ["keys.changed", "pods.loaded", "nf.f1.ip-routing.single", "_INBOX.gateway-auth-quota.x"],
      subscribe: ["keys.changed", "nf.f1.ip-routing.single", "_INBOX.gateway-auth-quota.>"],
    },
    ...Object.fromEntries(
      lookups.map((service) => [
        service,
        {
          publish: [
            ...snapshots,
            "keys.changed",
            "dataset.published",
            "dataset.activate",
            "_INBOX.gateway-auth-quota.x",
            ...lookups.flatMap((other) => [`nf.f1.${other}.single`, `nf.c1.${other}`]),
          ],
          subscribe: [
            "keys.changed",
            "_INBOX.gateway-auth-quota.>",
            ...others(service).flatMap((other) => [`nf.f1.${other}.single`, `nf.f2.${other}.batch`, `nf.c1.${other}`]),
          ],
        },
      ]),
    ),
  };

  test.each(Object.keys(never) as NatsUser[])("%s: speak or listen instead of another one", async (user) => {
    const { publish, subscribe } = never[user] as (typeof never)[string];
    const refused = await refusals(user, (connection) => {
      for (const subject of publish) connection.publish(subject);
      return subscribe.map((subject) => connection.subscribe(subject, ignored));
    });
    const expected = [...publish.map((subject) => `publish ${subject}`), ...subscribe.map((subject) => `subscription ${subject}`)];
    expect(refused.sort()).toEqual(expected.sort());
  });

  test("answer a request that it did not get", async () => {
    const gateway = raw.get("gateway-auth-quota") as NatsConnection;
    const pod = raw.get("asn-prefix") as NatsConnection;
    const heard: string[] = [];
    const answers = gateway.subscribe("_INBOX.gateway-auth-quota.answers.*", {
      callback: (_, message) => void heard.push(message.subject),
    });
    const requests = pod.subscribe("nf.f1.asn-prefix.single", {
      callback: (_, message) => {
        pod.publish(message.reply as string);
        pod.publish("_INBOX.gateway-auth-quota.answers.2");
      },
    });
    await Promise.all([gateway.flush(), pod.flush()]);
    gateway.publish("nf.f1.asn-prefix.single", undefined, { reply: "_INBOX.gateway-auth-quota.answers.1" });
    for (const end = performance.now() + 10_000; heard.length === 0 && performance.now() < end; ) await pause(10);
    await pod.flush();
    await gateway.flush();
    for (const subscription of [answers, requests]) subscription.unsubscribe();
    await Promise.all([gateway.flush(), pod.flush()]);
    expect(heard).toEqual(["_INBOX.gateway-auth-quota.answers.1"]);
  });
});

describe("the rights suffice", () => {
  const open = async (user: NatsUser, told: string[]): Promise<Messaging> => {
    const events = { notPermitted: (text: string) => void told.push(text) };
    const messaging = await createNatsMessaging({ servers: server.url, name: user, access: accessOf(user), events });
    opened.push(messaging);
    return messaging;
  };

  test.each(["ip-routing", "asn-prefix", "rdns-resolver"] as const)(
    "for requests to copies of %s in both lanes, and long answers",
    async (service) => {
      const told: string[] = [];
      const [gateway, first, second] = await Promise.all([open("gateway-auth-quota", told), open(service, told), open(service, told)]);
      const long = "x".repeat(3_000_000);
      for (const [name, pod] of [["first", first] as const, ["second", second] as const])
        await pod.serve(service, ({ items }, answer) => {
          for (const [index, { query }] of items.entries()) answer(index, reply(query === "long" ? long : name));
        });
      const names = new Set<string>();
      for (let asked = 0; asked < 200 && (asked < 40 || names.size < 2); asked++) {
        const lane = asked % 2 === 0 ? "single" : "batch";
        names.add(textOf(await gateway.request(service, lane, item("short", { budgetMs: 10_000 }))));
      }
      expect([...names].sort()).toEqual(["first", "second"]);
      expect(textOf(await gateway.request(service, "single", item("long", { budgetMs: 10_000 })))).toHaveLength(long.length);
      // Calls to the copies are answered, too.
      await pause(200);
      expect(told).toEqual([]);
    },
  );

  test("for broadcasts", async () => {
    const told: string[] = [];
    const [gateway, other, cli] = await Promise.all([
      open("gateway-auth-quota", told),
      open("gateway-auth-quota", told),
      open("netfacts-cli", told),
    ]);
    const heard: unknown[] = [];
    other.subscribe("keys.changed", (payload) => heard.push(payload));
    await other.probe(5_000);
    gateway.publish("keys.changed", "by a gateway");
    cli.publish("keys.changed", "by the command line");
    for (const end = performance.now() + 10_000; heard.length < 2 && performance.now() < end; ) await pause(10);
    expect(heard.sort()).toEqual(["by a gateway", "by the command line"]);
    expect(told).toEqual([]);
  });
});
