/** The first key out of a secret: made once, final, and never a wrong one. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { generateKeyText, revokeKey } from "@netfacts/keys";
import { openSqliteStore, type Store, StoreError } from "@netfacts/storage";
import { loadGatewayConfig } from "../../src/app.ts";
import { ensureFirstAdminKey } from "../../src/operator/first-admin-key.ts";

let folder: string;
let store: Store;
const lines: [object, string][] = [];
const log = { info: (fields: object, message: string) => void lines.push([fields, message]), warn() {}, error() {} };
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "netfacts-admin-"));
  store = await openSqliteStore(join(folder, "store.sqlite"));
  lines.length = 0;
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

test("the key of a new installation has the scope admin and no other", async () => {
  const { text, id } = generateKeyText("live");
  await ensureFirstAdminKey(store, text, log);
  expect(await store.keys.find(id)).toMatchObject({ scopes: ["admin"], state: "active" });
  expect(JSON.stringify(lines)).not.toContain(text);
});

test("of several gateways that start at a time one makes it", async () => {
  const { text } = generateKeyText("live");
  await Promise.all(Array.from({ length: 4 }, () => ensureFirstAdminKey(store, text, log)));
  expect(await store.keys.list()).toHaveLength(1);
});

test("a key that was revoked stays revoked, whatever the secret says at the next start", async () => {
  const { text, id } = generateKeyText("live");
  await ensureFirstAdminKey(store, text, log);
  await revokeKey(store, id, { force: true });
  await ensureFirstAdminKey(store, text, log);
  expect((await store.keys.find(id))?.state).toBe("revoked");
  await ensureFirstAdminKey(store, generateKeyText("live").text, log);
  expect(await store.keys.list()).toHaveLength(1);
});

test("a start that died between marker and key is completed by the next, and by no other key", async () => {
  const { text, id } = generateKeyText("live");
  await store.bootstrap.claim(id);
  await expect(ensureFirstAdminKey(store, generateKeyText("live").text, log)).rejects.toThrow(`began with key ${id}`);
  await ensureFirstAdminKey(store, text, log);
  expect(await store.keys.find(id)).toMatchObject({ scopes: ["admin"] });
});

test("a first key that is not valid any more ends no start", async () => {
  const find = () => Promise.reject(new StoreError("invalid", "mongodb://db.example/netfacts", "is not valid"));
  await ensureFirstAdminKey({ ...store, keys: { ...store.keys, find } }, generateKeyText("live").text, log);
  expect(await store.keys.list()).toEqual([]);
  expect(lines).toEqual([[{}, expect.stringContaining("has no effect")]]);
});

test("settings: the key is whole, live, and from one place; no fault shows it", async () => {
  const live = generateKeyText("live").text;
  const file = join(folder, "key");
  await writeFile(file, `${live}\n`);
  expect(loadGatewayConfig({ ADMIN_KEY: live }).ADMIN_KEY).toBe(live);
  expect(loadGatewayConfig({ ADMIN_KEY_FILE: file }).ADMIN_KEY).toBe(live);
  const fault = (env: NodeJS.ProcessEnv): string => {
    try {
      loadGatewayConfig(env);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };
  const typo = live.slice(0, -1) + (live.endsWith("0") ? "1" : "0");
  expect(fault({ ADMIN_KEY: typo })).toMatch(/^ADMIN_KEY: .*checksum/);
  expect(fault({ ADMIN_KEY: typo })).not.toContain(typo.slice(12));
  expect(fault({ ADMIN_KEY: generateKeyText("test").text })).toMatch(/^ADMIN_KEY: a test key/);
  expect(fault({ ADMIN_KEY: live, ADMIN_KEY_FILE: file })).toMatch(/both set/);
  expect(fault({ ADMIN_KEY_FILE: join(folder, "none") })).toMatch(/^ADMIN_KEY_FILE: .* does not exist$/);
});

test("settings: ingest is an origin, and asked with a token that is long enough", () => {
  const token = "a".repeat(32);
  expect(loadGatewayConfig({ INGEST_URL: "http://ingest:8090", PROXY_TOKEN: token })).toMatchObject({ INGEST_URL: "http://ingest:8090" });
  for (const env of [
    { INGEST_URL: "http://ingest:8090" },
    { INGEST_URL: "http://ingest:8090", PROXY_TOKEN: "short" },
    { INGEST_URL: "http://ingest:8090/path", PROXY_TOKEN: token },
    { INGEST_URL: "http://:secret@ingest:8090", PROXY_TOKEN: token },
    { INGEST_URL: "ingest:8090", PROXY_TOKEN: token },
  ]) {
    expect(() => loadGatewayConfig(env)).toThrow(/INGEST_URL/);
  }
});
