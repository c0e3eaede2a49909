/** As many overrides as an installation may have: one more is refused with its reason, and all else goes on. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { openSqliteStore, overridesMax, type Store } from "@netfacts/storage";
import { type Harness, type HttpAnswer, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";

let folder: string;
let store: Store;
let gateway: Harness;
let adminKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "netfacts-profiles-"));
  const path = join(folder, "control.sqlite");
  store = await openSqliteStore(path);
  fill(path);
  gateway = await startGateway({ config: { OPERATOR_PORT: 0 }, storeSeen: () => store });
  await gateway.gateway.listen();
  adminKey = (await createKey(store, { label: "admin", scopes: ["admin"] })).secret;
});
afterAll(async () => {
  await gateway?.stop();
  await store?.close();
  await rm(folder, { recursive: true, force: true });
});

/** By itself: the store would make each of them durable. */
function fill(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("BEGIN");
  const insert = database.prepare("INSERT INTO profiles (asn, profile, source, updated_at) VALUES (?, ?, 'cli:filled', 1)");
  for (let asn = 1; asn <= overridesMax; asn++) insert.run(asn, JSON.stringify({ name: `Net ${asn}` }));
  database.exec("COMMIT");
  database.close();
}

async function ask(method: string, path: string, body?: object): Promise<HttpAnswer> {
  const response = await fetch(`${gateway.gateway.operator?.listeningOrigin}/admin/v1/profiles${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

test("one override more is refused, one can be replaced, and a deleted one makes room", async () => {
  const refused = expectProblem(await ask("PUT", "/AS64500", { name: "More" }), "invalid_parameter");
  expect(refused.errors).toMatchObject([
    { location: "path.asn", message: "cannot be overridden: 10000 ASes are, which is the limit; delete one first" },
  ]);
  expectProblem(await ask("GET", "/AS64500"), "profile_not_found");
  expect((await ask("PUT", "/AS7", { name: "Seven" })).status).toBe(200);
  expect((await ask("DELETE", "/AS8")).status).toBe(204);
  expect((await ask("PUT", "/AS64500", { name: "More" })).status).toBe(201);
});

test("a search through all of them finds the last one", async () => {
  const found: object[] = [];
  // A page that took long ends before the last profile.
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = JSON.parse((await ask("GET", `?q=net%2010000${cursor === "" ? "" : `&cursor=${cursor}`}`)).body);
    found.push(...page.items);
    cursor = page.next_cursor;
  }
  expect(found).toMatchObject([{ asn: 10_000 }]);
});
