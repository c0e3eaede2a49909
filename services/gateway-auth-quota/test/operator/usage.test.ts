/** `/admin/v1/usage`: what was counted, as operators ask for it; and that it is what was charged. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type UsageItem, UsageItems, usageClasses } from "@netfacts/contracts";
import { Value } from "typebox/value";
import { startGateway } from "../support/gateway.ts";
import { type OperatorHarness, startOperatorHarness } from "../support/operator.ts";
import { expectProblem } from "../support/provokes.ts";

const path = "/admin/v1/usage";
let harness: OperatorHarness;

beforeAll(async () => {
  harness = await startOperatorHarness();
  // Days long past: what the operator asks here is counted too, today.
  const row = { bucket: "shared", counted: 10, uncounted: 1 };
  const increments = ["AAAAAAAA", "BBBBBBBB"].flatMap((keyId) =>
    ["2025-10-31", "2025-11-01", "2025-11-02"].flatMap((day) => ["batch", "ip"].map((routeClass) => ({ ...row, keyId, day, routeClass }))),
  );
  await harness.gateway.store.usage.add({ writer: "test", sequence: 1, increments });
});
afterAll(() => harness.stop());

async function ask(query: string, headers: Record<string, string> = {}): Promise<UsageItems> {
  const answer = await harness.ask("GET", `${path}?${query}`, { headers });
  const body = JSON.parse(answer.body) as UsageItems;
  if (answer.status !== 200) throw new Error(answer.body);
  expect([answer.status, ...Value.Errors(UsageItems, body)]).toEqual([200]);
  return body;
}

const all = "from=2025-10-01&to=2025-11-30";

test("shows every row in order, with the sum of all", async () => {
  const { items, ...rest } = await ask(all);
  expect(rest).toEqual({ from: "2025-10-01", to: "2025-11-30", total: { counted: 120, uncounted: 12 }, next_cursor: null });
  expect(items).toHaveLength(12);
  expect(items[0]).toEqual({ key_id: "AAAAAAAA", bucket: "shared", day: "2025-10-31", route_class: "batch", counted: 10, uncounted: 1 });
});

test("narrows by month, days, key, bucket and class, and sums over what is not asked apart", async () => {
  const cases: [string, number, Partial<UsageItem>[]][] = [
    [
      "month=2025-11&by=key",
      80,
      [
        { key_id: "AAAAAAAA", counted: 40 },
        { key_id: "BBBBBBBB", counted: 40 },
      ],
    ],
    [
      `${all}&by=month`,
      120,
      [
        { month: "2025-10", counted: 40 },
        { month: "2025-11", counted: 80 },
      ],
    ],
    ["month=2025-11&by=day&key_id=AAAAAAAA", 40, [{ day: "2025-11-01" }, { day: "2025-11-02" }]],
    [`${all}&by=route_class&route_class=ip&bucket=shared`, 60, [{ route_class: "ip", counted: 60, uncounted: 6 }]],
    [`${all}&by=route_class&bucket=other`, 0, []],
    ["from=2025-11-02&to=2025-11-02&by=month", 40, [{ month: "2025-11", counted: 40 }]],
  ];
  for (const [query, counted, items] of cases) {
    const body = await ask(query);
    expect(body.total.counted).toBe(counted);
    expect(body.items).toEqual(items.map((item) => expect.objectContaining(item)));
  }
});

test("pages join to the whole list, in every order", async () => {
  for (const by of ["key,day,route_class", "key,month", "month,route_class", "day"]) {
    const whole = (await ask(`${all}&by=${by}&limit=1000`)).items;
    const joined: UsageItem[] = [];
    let cursor = "";
    do {
      const page = await ask(`${all}&by=${by}&limit=2${cursor}`);
      expect(page.items.length).toBeLessThanOrEqual(2);
      joined.push(...page.items);
      cursor = page.next_cursor === null ? "" : `&cursor=${page.next_cursor}`;
    } while (cursor !== "");
    expect(joined).toEqual(whole);
  }
});

test("CSV has every row, by Accept or by name", async () => {
  const byAccept = await harness.ask("GET", `${path}?${all}&by=key,month`, { headers: { accept: "text/csv" } });
  expect(byAccept).toMatchObject({
    status: 200,
    headers: { "content-type": "text/csv; charset=utf-8; header=present", "cache-control": "no-store" },
    body: [
      "key_id,bucket,month,counted,uncounted",
      "AAAAAAAA,shared,2025-10,20,2",
      "AAAAAAAA,shared,2025-11,40,4",
      "BBBBBBBB,shared,2025-10,20,2",
      "BBBBBBBB,shared,2025-11,40,4",
      "",
    ].join("\n"),
  });
  const named = await harness.ask("GET", `${path}?${all}&format=csv`);
  expect(named.body.split("\n")).toHaveLength(14);
  const head = await harness.ask("HEAD", `${path}?${all}&format=csv`);
  expect([head.status, head.body]).toEqual([200, ""]);
});

test("refuses what it cannot answer, naming the parameter", async () => {
  const cursor = (await ask(`${all}&limit=2`)).next_cursor;
  const cases: [string, string][] = [
    ["month=2025-13", "query.month"],
    ["from=2025-11-01", "query.to"],
    ["to=2025-11-01", "query.from"],
    ["from=2025-11-02&to=2025-11-01", "query.from"],
    ["month=2025-11&from=2025-11-01&to=2025-11-02", "query.month"],
    ["by=day,month", "query.by"],
    ["by=country", "query.by"],
    ["limit=0", "query.limit"],
    ["limit=1e2", "query.limit"],
    ["route_class=everything", "query.route_class"],
    ["keys=AAAAAAAA", "query.keys"],
  ];
  for (const [query, location] of cases) {
    const problem = expectProblem(await harness.ask("GET", `${path}?${query}`), "invalid_parameter");
    expect(problem.errors?.[0]?.location).toBe(location);
  }
  for (const query of [`${all}&cursor=AAAA`, `${all}&by=key&cursor=${cursor}`]) {
    expectProblem(await harness.ask("GET", `${path}?${query}`), "invalid_cursor");
  }
  expectProblem(await harness.ask("GET", path, { headers: { accept: "image/png" } }), "not_acceptable");
  expectProblem(await harness.ask("DELETE", path), "method_not_allowed");
  const reader = await harness.gateway.key();
  expectProblem(await harness.ask("GET", path, { key: reader }), "insufficient_scope");
  expectProblem(await harness.ask("GET", path, { key: null }), "missing_api_key");
});

test("what is counted is what was charged: months to the unit, and requests by what they were", async () => {
  const gateway = await startGateway();
  const { key: text, bucket } = await makeKey();
  const headers = { authorization: `Bearer ${text}` };
  const ask = (url: string, more: Record<string, string> = {}) => gateway.request("GET", url, { ...headers, ...more });
  const ip = "/api/v1/ip/193.0.6.139";
  const { etag } = (await ask(ip)).headers;
  for (let i = 0; i < 6; i++) await ask(ip);
  await ask(ip, { "if-none-match": etag ?? "" });
  await ask("/api/v1/ip/nonsense");
  await ask("/api/v1/asn/AS3333");
  await ask("/api/v1/validity?asn=3333&prefix=193.0.0.0/21");
  await gateway.request("HEAD", "/api/v1/prefix/193.0.0.0/21", headers);
  await ask("/api/v1/me");
  await ask("/api/v1/nowhere");
  await gateway.request("GET", "/api/v1/status");
  const batch = await gateway.gateway.http.inject({
    method: "POST",
    url: "/api/v1/batch",
    headers: { ...headers, "content-type": "application/x-ndjson" },
    body: `{"kind":"ip","value":"193.0.6.139"}\n{"kind":"asn","value":3333}\nnonsense\n`,
  });
  expect(batch.statusCode).toBe(200);
  // The stop writes what is counted; the store of the harness is closed by it, so it is asked before.
  await gateway.gateway.stop();
  const month = new Date().toISOString().slice(0, 7);
  const rows = await gateway.store.usage.list({ from: `${month}-01`, to: `${month}-31`, bucket });
  const byClass = Object.fromEntries(rows.map(({ routeClass, counted, uncounted }) => [routeClass, [counted, uncounted]]));
  expect(byClass).toEqual({
    ip: [7, 2],
    asn: [1, 0],
    validity: [1, 0],
    prefix: [1, 0],
    me: [0, 1],
    other: [0, 1],
    batch: [2, 1],
  });
  expect(Object.keys(byClass).every((name) => (usageClasses as readonly string[]).includes(name))).toBe(true);
  const total = await gateway.store.usage.monthTotal(bucket, month);
  const start = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1) / 1_000;
  const charged = await gateway.store.limits.read({ bucket, policy: "month", start, expiresAt: Date.UTC(2100, 0, 1) });
  expect(total.counted).toBe(charged.leased);
  await gateway.stop();

  async function makeKey() {
    const key = await gateway.key({ scopes: ["ip", "routing", "asn", "prefix", "batch"] });
    return { key, bucket: key.split("_")[2] ?? "" };
  }
});
