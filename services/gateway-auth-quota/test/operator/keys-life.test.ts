/** A key from its making to its end, as the one who uses it sees it. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { ask, audit, keys, makeKey, plans } from "../support/admin.ts";
import { type OperatorHarness, startOperatorHarness } from "../support/operator.ts";

const pepper = "0123456789abcdefghijklmnopqrstuvwxyz";
const peppers = {
  current: { id: "p2", secret: pepper },
  secrets: new Map([
    ["p2", pepper],
    ["p1", `${pepper}-1`],
  ]),
};

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness({ PEPPERS: peppers, FAILED_KEYS_MAX: 1_000 });
});
afterAll(() => harness.stop());

const use = (secret: string, path = "/api/v1/ip/193.0.6.139", headers: Record<string, string> = {}) =>
  harness.gateway.request("GET", path, { authorization: `Bearer ${secret}`, ...headers });
const codeOf = async (secret: string, path?: string) => {
  const { status, body } = await use(secret, path);
  return status === 200 ? "ok" : (JSON.parse(body) as { code: string }).code;
};
const later = (ms: number): void => {
  harness.gateway.clock.offsetMs += ms;
};

describe("rotation", () => {
  test("the old key works until its end, and its answers say when that is; the new one counts on", async () => {
    const old = await makeKey(harness, { month: { limit: 50 } });
    expect((await use(old.secret)).headers).not.toHaveProperty("deprecation");
    const { json: successor } = await ask(harness, "POST", `${keys}/${old.id}/rotate`, { overlap_seconds: 3_600 });

    const answered = await use(old.secret);
    expect(answered.status).toBe(200);
    const { deprecation = "", sunset = "" } = answered.headers;
    expect(deprecation).toMatch(/^@\d{10}$/);
    expect(Math.abs(Number(deprecation.slice(1)) * 1_000 - Date.now())).toBeLessThan(60_000);
    expect(sunset).toBe(new Date(successor.replaces.valid_until).toUTCString());
    // Also where it is refused.
    expect((await use(old.secret, "/api/v1/asn/3333")).headers).toMatchObject({ deprecation, sunset });
    expect((await use(old.secret, "/api/v1/nothing")).headers).toMatchObject({ deprecation, sunset });
    const me = JSON.parse((await use(old.secret, "/api/v1/me")).body) as { key: { rotation: object } };
    expect(me.key.rotation).toEqual({ replaced_by: successor.id, valid_until: successor.replaces.valid_until });

    const next = await use(successor.secret);
    expect(next.headers).not.toHaveProperty("deprecation");
    // Two answers of the old key and this one, in one bucket.
    expect(next.headers["x-quota-remaining"]).toBe("47");

    later(3_599_000);
    expect(await codeOf(old.secret)).toBe("ok");
    later(2_000);
    expect([await codeOf(old.secret), await codeOf(successor.secret)]).toEqual(["expired_api_key", "ok"]);
    later(-3_601_000);
  });

  test("without overlap the old key ends at once", async () => {
    const old = await makeKey(harness);
    const { json: successor } = await ask(harness, "POST", `${keys}/${old.id}/rotate`, { overlap_seconds: 0 });
    expect([await codeOf(old.secret), await codeOf(successor.secret)]).toEqual(["expired_api_key", "ok"]);
  });

  test("a key that expires before its overlap ends says the earlier time", async () => {
    const expires_at = new Date(Date.now() + 600_000).toISOString().replace(/\.\d+/, "");
    const old = await makeKey(harness, { expires_at });
    await ask(harness, "POST", `${keys}/${old.id}/rotate`, {});
    expect((await use(old.secret)).headers.sunset).toBe(new Date(expires_at).toUTCString());
  });
});

describe("changes", () => {
  test("of state, scope, address and expiry decide the next request", async () => {
    const { id, secret } = await makeKey(harness);
    const patched = async (patch: object) => {
      await ask(harness, "PATCH", `${keys}/${id}`, patch);
      return codeOf(secret);
    };
    const done = async (action: string) => {
      await ask(harness, "POST", `${keys}/${id}/${action}`);
      return codeOf(secret);
    };
    expect(await codeOf(secret)).toBe("ok");
    expect(await patched({ scopes: ["asn"] })).toBe("insufficient_scope");
    expect(await patched({ scopes: ["ip"], allowed_cidrs: ["203.0.113.0/24"] })).toBe("ip_not_allowed");
    expect(await patched({ allowed_cidrs: [], expires_at: new Date(Date.now() + 60_000).toISOString().replace(/\.\d+/, "") })).toBe("ok");
    later(61_000);
    expect(await codeOf(secret)).toBe("expired_api_key");
    later(-61_000);
    expect([await done("disable"), await done("enable"), await done("revoke")]).toEqual(["disabled_api_key", "ok", "revoked_api_key"]);
  });

  test("of a plan reach its keys; own limits go before, and what was used stays used", async () => {
    const limits = (month: number) => ({ rate: { limit: 100, window_seconds: 60 }, month: { limit: month } });
    await ask(harness, "PUT", `${plans}/team`, limits(10));
    const [of_plan, own] = [await makeKey(harness, { plan: "team" }), await makeKey(harness, { plan: "team", month: { limit: 7 } })];
    const left = async (secret: string) => (await use(secret)).headers["x-quota-remaining"];
    expect([await left(of_plan.secret), await left(own.secret)]).toEqual(["9", "6"]);
    await ask(harness, "PUT", `${plans}/team`, limits(20));
    expect([await left(of_plan.secret), await left(own.secret)]).toEqual(["18", "5"]);
    await ask(harness, "PUT", `${plans}/other`, limits(5));
    await ask(harness, "PATCH", `${keys}/${own.id}`, { plan: "other", month: null });
    expect(await left(own.secret)).toBe("2");
  });

  test("a plan `default` is that of every key without another one", async () => {
    const { secret } = await makeKey(harness);
    const limit = async () => (await use(secret)).headers["x-quota-limit"];
    expect(await limit()).toBe("100000");
    await ask(harness, "PUT", `${plans}/default`, { rate: { limit: 600, window_seconds: 60 }, month: { limit: 77 } });
    expect(await limit()).toBe("77");
    await ask(harness, "DELETE", `${plans}/default`);
    expect(await limit()).toBe("100000");
  });
});

test("a test key sees the same data and counts on its own", async () => {
  const [live, trial] = [
    await makeKey(harness, { month: { limit: 9 } }),
    await makeKey(harness, { month: { limit: 9 }, environment: "test" }),
  ];
  expect(trial.secret).toMatch(/^nf_test_/);
  const [one, two] = [await use(live.secret), await use(trial.secret)];
  expect(JSON.parse(one.body).ip).toEqual(JSON.parse(two.body).ip);
  expect([one.headers["x-quota-remaining"], two.headers["x-quota-remaining"]]).toEqual(["8", "8"]);
  expect(trial.bucket).not.toBe(live.bucket);
});

describe("peppers", () => {
  test("new keys have the current one; keys of an earlier one, or none, get it when they are used", async () => {
    expect((await makeKey(harness)).pepper_id).toBe("p2");
    const secret = await harness.gateway.key();
    const id = secret.slice(8, 16);
    const kept = async () =>
      (await harness.gateway.store.keys.find(id)) as NonNullable<Awaited<ReturnType<typeof harness.gateway.store.keys.find>>>;
    const before = await kept();
    expect(before.pepperId).toBeNull();
    expect(await codeOf(secret)).toBe("ok");
    await until(async () => (await kept()).pepperId === "p2");
    expect(await kept()).toMatchObject({ version: 1, hashAlgorithm: "hmac-sha256" });
    expect((await kept()).hash).not.toBe(before.hash);
    // Read anew, it is still the same key.
    await ask(harness, "PATCH", `${keys}/${id}`, { label: "renamed" });
    expect(await codeOf(secret)).toBe("ok");
  });
});

test("a secret is in the answer that makes it, and nowhere else", async () => {
  const made = await makeKey(harness, { label: "watched" });
  const { json: successor } = await ask(harness, "POST", `${keys}/${made.id}/rotate`, {}, { headers: { "idempotency-key": "watched" } });
  const secrets: string[] = [made.secret, successor.secret];
  const answers: string[] = [];
  const hear = async (answer: Promise<{ status: number; headers: object; body: string }>) => {
    answers.push(JSON.stringify(await answer));
  };
  for (const secret of secrets) {
    await hear(use(secret));
    await hear(use(secret, "/api/v1/me"));
    await hear(use(secret, `/api/v1/ip/${secret}`));
    await hear(use(secret, `/api/v1/ip/193.0.6.139?key=${secret}`));
    await hear(use(`${secret}x`));
    await hear(ask(harness, "GET", `${keys}/${secret}`));
    await hear(ask(harness, "POST", `${keys}/${secret}/revoke`));
    await hear(ask(harness, "POST", keys, { label: secret, scopes: ["ip"] }));
    await hear(ask(harness, "PATCH", `${keys}/${made.id}`, { [secret]: secret }));
    await hear(ask(harness, "GET", `${audit}?target=${secret}`));
    await hear(ask(harness, "PUT", `${plans}/${secret}`, { rate: { limit: 5, window_seconds: 1 }, month: { limit: 5 } }));
  }
  await hear(ask(harness, "POST", `${keys}/${made.id}/rotate`, {}, { headers: { "idempotency-key": "watched" } }));
  for (const path of [`${keys}?limit=1000`, `${keys}/${made.id}`, `${keys}/${successor.id}`, plans, `${audit}?limit=1000`]) {
    await hear(ask(harness, "GET", path));
  }
  const logs = JSON.stringify(harness.gateway.log, (_, value: unknown) => (value instanceof Error ? [value.message, value.stack] : value));
  const told = [
    ...answers,
    logs,
    await harness.gateway.registry.text(),
    JSON.stringify(await harness.gateway.store.audit.list({ limit: 10_000 })),
  ];
  for (const secret of secrets) {
    // Any eight characters of the secret part but the last four, which the display form shows.
    for (let at = 17; at + 8 <= secret.length - 4; at++) {
      const part = secret.slice(at, at + 8);
      expect(told.filter((text) => text.includes(part)).map((text) => text.slice(0, 200))).toEqual([]);
    }
  }
});
