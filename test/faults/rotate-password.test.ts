/** Passwords at NATS that are replaced while requests come, in the order of `docs/operations/secrets.md`: first in the files, then at the server. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "@jest/globals";
import type { NatsUser } from "../../libs/messaging/src/nats/rights.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { madeOrigin } from "../support/made-origin.ts";
import { natsUsersConfig } from "../support/nats-users.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";

const patient = { timeoutMs: 60_000 };
let all: Distributed | undefined;

afterAll(async () => {
  await all?.stop();
  await endAll();
  removeFolders();
});

test("services take new passwords without a restart; a request that fails meanwhile gets 503, and later ones are answered", async () => {
  const home = temporaryFolder();
  const fileOf = (user: string) => join(home, user);
  const rotated: readonly NatsUser[] = ["gateway-auth-quota", "ip-routing"];
  for (const user of rotated) writeFileSync(fileOf(user), `password-of-${user}`);
  all = await startDistributed({
    replicas: { "gateway-auth-quota": 1, "ip-routing": 1, "asn-prefix": 0, "rdns-resolver": 0 },
    // A store that others keep busy, and a busy machine, make no request fail: only the passwords could.
    settings: { LIMITS_DEBT_MAX: "100000", SHED_LOOP_DELAY_MS: "0" },
    snapshot: await madeOrigin(temporaryFolder()),
    settingsOf: (service) => ({ NATS_PASSWORD: "", NATS_PASSWORD_FILE: fileOf(service) }),
  });
  const pids = all.processes.map(({ pid }) => pid);
  const { secret: key } = await netfactsJsonWith<{ secret: string }>(
    all.env,
    home,
    ...["keys", "create", "--label", "caller", "--scopes", "ip", "--rate", "1000000/60s"],
  );
  const url = `${all.gateways[0]?.url}/api/v1/ip/193.0.6.139`;
  const ask = async () => (await request(url, { key })).status;
  await until(async () => (await ask()) === 200, patient);

  const statuses = new Map<number, number>();
  let loading = true;
  const load = (async () => {
    while (loading) {
      const status = await ask();
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await sleep(15);
    }
  })();
  for (const user of rotated) writeFileSync(fileOf(user), `next-of-${user}`);
  await sleep(500);
  expect([...statuses.keys()]).toEqual([200]);
  const next = rotated.reduce((text, user) => text.replace(`"password-of-${user}"`, `"next-of-${user}"`), natsUsersConfig());
  expect(next).not.toBe(natsUsersConfig());
  await all.nats.reload(next);
  await sleep(3_000);
  loading = false;
  await load;
  await until(async () => (await ask()) === 200, patient);
  console.log(`statuses while passwords were replaced: ${[...statuses].map(([status, times]) => `${times} × ${status}`).join(", ")}`);
  expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(all.processes.map(({ pid }) => pid)).toEqual(pids);
});
