/** What operators do to keys and plans, and see of them: each answer as its route is described. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseKeyText } from "@netfacts/keys";
import { ask, audit, keys, makeKey, plans } from "../support/admin.ts";
import { type OperatorHarness, startOperatorHarness } from "../support/operator.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness({ OPERATOR_IDLE_MS: 30_000 });
});
afterAll(() => harness.stop());

const do_ = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  ask(harness, method, path, body, { headers });
const limits = { rate: { limit: 5_000, window_seconds: 10 }, month: { limit: 1_000 } };

describe("keys", () => {
  test("are made, and shown whole this once", async () => {
    const wanted = {
      label: "siem-prod",
      scopes: ["ip", "routing"],
      allowed_cidrs: ["198.51.100.0/24", "2001:db8::1"],
      rate: { limit: 5, window_seconds: 1 },
      month: { limit: 7 },
      concurrency: { limit: 2 },
      expires_at: "2127-01-31T12:00:00Z",
    };
    const made = await do_("POST", keys, wanted);
    expect(made.status).toBe(201);
    const { secret, ...key } = made.json;
    expect(key).toMatchObject({
      ...wanted,
      allowed_cidrs: ["198.51.100.0/24", "2001:db8::1/128"],
      state: "active",
      version: 1,
      plan: "default",
    });
    expect(parseKeyText(secret)?.id).toBe(key.id);
    expect(made.headers.location).toBe(`${keys}/${key.id}`);
    const shown = await do_("GET", `${keys}/${key.id}`);
    expect(shown.json).toEqual(key);
  });

  test("are listed by pages, the oldest first, and by plan", async () => {
    await do_("PUT", `${plans}/listed`, limits);
    const made = [];
    for (let i = 0; i < 5; i++) made.push((await makeKey(harness, { plan: "listed" })).id);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { json } = await do_("GET", `${keys}?plan=listed&limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`);
      expect(json.items.length).toBeLessThanOrEqual(2);
      seen.push(...json.items.map(({ id }: { id: string }) => id));
      cursor = json.next_cursor;
    }
    expect(seen.sort()).toEqual(made.sort());
    const all = await do_("GET", `${keys}?limit=1000`);
    expect(all.json.next_cursor).toBeNull();
    const times = all.json.items.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual([...times].sort());
  });

  test("change by what is sent, and by nothing else", async () => {
    const { secret: _, ...key } = await makeKey(harness, { month: { limit: 7 } });
    const patched = await do_("PATCH", `${keys}/${key.id}`, { label: " renamed ", month: null, expires_at: "2127-01-01T00:00:00Z" });
    expect(patched.json).toEqual({ ...key, label: "renamed", month: null, expires_at: "2127-01-01T00:00:00Z", version: 2 });
    const again = await do_("PATCH", `${keys}/${key.id}`, { label: "renamed" });
    expect(again.json.version).toBe(2);
    const merge = await do_(
      "PATCH",
      `${keys}/${key.id}`,
      { expires_at: null },
      { "content-type": "application/merge-patch+json; charset=UTF-8" },
    );
    expect(merge.json).toMatchObject({ expires_at: null, version: 3 });
  });

  test("are disabled, enabled and revoked, again and again", async () => {
    const { id } = await makeKey(harness);
    const state = async (action: string) => (await do_("POST", `${keys}/${id}/${action}`)).json.state;
    expect([await state("disable"), await state("disable"), await state("enable")]).toEqual(["disabled", "disabled", "active"]);
    expect([await state("revoke"), await state("revoke")]).toEqual(["revoked", "revoked"]);
  });

  test("are rotated: a day of overlap unless told otherwise, with or without a body", async () => {
    const { id, bucket } = await makeKey(harness);
    const before = Date.now();
    const rotated = await do_("POST", `${keys}/${id}/rotate`);
    expect(rotated.status).toBe(201);
    expect(rotated.json).toMatchObject({ bucket, label: "siem-prod", state: "active" });
    expect(rotated.json.id).not.toBe(id);
    const overlap = Date.parse(rotated.json.replaces.valid_until) - before;
    expect(Math.abs(overlap - 86_400_000)).toBeLessThan(60_000);
    const old = await do_("GET", `${keys}/${id}`);
    expect(old.json.rotation).toMatchObject({ replaced_by: rotated.json.id, valid_until: rotated.json.replaces.valid_until });
    const at_once = await do_("POST", `${keys}/${rotated.json.id}/rotate`, { overlap_seconds: 0, expires_at: "2127-01-01T00:00:00Z" });
    expect(at_once.json.expires_at).toBe("2127-01-01T00:00:00Z");
    expect((await do_("GET", `${keys}/${rotated.json.id}`)).json.state).toBe("expired");
  });

  test("made twice with one Idempotency-Key are one, whose secret is not told again", async () => {
    const wanted = { label: "once", scopes: ["ip"] };
    const headers = { "idempotency-key": "8e03978e-40d5-43dd-bc93-6894a57f9324" };
    const [first, second] = [await do_("POST", keys, wanted, headers), await do_("POST", keys, wanted, headers)];
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.json).toEqual({ ...first.json, secret: null });
    const path = `${keys}/${first.json.id}/rotate`;
    const [third, fourth] = [
      await do_("POST", path, {}, { "idempotency-key": "r1" }),
      await do_("POST", path, {}, { "idempotency-key": "r1" }),
    ];
    expect([third.status, fourth.status]).toEqual([201, 200]);
    expect(fourth.json).toEqual({ ...third.json, secret: null });
  });

  test("disabled once with one Idempotency-Key stay as they were enabled again", async () => {
    const { id } = await makeKey(harness);
    const disable = () => do_("POST", `${keys}/${id}/disable`, undefined, { "idempotency-key": "d1" });
    expect(await disable()).toMatchObject({ status: 200, json: { state: "disabled" } });
    await do_("POST", `${keys}/${id}/enable`, undefined, { "idempotency-key": "e1" });
    expect(await disable()).toMatchObject({ status: 200, json: { state: "active" } });
  });

  test("answer HEAD as GET", async () => {
    const { id } = await makeKey(harness);
    for (const path of [keys, `${keys}/${id}`, plans, audit]) {
      const [head, get] = [await harness.ask("HEAD", path), await harness.ask("GET", path)];
      expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, "", get.headers["content-length"]]);
    }
  });
});

describe("plans", () => {
  test("are made, changed, listed by name and deleted", async () => {
    const made = await do_("PUT", `${plans}/team`, { ...limits, concurrency: { limit: 3 } });
    expect([made.status, made.headers.location]).toEqual([201, `${plans}/team`]);
    const changed = await do_("PUT", `${plans}/team`, limits);
    expect([changed.status, changed.json]).toMatchObject([200, { name: "team", ...limits, concurrency: null }]);
    expect((await do_("GET", `${plans}/team`)).json).toEqual(changed.json);
    const names = (await do_("GET", plans)).json.items.map(({ name }: { name: string }) => name);
    expect(names).toEqual([...names].sort());
    expect(names).toContain("team");
    expect((await do_("DELETE", `${plans}/team`)).status).toBe(204);
    expect((await harness.ask("GET", `${plans}/team`)).status).toBe(404);
  });

  test("`default` is there before anybody wrote it, and again after it was deleted", async () => {
    const settings = {
      name: "default",
      rate: { limit: 600, window_seconds: 60 },
      month: { limit: 100_000 },
      concurrency: null,
      updated_at: null,
    };
    const before = await do_("GET", `${plans}/default`);
    expect(before.json).toMatchObject({ ...settings, concurrency: before.json.concurrency });
    expect((await do_("GET", plans)).json.items).toContainEqual(before.json);
    await do_("PUT", `${plans}/default`, limits);
    expect((await do_("GET", `${plans}/default`)).json).toMatchObject(limits);
    for (const written of [true, false]) {
      expect([written, (await harness.ask("DELETE", `${plans}/default`)).status]).toEqual([written, 204]);
      expect((await do_("GET", `${plans}/default`)).json).toEqual(before.json);
    }
    expect((await do_("GET", `${audit}?target=default&action=plan.delete`)).json.items).toHaveLength(1);
  });
});

describe("the audit", () => {
  test("tells who changed what, when and from where, by pages and filters", async () => {
    const { id } = await makeKey(harness);
    await do_("PATCH", `${keys}/${id}`, { scopes: ["routing"] });
    await do_("POST", `${keys}/${id}/disable?force=true`);
    await do_("GET", `${keys}/${id}`);
    const mine = await do_("GET", `${audit}?target=${id}`);
    const adminId = harness.adminKey.slice(8, 16);
    expect(mine.json.items).toMatchObject([
      { action: "key.disable", details: { changes: { state: { from: "active", to: "disabled" } }, force: true, version: 3 } },
      { action: "key.update", details: { changes: { scopes: { from: ["ip"], to: ["routing"] } }, version: 2 } },
      { action: "key.create", details: { label: "siem-prod", scopes: ["ip"], version: 1 } },
    ]);
    for (const entry of mine.json.items) {
      expect(entry).toMatchObject({ actor: `key:${adminId}`, key_id: adminId, address: "127.0.0.1", target: id });
    }
    const first = await do_("GET", `${audit}?target=${id}&limit=2&actor=key:${adminId}`);
    const rest = await do_("GET", `${audit}?target=${id}&limit=2&cursor=${first.json.next_cursor}`);
    expect([...first.json.items, ...rest.json.items]).toEqual(mine.json.items);
    expect(rest.json.next_cursor).toBeNull();
    expect((await do_("GET", `${audit}?target=${id}&action=key.update`)).json.items).toHaveLength(1);
    expect((await do_("GET", `${audit}?target=${id}&to=2026-01-01T00:00:00Z`)).json.items).toHaveLength(0);
    expect((await do_("GET", `${audit}?target=${id}&from=2026-01-01T00:00:00Z`)).json.items).toHaveLength(3);
  });
});
