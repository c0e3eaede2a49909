/** Lookup pods with MongoDB stopped: they answer every lookup over NATS, and start without it. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parseAddress, parsePrefix } from "@netfacts/address";
import { encodeQuery, wholeRecord } from "@netfacts/contracts";
import type { Messaging } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { madeOrigin } from "../support/made-origin.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";

let distributed: Distributed;
let messaging: Messaging;

beforeAll(async () => {
  distributed = await startDistributed({
    ownMongodb: true,
    replicas: { "gateway-auth-quota": 0, "rdns-resolver": 0 },
    snapshot: await madeOrigin(temporaryFolder()),
  });
  messaging = await createNatsMessaging({ servers: distributed.natsUrl, name: "gateway-auth-quota", onError: () => undefined });
  await distributed.mongo.halt();
});
afterAll(async () => {
  await messaging?.close();
  await distributed?.stop();
  removeFolders();
});

const ip = parseAddress("193.0.6.139");
const reading = parsePrefix("193.0.0.0/21");
if (ip === null || !reading.ok) throw new Error("not an address and a prefix");
const { prefix } = reading;
const questions = [
  ["ip-routing", "ip", encodeQuery("ip", { ip }, wholeRecord), { network_type: { type: "non_profit" }, routing: { announced: true } }],
  [
    "ip-routing",
    "routing",
    encodeQuery("routing", { ip, moreSpecifics: false, upstreams: false, limit: 100 }, wholeRecord),
    { match: { prefix: "193.0.0.0/21" } },
  ],
  [
    "asn-prefix",
    "asn",
    encodeQuery("asn", { asn: 3333, family: null, rpki: null, aggregate: false, limit: 100 }, wholeRecord),
    { asn: 3333, network_type: { type: "non_profit" } },
  ],
  ["asn-prefix", "prefix", encodeQuery("prefix", { prefix, limit: 100 }, wholeRecord), { prefix: "193.0.0.0/21", announced: true }],
] as const;

async function expectAnswers(): Promise<void> {
  for (const [service, op, query, record] of questions) {
    const item = { op, query, requestId: "without-mongodb", traceparent: null, budgetMs: 5_000 };
    const { status, body } = await messaging.request(service, "single", item);
    expect([op, status]).toEqual([op, 200]);
    expect(JSON.parse(Buffer.from(body).toString())).toMatchObject(record);
  }
}

test("they answer ip, routing, asn and prefix", expectAnswers);

test("they start and answer while it is stopped", async () => {
  for (const service of ["ip-routing", "asn-prefix"] as const) {
    await distributed.kill(service, 0);
    await distributed.restart(service, 0);
  }
  await expectAnswers();
});
