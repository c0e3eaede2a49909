/** What operators do while gateways and the store are lost under them: done once or not at all, and told which; nobody is locked out in between. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { type Answer, request, until } from "../support/http.ts";
import { madeOrigin } from "../support/made-origin.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

/** Long enough for a machine that does much else. */
const mendedMsMax = 60_000;

let all: Distributed;
let mongo: TcpProxy;
let adminKey: string;
beforeAll(async () => {
  all = await startDistributed({
    replicas: { "gateway-auth-quota": 2, "ip-routing": 1, "asn-prefix": 0, "rdns-resolver": 0 },
    settings: { LOG_LEVEL: "warn" },
    snapshot: await madeOrigin(temporaryFolder()),
    async route({ natsUrl, mongoUrl }) {
      const { origin, pathname } = new URL(mongoUrl.replace("mongodb:", "http:"));
      mongo = await startTcpProxy(origin.replace("http:", "mongodb:"));
      return { natsUrl, mongoUrl: `${mongo.url}${pathname}` };
    },
  });
  const made = await netfactsJsonWith<{ secret: string }>(
    all.env,
    temporaryFolder(),
    ...["keys", "create", "--label", "operator", "--scopes", "admin", "--rate", "100000"],
  );
  adminKey = made.secret;
});
afterAll(async () => {
  await all?.stop();
  await mongo?.stop();
  await endAll();
  removeFolders();
});

/** Asks one gateway as an operator; an answer that never came is null. */
async function asOperator(gateway: number, method: string, path: string, body?: object, idempotencyKey?: string): Promise<Answer | null> {
  const headers = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
  };
  const options = { key: adminKey, method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return request(`${all.gateways[gateway]?.operatorUrl}/admin/v1${path}`, options).catch(() => null);
}

/** Asks until it is done; every answer in between says that it was not. */
async function untilDone(
  gateways: readonly number[],
  method: string,
  path: string,
  body?: object,
  idempotencyKey?: string,
): Promise<Answer> {
  let done: Answer | null = null;
  let count = 0;
  await until(
    async () => {
      const answer = await asOperator(gateways[count++ % gateways.length] ?? 0, method, path, body, idempotencyKey);
      if (answer === null) return false;
      expect([answer.status, answer.text]).toEqual([answer.status < 300 ? answer.status : 503, expect.any(String)]);
      if (answer.status < 300) done = answer;
      return done !== null;
    },
    { timeoutMs: mendedMsMax },
  );
  return done as unknown as Answer;
}

/** Every key that has this label. A gateway may still refuse when the other one no longer does. */
async function keysNamed(label: string): Promise<{ id: string; state: string }[]> {
  const found: { id: string; state: string }[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await untilDone([1], "GET", `/keys?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`);
    found.push(...page.json.items.filter((key: { label: string }) => key.label === label));
    cursor = page.json.next_cursor;
  }
  return found;
}

const works = async (secret: string): Promise<boolean> =>
  (await request(`${all.gateways[1]?.url}/api/v1/me`, { key: secret }).catch(() => null))?.status === 200;

test(
  "a key that is asked for while the store is cut off is made once, however often it is asked for",
  async () => {
    const body = { label: "made-in-a-fault", scopes: ["ip"] };
    const asked = Array.from({ length: 6 }, (_, index) => asOperator(index % 2, "POST", "/keys", body, "one-key"));
    await mongo.cut();
    await Promise.all(asked);
    await mongo.restore();
    await untilDone([0, 1], "POST", "/keys", body, "one-key");
    expect(await keysNamed("made-in-a-fault")).toHaveLength(1);
  },
  3 * mendedMsMax,
);

test(
  "a rotation whose gateway is killed is gone on with at the other one: one successor, and a key that works throughout",
  async () => {
    const old = (await untilDone([1], "POST", "/keys", { label: "rotated", scopes: ["ip"] }, "to-rotate")).json;
    const killed = Promise.all(
      Array.from({ length: 4 }, () => asOperator(0, "POST", `/keys/${old.id}/rotate`, { overlap_seconds: 600 }, "rotation")),
    );
    await all.kill("gateway-auth-quota", 0);
    await killed;
    expect(await works(old.secret)).toBe(true);
    const rotated = await untilDone([1], "POST", `/keys/${old.id}/rotate`, { overlap_seconds: 600 }, "rotation");
    expect(rotated.json.replaces).toMatchObject({ id: old.id });
    const successors = (await keysNamed("rotated")).filter(({ id }) => id !== old.id);
    expect(successors.map(({ id }) => id)).toEqual([rotated.json.id]);
    expect(await works(old.secret)).toBe(true);
    if (rotated.json.secret !== null) expect(await works(rotated.json.secret)).toBe(true);
    await all.restart("gateway-auth-quota", 0);
  },
  3 * mendedMsMax,
);

test(
  "a revocation that was answered holds after the store was cut off, and one that was not can be asked for again",
  async () => {
    const { id, secret } = (await untilDone([1], "POST", "/keys", { label: "revoked", scopes: ["ip"] }, "to-revoke")).json;
    expect(await works(secret)).toBe(true);
    const asked = asOperator(0, "POST", `/keys/${id}/revoke`);
    await mongo.cut();
    const first = await asked;
    await mongo.restore();
    if (first?.status !== 200) await untilDone([0], "POST", `/keys/${id}/revoke`);
    await until(async () => !(await works(secret)), { timeoutMs: mendedMsMax });
    const audit = await asOperator(1, "GET", `/audit?target=${id}&action=key.revoke`);
    expect(audit?.json.items.length).toBeGreaterThan(0);
  },
  3 * mendedMsMax,
);
