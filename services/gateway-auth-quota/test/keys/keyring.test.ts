/** The keyring: order of checks, what each failure tells, caching and what ends it. */

import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { generateKeyText, hashKey } from "@netfacts/keys";
import { createKeyring, type Keyring, type KeyringSettings } from "../../src/keys/index.ts";
import { FakeKeys } from "../support/key-stores.ts";

let keys: FakeKeys;
let nowMs: number;
let monotonicMs: number;
let publish: (payload: unknown) => void;
let connection: (up: boolean) => void;

beforeEach(() => {
  keys = new FakeKeys();
  nowMs = Date.UTC(2026, 10, 21, 9);
  monotonicMs = 1_000;
});

function keyring(settings: Partial<KeyringSettings> = {}, onUnknownPepper: (id: string) => void = () => {}): Keyring {
  const messaging = {
    subscribe(subject: string, listener: (payload: unknown) => void) {
      expect(subject).toBe("keys.changed");
      publish = listener;
      return { stop: () => Promise.resolve() };
    },
    watchConnection(listener: (up: boolean) => void) {
      connection = listener;
      listener(true);
      return { stop: () => Promise.resolve() };
    },
  };
  return createKeyring({
    store: keys.store,
    messaging,
    clock: { now: () => nowMs, monotonic: () => monotonicMs },
    settings,
    onUnknownPepper,
  });
}

const from = "198.51.100.7";
const header = ({ secret }: { secret: string }): string => `Bearer ${secret}`;

/** The code of a refusal, or `ok`. */
async function outcome(ring: Keyring, authorization: string | undefined, address = from, scope?: "ip" | "asn"): Promise<string> {
  const verification = await ring.verify(authorization, address, scope);
  return verification.ok ? "ok" : verification.code;
}

describe("checks", () => {
  test("a good key is told with everything but its secret", async () => {
    const created = await keys.create({ allowedCidrs: ["198.51.100.0/24"], rate: { limit: 5, windowSeconds: 10 } });
    const verification = await keyring().verify(header(created), from, "ip");
    if (!verification.ok) throw new Error(verification.code);
    expect(verification.key).toMatchObject({
      id: created.id,
      bucket: created.id,
      label: "siem-prod",
      display: `nf_live_${created.id}_…${created.secret.slice(-4)}`,
      scopes: new Set(["ip"]),
      allowedCidrs: ["198.51.100.0/24"],
      limits: { rate: { limit: 5, windowSeconds: 10 }, month: { limit: 100_000 } },
      rotation: { replacedBy: null, validUntil: null },
    });
    expect(JSON.stringify(verification)).not.toContain(created.secret.slice(17, 30));
    expect(JSON.stringify(verification)).not.toContain(hashKey(created.secret, null).hash);
  });

  test("the scheme is any case; what is no bearer token is a missing key", async () => {
    const created = await keys.create();
    const ring = keyring();
    expect(await outcome(ring, `bEaReR   ${created.secret}  `)).toBe("ok");
    for (const missing of [undefined, "", "Bearer", "Bearer ", `Basic ${created.secret}`, created.secret, `Bearer a b`]) {
      expect(await outcome(ring, missing)).toBe("missing_api_key");
    }
  });

  test("text that is no key costs no read and no failed try", async () => {
    const { secret } = await keys.create();
    const ring = keyring({ failedKeysMax: 1 });
    for (const wrong of ["x", secret.slice(0, -1), `${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`, "nf_live_".repeat(2_000)]) {
      expect(await outcome(ring, `Bearer ${wrong}`)).toBe("invalid_api_key");
    }
    expect(keys.reads).toBe(0);
    expect(await outcome(ring, `Bearer ${secret}`)).toBe("ok");
  });

  test("an unknown id and a wrong secret look the same", async () => {
    const { id } = await keys.create();
    const ring = keyring();
    const unknown = await ring.verify(header({ secret: generateKeyText("live").text }), from);
    const wrong = await ring.verify(header({ secret: generateKeyText("live", id).text }), from);
    expect(wrong).toEqual(unknown);
    expect(wrong).toMatchObject({ ok: false, code: "invalid_api_key", key: null });
  });

  test("state, address and scope refuse in this order, and only after the secret matched", async () => {
    const created = await keys.create({ allowedCidrs: ["203.0.113.0/24"] });
    const forged = { secret: generateKeyText("live", created.id).text };
    const ring = keyring();
    const next = async (change: Parameters<FakeKeys["change"]>[1]): Promise<string> => {
      keys.change(created.id, change);
      publish({ key_id: created.id, version: 2 });
      expect(await outcome(ring, header(forged), from, "asn")).toBe("invalid_api_key");
      return outcome(ring, header(created), from, "asn");
    };
    expect(await next({ state: "revoked", expiresAt: 1 })).toBe("revoked_api_key");
    expect(await next({ state: "disabled" })).toBe("disabled_api_key");
    expect(await next({ state: "active" })).toBe("expired_api_key");
    expect(await next({ expiresAt: null })).toBe("ip_not_allowed");
    expect(await next({ allowedCidrs: [] })).toBe("insufficient_scope");
    expect(await next({ scopes: ["asn"] })).toBe("ok");
  });

  test("a key expires at its moment, cached or not", async () => {
    const created = await keys.create();
    keys.change(created.id, { expiresAt: nowMs + 1_000 });
    const ring = keyring();
    expect(await outcome(ring, header(created))).toBe("ok");
    nowMs += 999;
    expect(await outcome(ring, header(created))).toBe("ok");
    nowMs += 1;
    expect(await outcome(ring, header(created))).toBe("expired_api_key");
  });

  test("only a lacking scope leaves the request authenticated", async () => {
    const created = await keys.create();
    const ring = keyring();
    expect(await ring.verify(header(created), from, "asn")).toMatchObject({
      code: "insufficient_scope",
      detail: "The key does not have the scope `asn`.",
      key: { id: created.id },
    });
    keys.change(created.id, { state: "revoked" });
    publish({ key_id: created.id, version: 2 });
    expect(await ring.verify(header(created), from, "asn")).toMatchObject({ code: "revoked_api_key", key: null });
  });

  test("allowed CIDRs hold for both families, mapped addresses and no address at all", async () => {
    const created = await keys.create({ allowedCidrs: ["198.51.100.0/24", "2001:db8::/32"] });
    const ring = keyring();
    const answers = ["198.51.100.7", "::ffff:198.51.100.7", "2001:db8::7", "198.51.101.7", "2001:db9::7", "::198.51.100.7", "@"];
    expect(await Promise.all(answers.map((address) => outcome(ring, header(created), address)))).toEqual([
      ...["ok", "ok", "ok"],
      ...["ip_not_allowed", "ip_not_allowed", "ip_not_allowed", "ip_not_allowed"],
    ]);
  });

  test("allowed CIDRs that are IPv4-mapped are their IPv4 networks, also where the store has them as they were written", async () => {
    const created = await keys.create({ allowedCidrs: ["::ffff:198.51.100.0/120", "::ffff:203.0.113.9"] });
    expect(keys.records.get(created.id)?.allowedCidrs).toEqual(["198.51.100.0/24", "203.0.113.9/32"]);
    keys.change(created.id, { allowedCidrs: ["::ffff:198.51.100.0/120"] });
    const ring = keyring();
    const answers = ["198.51.100.7", "::ffff:198.51.100.7", "198.51.101.7"];
    expect(await Promise.all(answers.map((address) => outcome(ring, header(created), address)))).toEqual(["ok", "ok", "ip_not_allowed"]);
  });

  test("a key stored with a pepper needs it", async () => {
    const created = await keys.create();
    keys.change(created.id, hashKey(created.secret, { id: "p1", secret: "pepper" }));
    expect(await outcome(keyring({ peppers: new Map([["p1", "pepper"]]) }), header(created))).toBe("ok");
    expect(await outcome(keyring(), header(created))).toBe("invalid_api_key");
  });
});

describe("failed keys", () => {
  const guess = (): string => header({ secret: generateKeyText("live").text });

  test("too many from one address get 429 until its window ends, and shut out no good key", async () => {
    const [used, fresh] = [await keys.create(), await keys.create()];
    const ring = keyring({ failedKeysMax: 3, failedKeysWindowMs: 60_000 });
    expect(await outcome(ring, header(used))).toBe("ok");
    for (let i = 0; i < 3; i++) expect(await outcome(ring, guess())).toBe("invalid_api_key");
    monotonicMs += 20_500;
    expect(await ring.verify(guess(), from)).toMatchObject({ code: "too_many_failed_keys", retryAfterSeconds: 40 });
    expect([await outcome(ring, header(used)), await outcome(ring, header(fresh))]).toEqual(["ok", "ok"]);
    expect(await outcome(ring, guess(), "198.51.100.8")).toBe("invalid_api_key");
    monotonicMs += 39_500;
    expect(await outcome(ring, guess())).toBe("invalid_api_key");
  });

  test("a key that was used here keeps its place beyond every bound, also when it has to be read again", async () => {
    const created = await keys.create();
    const ring = keyring({ failedKeysMax: 1, failedReadsPerSecond: 0, triesPerSecond: 1 });
    expect(await outcome(ring, header(created))).toBe("ok");
    await outcome(ring, guess());
    for (const end of [() => publish({ key_id: created.id, version: 2 }), () => connection(false), () => (monotonicMs += 30_000)]) {
      end();
      expect(await outcome(ring, guess())).toBe("too_many_failed_keys");
      expect(await outcome(ring, header(created))).toBe("ok");
    }
  });

  test("tries in flight count: no more are read than the bounds allow, however many come at once", async () => {
    const ring = keyring({ failedKeysMax: 20, failedReadsPerSecond: 5 });
    const release = keys.hold();
    const waiting = Array.from({ length: 569 }, () => outcome(ring, guess()));
    expect(keys.reads).toBe(20);
    release();
    const codes = await Promise.all(waiting);
    expect(keys.reads).toBe(25);
    expect(codes.filter((code) => code === "invalid_api_key")).toHaveLength(20);
    expect(codes.filter((code) => code === "too_many_failed_keys")).toHaveLength(549);
  });

  test("keys that are new here and come all at once are all read, where they are good", async () => {
    const created = await Promise.all(Array.from({ length: 100 }, () => keys.create()));
    const ring = keyring({ failedKeysMax: 3, failedReadsPerSecond: 1, triesPerSecond: 10 });
    for (let i = 0; i < 3; i++) await outcome(ring, guess());
    monotonicMs += 1_000;
    const codes = await Promise.all(created.map((each) => outcome(ring, header(each))));
    expect(new Set(codes)).toEqual(new Set(["ok"]));
    expect(keys.reads).toBe(103);
  });

  test("a good key waits a second for tries in flight, and then is told to come again", async () => {
    const created = await keys.create();
    const ring = keyring({ failedKeysMax: 1 });
    const release = keys.hold();
    const guessed = outcome(ring, guess());
    const waiting = outcome(ring, header(created));
    monotonicMs += 1_001;
    release();
    expect([await guessed, await waiting]).toEqual(["invalid_api_key", "upstream_unavailable"]);
  });

  test("good keys that are in flight together shut nobody out, and use up no reads", async () => {
    const created = await Promise.all(Array.from({ length: 12 }, () => keys.create()));
    const ring = keyring({ failedKeysMax: 3, failedReadsPerSecond: 1 });
    for (const each of created) expect(await outcome(ring, header(each))).toBe("ok");
    for (let i = 0; i < 3; i++) expect(await outcome(ring, guess())).toBe("invalid_api_key");
    const others = await Promise.all(Array.from({ length: 12 }, () => keys.create()));
    for (const each of others) expect(await outcome(ring, header(each))).toBe("ok");
  });

  test("all addresses together read so much in a second, and then are told to come again", async () => {
    const created = await keys.create();
    const ring = keyring({ triesPerSecond: 50 });
    expect(await outcome(ring, header(created))).toBe("ok");
    keys.reads = 0;
    monotonicMs = 10_100;
    for (let i = 0; i < 500; i++) await ring.verify(guess(), `2001:db8:0:${i.toString(16)}::1`);
    expect(keys.reads).toBe(50);
    expect(await ring.verify(guess(), "192.0.2.1")).toMatchObject({ code: "upstream_unavailable", retryAfterSeconds: 1 });
    expect(await outcome(ring, header(created))).toBe("ok");
    monotonicMs += 900;
    expect(await outcome(ring, guess(), "192.0.2.1")).toBe("invalid_api_key");
  });

  test("an unknown id and a wrong secret cost the same reads, and are refused no sooner than a set time", async () => {
    const known = await keys.create();
    const ring = keyring({ failedKeysMax: 1_000, failureMs: 30 });
    expect(await outcome(ring, header(known))).toBe("ok");
    const unknown = generateKeyText("live");
    for (const id of [known.id, unknown.id]) {
      keys.reads = 0;
      for (let i = 0; i < 3; i++) {
        const since = performance.now();
        expect(await outcome(ring, header({ secret: generateKeyText("live", id).text }))).toBe("invalid_api_key");
        expect(performance.now() - since).toBeGreaterThanOrEqual(30);
      }
      expect(keys.reads).toBe(1);
    }
    expect(await outcome(ring, header(known))).toBe("ok");
  });

  test("an IPv6 /64 is one source; the next one is another", async () => {
    const ring = keyring({ failedKeysMax: 2 });
    await outcome(ring, guess(), "2001:db8:0:1::1");
    await outcome(ring, guess(), "2001:db8:0:1:ffff::2");
    expect(await outcome(ring, guess(), "2001:db8:0:1::3")).toBe("too_many_failed_keys");
    expect(await outcome(ring, guess(), "2001:db8:0:2::1")).toBe("invalid_api_key");
  });

  test("a mapped address is its IPv4 address", async () => {
    const ring = keyring({ failedKeysMax: 1 });
    await outcome(ring, guess(), `::ffff:${from}`);
    expect(await outcome(ring, guess(), from)).toBe("too_many_failed_keys");
  });

  test("a key that is refused for its state is no failed try", async () => {
    const created = await keys.create();
    keys.change(created.id, { state: "disabled" });
    const ring = keyring({ failedKeysMax: 1 });
    for (let i = 0; i < 3; i++) expect(await outcome(ring, header(created))).toBe("disabled_api_key");
  });

  test("remembers a bounded number of sources, the newest", async () => {
    const ring = keyring({ failedKeysMax: 1, failedSourcesMax: 2 });
    for (const last of [1, 2, 3]) await outcome(ring, guess(), `192.0.2.${last}`);
    expect(await outcome(ring, guess(), "192.0.2.3")).toBe("too_many_failed_keys");
    expect(await outcome(ring, guess(), "192.0.2.1")).toBe("invalid_api_key");
  });
});

describe("cache", () => {
  test("a key is read once in 30 seconds", async () => {
    const created = await keys.create();
    const ring = keyring();
    for (let i = 0; i < 100; i++) await outcome(ring, header(created));
    monotonicMs += 29_999;
    await outcome(ring, header(created));
    expect(keys.reads).toBe(1);
    monotonicMs += 1;
    await outcome(ring, header(created));
    expect(keys.reads).toBe(2);
  });

  test("an unchanged key stays the same object when it is read again", async () => {
    const created = await keys.create();
    const ring = keyring();
    const first = await ring.verify(header(created), from);
    monotonicMs += 30_000;
    const second = await ring.verify(header(created), from);
    expect(keys.reads).toBe(2);
    expect(first.ok && second.ok && first.key === second.key).toBe(true);
  });

  test("many requests at once share one read", async () => {
    const created = await keys.create();
    const ring = keyring();
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcome(ring, header(created))));
    expect(new Set(outcomes)).toEqual(new Set(["ok"]));
    expect(keys.reads).toBe(1);
  });

  test("an unknown id is asked for once in 5 seconds, and known at once when its creation is told", async () => {
    const created = await keys.create();
    const record = keys.records.get(created.id);
    keys.records.clear();
    const ring = keyring({ failedKeysMax: 100 });
    for (let i = 0; i < 20; i++) expect(await outcome(ring, header(created))).toBe("invalid_api_key");
    expect(keys.reads).toBe(1);
    monotonicMs += 5_000;
    await outcome(ring, header(created));
    expect(keys.reads).toBe(2);
    if (record !== undefined) keys.records.set(created.id, record);
    publish({ key_id: created.id, version: 1 });
    expect(await outcome(ring, header(created))).toBe("ok");
  });

  test("a broadcast ends a revoked key at the next request", async () => {
    const created = await keys.create();
    const other = await keys.create();
    const ring = keyring();
    expect([await outcome(ring, header(created)), await outcome(ring, header(other))]).toEqual(["ok", "ok"]);
    keys.change(created.id, { state: "revoked" });
    publish({ key_id: created.id, version: 2 });
    expect([await outcome(ring, header(created)), await outcome(ring, header(other))]).toEqual(["revoked_api_key", "ok"]);
    expect(keys.reads).toBe(3);
  });

  test("the store's own signal, and a broadcast that names no key, end every entry", async () => {
    const created = await keys.create();
    const ring = keyring();
    await outcome(ring, header(created));
    keys.change(created.id, { state: "disabled" });
    for (const listener of keys.listeners) listener();
    expect(await outcome(ring, header(created))).toBe("disabled_api_key");
    keys.change(created.id, { state: "active" });
    publish("nonsense");
    expect(await outcome(ring, header(created))).toBe("ok");
  });

  test("a read that a change overtook is thrown away, for all who wait for it", async () => {
    const created = await keys.create();
    const ring = keyring();
    const release = keys.hold();
    const waiting = [outcome(ring, header(created)), outcome(ring, header(created))];
    keys.change(created.id, { state: "revoked" });
    publish({ key_id: created.id, version: 2 });
    release();
    expect(await Promise.all(waiting)).toEqual(["revoked_api_key", "revoked_api_key"]);
    expect(keys.reads).toBe(2);
    expect(await outcome(ring, header(created))).toBe("revoked_api_key");
  });

  test("with the store away a known key serves for 5 minutes, unless a change was told", async () => {
    const [kept, changed] = [await keys.create(), await keys.create()];
    const ring = keyring();
    await outcome(ring, header(kept));
    await outcome(ring, header(changed));
    keys.away = true;
    publish({ key_id: changed.id, version: 2 });
    expect(await ring.verify(header(changed), from)).toMatchObject({ code: "upstream_unavailable", retryAfterSeconds: 1, key: null });
    monotonicMs += 200_000;
    expect(await outcome(ring, header(kept))).toBe("ok");
    monotonicMs += 99_999;
    expect(await outcome(ring, header(kept))).toBe("ok");
    monotonicMs += 1;
    expect(await outcome(ring, header(kept))).toBe("upstream_unavailable");
    keys.away = false;
    expect([await outcome(ring, header(kept)), await outcome(ring, header(changed))]).toEqual(["ok", "ok"]);
  });

  test("a key is read again when the broadcasts are lost and when they come back", async () => {
    const created = await keys.create();
    const ring = keyring();
    await outcome(ring, header(created));
    for (const up of [false, true]) {
      connection(up);
      await outcome(ring, header(created));
      await outcome(ring, header(created));
    }
    expect(keys.reads).toBe(3);
  });

  test("while changes are not told a key is read again after two seconds", async () => {
    const created = await keys.create();
    const ring = keyring();
    connection(false);
    await outcome(ring, header(created));
    keys.change(created.id, { state: "revoked" });
    monotonicMs += 1_999;
    expect(await outcome(ring, header(created))).toBe("ok");
    monotonicMs += 1;
    expect(await outcome(ring, header(created))).toBe("revoked_api_key");
  });

  test("a broker that does not answer tells no changes, though the connection is up", async () => {
    const created = await keys.create();
    let answers = true;
    const messaging = {
      subscribe: () => ({ stop: () => {} }),
      watchConnection(listener: (up: boolean) => void) {
        listener(true);
        return { stop: () => {} };
      },
      probe: async () => answers,
    };
    const ring = createKeyring({ store: keys.store, messaging, clock: { now: () => nowMs, monotonic: () => monotonicMs } });
    expect(await outcome(ring, header(created))).toBe("ok");
    keys.change(created.id, { state: "disabled" });
    answers = false;
    const since = performance.now();
    while ((await outcome(ring, header(created))) === "ok" && performance.now() - since < 30_000) await sleep(10);
    expect(await outcome(ring, header(created))).toBe("disabled_api_key");
    ring.stop();
  });

  test("with the store away too, no key serves while changes are not told", async () => {
    const created = await keys.create();
    const ring = keyring();
    connection(false);
    expect(await outcome(ring, header(created))).toBe("ok");
    keys.away = true;
    monotonicMs += 30_000;
    expect(await outcome(ring, header(created))).toBe("upstream_unavailable");
    keys.away = false;
    expect(await outcome(ring, header(created))).toBe("ok");
  });

  test("while the store is away it is asked at most once a second", async () => {
    const created = await keys.create();
    const ring = keyring();
    await outcome(ring, header(created));
    keys.away = true;
    monotonicMs += 30_000;
    for (let i = 0; i < 20; i++) await outcome(ring, header(created));
    expect(keys.reads).toBe(2);
    monotonicMs += 1_000;
    await outcome(ring, header(created));
    expect(keys.reads).toBe(3);
  });

  test("a store that is away makes nobody's key a failed one", async () => {
    const created = await keys.create();
    keys.away = true;
    const ring = keyring({ failedKeysMax: 1 });
    for (let i = 0; i < 3; i++) expect(await outcome(ring, header(created))).toBe("upstream_unavailable");
    keys.away = false;
    expect(await outcome(ring, header(created))).toBe("ok");
  });

  test("stopping ends the listening", async () => {
    const ring = keyring();
    expect(keys.listeners.size).toBe(1);
    ring.stop();
    expect(keys.listeners.size).toBe(0);
  });
});

describe("limits of plans", () => {
  const plan = (month: number) => ({
    name: "team",
    rate: { limit: 5, windowSeconds: 1 },
    month: { limit: month },
    concurrency: null,
    updatedAt: month,
    version: month,
  });
  const limitsOf = async (ring: Keyring, created: { secret: string }) => {
    const verification = await ring.verify(header(created), from);
    if (!verification.ok) throw new Error(verification.code);
    return verification.key.limits;
  };

  test("are the key's, where it has none of its own; of `default` where its plan is not there; of the settings at last", async () => {
    const defaultLimits = { rate: { limit: 1, windowSeconds: 1 }, month: { limit: 1 }, concurrency: { limit: 1 } };
    const ring = keyring({ defaultLimits });
    const [own, of_plan, astray] = [
      await keys.create({ plan: "team", month: { limit: 9 } }),
      await keys.create({ plan: "team" }),
      await keys.create({ plan: "gone" }),
    ];
    keys.plans.set("team", plan(7));
    expect(await limitsOf(ring, own)).toEqual({ rate: { limit: 5, windowSeconds: 1 }, month: { limit: 9 }, concurrency: null });
    expect((await limitsOf(ring, of_plan)).month).toEqual({ limit: 7 });
    expect(await limitsOf(ring, astray)).toEqual(defaultLimits);
    keys.plans.set("default", { ...plan(3), name: "default" });
    publish({ plan: "default", version: 1 });
    expect((await limitsOf(ring, astray)).month).toEqual({ limit: 3 });
  });

  test("are read once for many keys, and again when a plan's change is told", async () => {
    keys.plans.set("team", plan(7));
    const ring = keyring();
    const made = await Promise.all(Array.from({ length: 10 }, () => keys.create({ plan: "team" })));
    await Promise.all(made.map((each) => limitsOf(ring, each)));
    expect(keys.planReads).toBe(1);
    keys.plans.set("team", plan(8));
    publish({ plan: "team", version: 8 });
    expect((await limitsOf(ring, made[0] as { secret: string })).month).toEqual({ limit: 8 });
    expect(keys.planReads).toBe(2);
  });

  test("with no word of a change they are no older than the life of a key in the cache", async () => {
    keys.plans.set("team", plan(7));
    const ring = keyring({ cacheLifetimeMs: 30_000 });
    const [one, two] = [await keys.create({ plan: "team" }), await keys.create({ plan: "team" })];
    await limitsOf(ring, one);
    // Read with what was read for the first one, and just as old.
    monotonicMs += 900;
    await limitsOf(ring, two);
    keys.plans.set("team", plan(8));
    monotonicMs += 29_100;
    expect((await limitsOf(ring, two)).month).toEqual({ limit: 8 });
  });

  test("go on while the store is away, like the key", async () => {
    keys.plans.set("team", plan(7));
    const ring = keyring({ cacheLifetimeMs: 1_000, cacheAwayMs: 60_000 });
    const created = await keys.create({ plan: "team" });
    await limitsOf(ring, created);
    keys.away = true;
    monotonicMs += 5_000;
    expect((await limitsOf(ring, created)).month).toEqual({ limit: 7 });
  });
});

describe("peppers", () => {
  const old = { id: "p1", secret: "an earlier pepper of this test" };
  const pepper = { id: "p2", secret: "the pepper of this test" };
  const peppers = new Map([old, pepper].map(({ id, secret }) => [id, secret]));

  test("a key of an earlier pepper is hashed anew when it is used, once, and matches before and after", async () => {
    const created = await keys.create();
    keys.change(created.id, hashKey(created.secret, old));
    const ring = keyring({ peppers, pepper });
    expect(await outcome(ring, header({ secret: generateKeyText("live", created.id).text }))).toBe("invalid_api_key");
    expect(keys.rehashed).toEqual([]);
    for (let i = 0; i < 3; i++) expect(await outcome(ring, header(created))).toBe("ok");
    expect(keys.rehashed).toEqual([created.id]);
    expect(keys.records.get(created.id)).toMatchObject(hashKey(created.secret, pepper));
    connection(false);
    connection(true);
    expect(await outcome(ring, header(created))).toBe("ok");
    expect(keys.rehashed).toEqual([created.id]);
  });

  test("without a pepper of its own a gateway leaves hashes as they are, and one that lacks the pepper refuses", async () => {
    const created = await keys.create();
    keys.change(created.id, hashKey(created.secret, old));
    expect(await outcome(keyring({ peppers }), header(created))).toBe("ok");
    expect(keys.rehashed).toEqual([]);
    const told: string[] = [];
    const lacking = keyring({ peppers: new Map([["p2", pepper.secret]]), pepper }, (id) => told.push(id));
    for (let i = 0; i < 3; i++) expect(await outcome(lacking, header(created))).toBe("invalid_api_key");
    expect(told).toEqual(["p1"]);
  });
});
