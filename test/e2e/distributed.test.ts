/** The services as processes of their own: the same questions as of the one-process form, and what only several processes can get wrong. */

import { parseArgs } from "node:util";
import { afterAll, expect, test } from "@jest/globals";
import { createKey, type NewKey, readScopes } from "@netfacts/keys";
import { openFolderStore } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { parseCount, parseRate, parseScopes } from "../../services/cli/src/commands/keys/key-options.ts";
import { openLines, restOf } from "../../services/gateway-auth-quota/test/batch/support.ts";
import { madeWorld } from "../load/worlds.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { type OtlpReceiver, type Span, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { endAll, netfactsJsonWith, netfactsWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { startRecursiveDns } from "../support/recursive-dns.ts";
import { askEverything, resolverSettings } from "./questions.ts";

let all: Distributed;
let receiver: OtlpReceiver;
/** Of every key that was made. */
const secrets: string[] = [];
const undo: (() => Promise<void>)[] = [];
const home = temporaryFolder();

/** The first one by the command line; then by this process, which saves the start of a program. Options as of the command line. */
async function newKey(...options: string[]): Promise<{ id: string; secret: string }> {
  const made =
    secrets.length === 0
      ? await netfactsJsonWith<{ id: string; secret: string }>(all.env, home, "keys", "create", ...options)
      : await createKey(await openKeys(), specOf(options)).then(({ key: { id }, secret }) => ({ id, secret }));
  secrets.push(made.secret);
  return made;
}

let keys: Store | null = null;
async function openKeys(): Promise<Store> {
  if (keys === null) {
    const opened = await openMongoStore(all.mongoUrl, { appName: "e2e" });
    undo.push(() => opened.close());
    keys = opened;
  }
  return keys;
}

const text = { type: "string" } as const;
const keyOptions = { label: text, scopes: text, cidr: text, rate: text, month: text };

function specOf(args: string[]): NewKey {
  const { label = "", scopes, cidr, rate, month } = parseArgs({ args, options: keyOptions }).values;
  return {
    label,
    scopes: scopes === undefined ? readScopes : parseScopes(scopes),
    ...(cidr !== undefined && { allowedCidrs: [cidr] }),
    ...(rate !== undefined && { rate: parseRate(rate) }),
    ...(month !== undefined && { month: { limit: parseCount(month) } }),
  };
}

askEverything(async () => {
  const dns = await startRecursiveDns();
  undo.push(() => dns.stop());
  receiver = await startOtlpReceiver();
  undo.push(() => receiver.stop());
  all = await startDistributed({
    replicas: { "ip-routing": 2, "asn-prefix": 2, "gateway-auth-quota": 2 },
    // Pages of what was replaced are asked for however slow the machine is.
    settings: { RESOLVERS: dns.address, SNAPSHOT_KEEP_MS: "600000", ...resolverSettings, ...receiver.env },
  });
  return {
    url: all.gateways[0]?.url ?? "",
    operationsUrl: all.gateways[0]?.operationsUrl ?? "",
    podOperationsUrl: all.services["ip-routing"][0]?.operationsUrl ?? "",
    newKey,
    async changeKey(action, id) {
      const { code, err } = await netfactsWith(all.env, home, "keys", action, id);
      if (code !== 0) throw new Error(err);
    },
    dns,
    log: async () => all.logs(),
    stop: () => all.stop(),
  };
});
afterAll(async () => {
  await endAll();
  for (const step of undo.reverse()) await step();
  removeFolders();
});

test("both processes of a service take questions", async () => {
  for (const { operationsUrl } of all.services["ip-routing"]) {
    const { text } = await request(`${operationsUrl}/metrics`);
    expect(Number(/^netfacts_items_served_total\{[^}]*lane="single"[^}]*\} (\d+)/m.exec(text)?.[1])).toBeGreaterThan(0);
  }
});

test("every gateway knows a key, its change and what is left of its month", async () => {
  const { id, secret } = await newKey("--label", "both", "--month", "5");
  const ask = (gateway: number) => request(`${all.gateways[gateway]?.url}/api/v1/ip/193.0.6.139`, { key: secret });
  const statuses: number[] = [];
  for (let count = 0; count < 10; count++) statuses.push((await ask(count % 2)).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  await netfactsWith(all.env, home, "keys", "revoke", id);
  // Ten times what is promised for the middle of several changes, which are made elsewhere.
  for (const gateway of [0, 1]) await until(async () => (await ask(gateway)).status === 401, { timeoutMs: 10_000 });
});

test("a batch that is open when its key is revoked ends with the problem, at every gateway", async () => {
  const { id, secret } = await newKey("--label", "stream");
  const ends = await Promise.all(
    all.gateways.map(async ({ url }) => {
      const stream = openLines(`${url}/api/v1/batch`, { authorization: `Bearer ${secret}` });
      const timer = setInterval(() => stream.send('{"kind":"ip","value":"193.0.6.139"}\n'), 10);
      await stream.next();
      return { end: restOf(stream).finally(() => clearInterval(timer)) };
    }),
  );
  await netfactsWith(all.env, home, "keys", "revoke", id);
  const since = performance.now();
  for (const { end } of ends) {
    const { results, summary } = await end;
    expect(results.length).toBeGreaterThan(0);
    expect(summary?.problem?.code).toBe("revoked_api_key");
  }
  // As above.
  expect(performance.now() - since).toBeLessThan(10_000);
});

test("one trace leads from HTTP over NATS to the process that answered, and to the database", async () => {
  const { secret } = await newKey("--label", "traced");
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const caller = "00f067aa0ba902b7";
  const headers = { traceparent: `00-${traceId}-${caller}-01` };
  const { status } = await request(`${all.gateways[1]?.url}/api/v1/ip/193.0.6.139`, { key: secret, headers });
  expect(status).toBe(200);

  const is = (service: string, kind: Span["kind"], name: string) => (span: Span) =>
    span.service === service && span.kind === kind && span.name === name;
  const steps = [
    is("ip-routing", "server", "ip-routing/ip"),
    is("gateway-auth-quota", "client", "ip-routing/ip"),
    is("gateway-auth-quota", "server", "GET /api/v1/ip/:ip"),
  ];
  const keyRead = is("gateway-auth-quota", "client", "find keys");
  const spans = await receiver.waitForTrace(traceId, (found) => [...steps, keyRead].every((step) => found.some(step)));
  const above = (span: Span | undefined): Span[] =>
    span === undefined ? [] : [span, ...above(spans.find(({ spanId }) => spanId === span.parentSpanId))];

  const path = above(spans.find(steps[0] as (span: Span) => boolean));
  // One step apart: the answer's parent is the question, and no other of the same name.
  expect(path.slice(0, 2).map(({ service, kind }) => `${service} ${kind}`)).toEqual(["ip-routing server", "gateway-auth-quota client"]);
  expect(path.at(-1)).toMatchObject({ name: "GET /api/v1/ip/:ip", parentSpanId: caller });
  expect(above(spans.find(keyRead)).at(-1)).toMatchObject({ name: "GET /api/v1/ip/:ip", parentSpanId: caller });
  expect(spans.filter(({ isError }) => isError)).toEqual([]);
});

/** The AS of the samples with the most prefixes. */
const largestAs = 28573;

test("pages of a list fit together over all processes, also when other data come into service in between", async () => {
  const { secret: key } = await newKey("--label", "pages", "--rate", "1000000/60s", "--month", "1000000");
  let asked = 0;
  // Each page by the other gateway, and questions go to both pods.
  const ask = (query: string) => request(`${all.gateways[asked++ % 2]?.url}/api/v1/asn/AS${largestAs}?${query}`, { key });
  interface Prefixes {
    readonly items: readonly { readonly prefix: string }[];
    readonly total: number;
    readonly next_cursor: string | null;
  }
  const page = async (query: string): Promise<Prefixes> => {
    const answer = await ask(`fields=prefixes&${query}`);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json.prefixes;
  };
  for (const _gateway of all.gateways) await until(async () => (await ask("")).status === 200, { timeoutMs: 30_000 });
  const whole: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const prefixes = await page(`limit=1000&cursor=${cursor}`);
    whole.push(...prefixes.items.map(({ prefix }) => prefix));
    cursor = prefixes.next_cursor;
  }
  expect(whole.length).toBeGreaterThan(2_000);
  expect(new Set(whole).size).toBe(whole.length);

  const first = await page("limit=300");
  const paged = first.items.map(({ prefix }) => prefix);
  let link = (await ask("limit=300&format=text")).headers.get("link");
  expect(link).not.toBeNull();
  const store = openFolderStore(temporaryFolder());
  const { id } = await publishMade(store, { ...madeWorld(0), removesOthers: true });
  await all.publish({ store, id });
  const served = async () =>
    (await Promise.all([1, 2, 3, 4].map(() => ask("fields=prefixes")))).every(
      ({ status, text }) => status === 200 && JSON.parse(text).prefixes.total === 0,
    );
  await until(served, { timeoutMs: 60_000 });

  for (let cursor: string | null = first.next_cursor; cursor !== null; ) {
    const prefixes = await page(`limit=300&cursor=${cursor}`);
    expect(prefixes.total).toBe(whole.length);
    paged.push(...prefixes.items.map(({ prefix }) => prefix));
    cursor = prefixes.next_cursor;
  }
  expect(paged).toEqual(whole);

  // The same in lines, where the next page is in a header.
  const lines: string[] = whole.slice(0, 300);
  while (link !== null) {
    const answer = await request(`${all.gateways[asked++ % 2]?.url}${/^<([^>]+)>; rel="next"$/.exec(link)?.[1]}`, { key });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    lines.push(...answer.text.trimEnd().split("\n"));
    link = answer.headers.get("link");
  }
  expect(lines).toEqual(whole);
});

test("the rights that the documents list for each service are all that it needs", async () => {
  expect(all.logs()).not.toContain("a right is missing at NATS");
  // Also of what has a connection of its own, for snapshots.
  expect(all.nats.log()).not.toContain("Violation");
});

test("no key is in a log line, a metric or a span of any process, from its start to its end", async () => {
  const metrics = await Promise.all(all.processes.map(async ({ operationsUrl }) => (await request(`${operationsUrl}/metrics`)).text));
  await all.stop();
  const logs = all.logs();
  for (const { service } of all.processes) expect(logs).toContain(`"service":"${service}"`);
  expect(secrets.length).toBeGreaterThan(10);
  // What may be told of a key is there: its id.
  expect(logs).toContain(secrets[0]?.slice(8, 16));
  const told = [logs, ...metrics, ...receiver.bodies.map(String), all.nats.log()];
  for (const secret of secrets) for (const text of told) expect(text.includes(secret.slice(17))).toBe(false);
});
