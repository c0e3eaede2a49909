/** What the state of keys and plans does not allow. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ask, keys, makeKey, plans } from "../support/admin.ts";
import { type OperatorHarness, startOperatorHarness } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());

const good = { label: "a", scopes: ["ip"] };
const adminId = () => harness.adminKey.slice(8, 16);

provokes("last_admin_key", "an operator who would lock everybody out", () => ask(harness, "POST", `${keys}/${adminId()}/revoke`));
provokes("last_admin_key", "taking the scope away, as an expiry in the past is none", async () => {
  expectProblem(await ask(harness, "PATCH", `${keys}/${adminId()}`, { expires_at: "2001-01-01T00:00:00Z" }), "invalid_body");
  return ask(harness, "PATCH", `${keys}/${adminId()}`, { scopes: ["ip"] });
});
provokes("last_admin_key", "disabling it, unless forced", () => ask(harness, "POST", `${keys}/${adminId()}/disable?force=false`));

provokes("last_admin_key", "an expiry for it", () => {
  const expires_at = new Date(Date.now() + 4_000).toISOString().replace(/\.\d+/, "");
  return ask(harness, "PATCH", `${keys}/${adminId()}`, { expires_at });
});
provokes("last_admin_key", "networks without the operator who sets them", async () => {
  const allowed_cidrs = ["127.0.0.0/8", "10.0.0.0/8"];
  expect((await ask(harness, "PATCH", `${keys}/${adminId()}`, { allowed_cidrs })).status).toBe(200);
  const refused = await ask(harness, "PATCH", `${keys}/${adminId()}`, { allowed_cidrs: ["10.0.0.0/8"] });
  expect(refused.json.detail).toContain("`allowed_cidrs` does not contain your address");
  expect((await ask(harness, "GET", `${keys}/${adminId()}`)).json).toMatchObject({ allowed_cidrs, expires_at: null });
  return refused;
});

test("two admins who revoke each other at the same moment: one stays", async () => {
  const lone = await startOperatorHarness();
  const two = await makeKey(lone, { scopes: ["admin"] });
  const revoke = (id: string, key: string) => ask(lone, "POST", `${keys}/${id}/revoke`, undefined, { key });
  const answers = await Promise.all([revoke(two.id, lone.adminKey), revoke(lone.adminKey.slice(8, 16), two.secret)]);
  const left = (await lone.gateway.store.keys.list()).filter(({ state }) => state === "active");
  await lone.stop();
  expect(left).toHaveLength(1);
  // Whoever came second is told so, or found its own key revoked by then.
  expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  expect([401, 409]).toContain(answers.map(({ status }) => status).find((status) => status !== 200));
});

test("with force the last one goes, too", async () => {
  const lone = await startOperatorHarness();
  const revoked = await ask(lone, "POST", `${keys}/${lone.adminKey.slice(8, 16)}/revoke?force=true`);
  const after = await ask(lone, "GET", keys);
  await lone.stop();
  expect(revoked.status).toBe(200);
  expectProblem(after, "revoked_api_key");
});

provokes("key_state_conflict", "enabling what is revoked", async () => {
  const { id } = await makeKey(harness);
  await ask(harness, "POST", `${keys}/${id}/revoke`);
  return ask(harness, "POST", `${keys}/${id}/enable`);
});
provokes("key_state_conflict", "changing what is revoked", async () => {
  const { id } = await makeKey(harness);
  await ask(harness, "POST", `${keys}/${id}/revoke`);
  return ask(harness, "PATCH", `${keys}/${id}`, { label: "b" });
});
provokes("key_state_conflict", "rotating what was rotated", async () => {
  const { id } = await makeKey(harness);
  const { json } = await ask(harness, "POST", `${keys}/${id}/rotate`);
  expect((await ask(harness, "POST", `${keys}/${json.id}/rotate`)).status).toBe(201);
  return ask(harness, "POST", `${keys}/${id}/rotate`);
});
provokes("key_state_conflict", "rotating what is disabled", async () => {
  const { id } = await makeKey(harness);
  await ask(harness, "POST", `${keys}/${id}/disable`);
  return ask(harness, "POST", `${keys}/${id}/rotate`);
});

provokes("idempotency_conflict", "an Idempotency-Key with another body", async () => {
  const headers = { "idempotency-key": "k1" };
  await ask(harness, "POST", keys, good, { headers });
  return ask(harness, "POST", keys, { ...good, label: "b" }, { headers });
});
provokes("idempotency_conflict", "an Idempotency-Key of another route", async () => {
  const headers = { "idempotency-key": "k2" };
  const { json } = await ask(harness, "POST", keys, good, { headers });
  return ask(harness, "POST", `${keys}/${json.id}/rotate`, {}, { headers });
});
provokes("idempotency_conflict", "an Idempotency-Key of another change of state", async () => {
  const headers = { "idempotency-key": "k3" };
  const { id } = await makeKey(harness);
  await ask(harness, "POST", `${keys}/${id}/disable`, undefined, { headers });
  return ask(harness, "POST", `${keys}/${id}/enable`, undefined, { headers });
});

provokes("plan_in_use", "a plan that a key refers to", async () => {
  const limits = { rate: { limit: 5, window_seconds: 1 }, month: { limit: 5 } };
  await ask(harness, "PUT", `${plans}/used`, limits);
  const { id } = await makeKey(harness, { plan: "used" });
  const refused = await ask(harness, "DELETE", `${plans}/used`);
  await ask(harness, "POST", `${keys}/${id}/revoke`);
  expect((await ask(harness, "DELETE", `${plans}/used`)).status).toBe(204);
  return refused;
});
