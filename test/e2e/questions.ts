/**
 * The questions that every form of Netfacts must answer over HTTP, the same for one process and for many. The target serves
 * the sample dataset, and asks `startRecursiveDns` about names.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { BatchAnswer, IpRecord, MeRecord, operations, Problem, requestIdPattern, StatusRecord } from "@netfacts/contracts";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { manyNames, recordTtl, soaMinimum } from "../support/dns-zones.ts";
import { type Answer, median, type RequestOptions, request, until } from "../support/http.ts";
import type { RecursiveDns } from "../support/recursive-dns.ts";
import { isLong } from "../support/runs.ts";
import { exampleRequests } from "./openapi-examples.ts";

/** What the questions are asked of. */
export interface Target {
  readonly url: string;
  /** Where `/metrics`, `/healthz` and `/readyz` are. */
  readonly operationsUrl: string;
  /** The same of a process that answers from snapshots. */
  readonly podOperationsUrl: string;
  /** Makes a key by another process than the target's; options as of `netfacts keys create`. */
  newKey(...options: string[]): Promise<{ id: string; secret: string }>;
  /** Changes a key's state by another process; resolves when that process has ended. */
  changeKey(action: "disable" | "enable" | "revoke", id: string): Promise<void>;
  /** What its resolver asks. */
  readonly dns: Pick<RecursiveDns, "stopRecursor" | "restartRecursor">;
  /** Everything that was logged. */
  log(): Promise<string>;
  stop(): Promise<void>;
}

const propagationMs = 1_000;
/** Each starts a program four times. Tests of the gateway and of the command line measure ten changes. */
const rounds = isLong ? 5 : 3;

/** Packages of servers may have to be had first. */
const startMsMax = 180_000;

/** For the resolver of a target, so that a name that nobody answers for is given up in two seconds. */
export const resolverSettings = { RDNS_TIMEOUT_MS: "1000" };

/** A recursor counts the TTL down from when it asked itself: within half a minute of the record's. */
const nearly = (seconds: number) => expect.closeTo(seconds, -1.7);

export function askEverything(start: () => Promise<Target>): void {
  let target: Target;
  let key: string;
  const secrets: string[] = [];

  const newKey = async (...options: string[]) => {
    const made = await target.newKey("--label", "e2e", ...options);
    secrets.push(made.secret);
    return made;
  };
  const get = (path: string, options: RequestOptions = {}): Promise<Answer> => request(`${target.url}${path}`, { key, ...options });
  const open = (path: string, options: RequestOptions = {}): Promise<Answer> => request(`${target.url}${path}`, options);

  beforeAll(async () => {
    target = await start();
    // More than all questions here, so that only the tests of limits meet one.
    ({ secret: key } = await newKey("--rate", "100000/60s"));
    await until(async () => (await get("/api/v1/me")).status === 200);
  }, startMsMax);
  afterAll(() => target?.stop());

  function expectRecord(answer: Answer, schema: TSchema): void {
    expect([answer.status, answer.json.detail]).toEqual([200, undefined]);
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect([...Value.Errors(schema, answer.json)]).toEqual([]);
    expect(answer.headers.get("x-request-id")).toMatch(requestIdPattern);
  }

  function expectProblem(answer: Answer, status: number, code: string): void {
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect([...Value.Errors(Problem, answer.json)]).toEqual([]);
    expect(answer.json.request_id).toBe(answer.headers.get("x-request-id"));
    expect(answer.headers.get("cache-control")).toBe("no-store");
  }

  const lookups: [keyof typeof operations, string, object][] = [
    [
      "ip",
      "/ip/193.0.6.139",
      {
        ip: "193.0.6.139",
        allocation: { registry: "ripencc" },
        routing: { announced: true, prefix: "193.0.0.0/21" },
        rpki: { state: "valid" },
        country_flag: { country: "NL" },
        location: {
          country: "NL",
          region: "NL-NH",
          city: "Amsterdam",
          latitude: 52.37,
          longitude: 4.9,
          radius_km: 10,
          basis: "observation",
          confidence: 0.99,
          observations: 3,
          last_observed_at: "2014-05-30T12:00:00Z",
          outliers: {
            observations: 1,
            items: [{ country: "DE", region: "DE-BE", city: "Berlin", distance_km: 576, observations: 1, last_observed_on: "2014-05-27" }],
          },
          agrees_with_registration: true,
        },
      },
    ],
    ["ip", "/ip/193.0.0.1", { location: { city: "Amsterdam", basis: "geofeed", confidence: null, agrees_with_registration: true } }],
    ["ip", "/ip/198.51.100.1", { country_flag: { country: "DE" }, location: { city: "Berlin", agrees_with_registration: null } }],
    [
      "ip",
      "/ip/198.51.100.1",
      {
        network_type: { type: "enterprise", basis: "operator:network-types", confidence: 0.7 },
        network_types: [
          { type: "enterprise", confidence: 0.7, prefix: "198.51.100.0/24", asn: null, provider: null },
          { type: "vpn", basis: "operator:network-types" },
          { type: "tor_exit", basis: "range-list:exits", confidence: 0.9, prefix: "198.51.100.1/32" },
          { type: "crawler", basis: "range-list:crawler", provider: "Made Crawler" },
          { type: "hosting", basis: "range-list:cloud", provider: "Made Cloud", region: "made-west-1", services: ["AMAZON", "EC2"] },
        ],
      },
    ],
    [
      "ip",
      "/ip/8.8.8.8",
      {
        network_types: [
          { type: "anycast", prefix: "8.8.8.0/24", asn: null },
          { type: "content", prefix: null, asn: 15169 },
          { type: "hosting", prefix: null, asn: 15169 },
        ],
      },
    ],
    ["asn", "/asn/AS15169", { network_type: { type: "content" }, network_types: [{ type: "content" }, { type: "hosting" }] }],
    ["ip", "/ip/198.51.100.200", { country_flag: null, location: null }],
    ["ip", "/ip/8.8.8.8", { country_flag: { country: "US" }, location: null }],
    ["ip", "/ip/1.1.1.1", { routing: { announced: true, prefix: "1.1.1.0/24" }, rpki: { state: "invalid", reason: "as" } }],
    ["ip", "/ip/1.3.0.1", { rpki: { state: "invalid", reason: "length" } }],
    ["ip", "/ip/41.77.76.1", { routing: { moas: { is_moas: true, origin_count: 2 } }, rpki: { mixed: true } }],
    ["ip", "/ip/10.0.0.1", { special_purpose: { name: "Private-Use", rfc: "RFC1918" }, is_global: false, routing: { announced: false } }],
    ["ip", "/ip/2001:0500:002F::F", { ip: "2001:500:2f::f", version: 6, routing: { announced: true } }],
    ["ip", "/ip/::ffff:193.0.6.139", { embedded_ipv4: "193.0.6.139", version: 6 }],
    [
      "routing",
      "/routing/193.0.6.139",
      { match: { prefix: "193.0.0.0/21", type: "longest" }, origins: [{ asn: 3333, rpki: { state: "valid" } }] },
    ],
    ["routing", "/routing/20.137.0.1?include=more_specifics&limit=3", { as_set_origins: [{ as_set: [4237] }] }],
    ["asn", "/asn/AS3333", { asn: 3333, announced: true, name: expect.any(String), counts: { ipv4: { prefixes: expect.any(Number) } } }],
    ["asn", "/asn/as0.3333?limit=2&family=4", { asn: 3333, prefixes: { limit: 2 } }],
    ["asn", "/asn/64512", { special_purpose: { rfc: expect.any(String) } }],
    ["prefix", "/prefix/193.0.0.0/21", { announced: true, match: { type: "exact" }, origins: [{ asn: 3333 }] }],
    ["prefix", "/prefix/193.0.0.0%2F24", { announced: false, match: { prefix: "193.0.0.0/21", type: "covering" } }],
    ["prefix", "/prefix/2001:db8::/32", { special_purpose: { name: "Documentation" }, match: { prefix: null, type: "none" } }],
    ["validity", "/validity?asn=3333&prefix=193.0.0.0/21", { route: { asn: 3333, prefix: "193.0.0.0/21" }, rpki: { state: "valid" } }],
    ["validity", "/validity?asn=AS64500&prefix=193.0.0.0/21", { rpki: { state: "invalid", reason: "as" } }],
    ["asn_vrps", "/vrps/AS3333?family=4", { asn: 3333, counts: { vrps: 7, unannounced: 1 }, vrps: { total: 7 } }],
    ["asn_vrps", "/vrps/3333?announced=false&limit=1", { vrps: { items: [{ announced_prefixes: 0 }], limit: 1 } }],
    ["reverse_dns", "/reverse-dns/192.168.1.1", { status: "special_purpose", names: [], resolver: null, cache: null }],
    [
      "reverse_dns",
      "/reverse-dns/193.0.6.139",
      // The name leads back to the address, and the recursor does not validate.
      {
        query_name: "139.6.0.193.in-addr.arpa",
        status: "ok",
        names: [
          {
            name: "www.example",
            ttl_seconds: nearly(recordTtl),
            forward: { status: "ok", confirmed: true, addresses: ["193.0.6.139"] },
          },
        ],
        forward_confirmed: true,
        dnssec: "indeterminate",
      },
    ],
    [
      "reverse_dns",
      "/reverse-dns/2001:67c:2e8:22::c100:68b",
      {
        query_name: "b.8.6.0.0.0.1.c.0.0.0.0.0.0.0.0.2.2.0.0.8.e.2.0.c.7.6.0.1.0.0.2.ip6.arpa",
        status: "ok",
        names: [{ name: "www.example", forward: { confirmed: true, addresses: ["2001:67c:2e8:22::c100:68b"] } }],
      },
    ],
    [
      "reverse_dns",
      "/reverse-dns/193.0.6.140",
      { status: "ok", names: [{ name: "a.example" }, { name: "b.example" }, { name: "c.example" }], forward_confirmed: false },
    ],
    ["reverse_dns", "/reverse-dns/193.0.6.200", { status: "ok", names: [...manyNames].sort().map((name) => ({ name })) }],
    [
      "reverse_dns",
      "/reverse-dns/193.0.7.129",
      { status: "ok", query_name: "129.7.0.193.in-addr.arpa", names: [{ name: "customer.example" }] },
    ],
    ["reverse_dns", "/reverse-dns/193.0.7.131", { status: "nxdomain", names: [], cache: { negative: true } }],
    ["reverse_dns", "/reverse-dns/193.0.6.1", { status: "nxdomain", names: [], forward_confirmed: null, cache: { negative: true } }],
    ["reverse_dns", "/reverse-dns/193.0.6.141", { status: "nodata", names: [], cache: { negative: true } }],
    ["reverse_dns", "/reverse-dns/193.0.6.144", { status: "servfail", names: [], cache: { negative: false } }],
    ["reverse_dns", "/reverse-dns/198.41.0.4", { status: "refused", names: [], cache: { negative: false } }],
  ];

  describe("questions", () => {
    test.each(lookups)("%s %s is answered by a record of the contract", async (op, path, facts) => {
      const answer = await get(`/api/v1${path}`);
      expectRecord(answer, operations[op].record);
      expect(answer.json).toMatchObject(facts);
      const { headers } = answer;
      expect(headers.get("etag")).toMatch(/^W\/"[\w-]{22}"$/);
      expect(headers.get("cache-control")).toMatch(/^private, max-age=\d+$/);
      expect(headers.get("vary")).toContain("Authorization");
      expect(answer.json.meta?.request_id ?? headers.get("x-request-id")).toBe(headers.get("x-request-id"));
      expect(headers.get("ratelimit-policy")).toBe('"rate";q=100000;w=60, "month";q=100000');
      expect(headers.get("ratelimit")).toMatch(/^"rate";r=\d+;t=\d+, "month";r=\d+;t=\d+$/);
      for (const name of ["x-ratelimit", "x-quota"])
        for (const part of ["limit", "remaining", "reset"]) expect(headers.get(`${name}-${part}`)).toMatch(/^\d+$/);
    });

    test("answers from the samples say so", async () => {
      const { meta } = (await get("/api/v1/ip/193.0.6.139")).json;
      expect(meta.warnings).toContainEqual({ code: "sample_data", detail: expect.stringContaining("routes of 2014-05-30") });
    });

    test("the second question for a name is answered from the cache", async () => {
      await get("/api/v1/reverse-dns/193.0.6.140");
      const { json } = await get("/api/v1/reverse-dns/193.0.6.140");
      expect(json).toMatchObject({ cache: { hit: true, negative: false }, resolver: { attempts: 0 } });
    });

    test("a name lives as long as its TTL says, its absence as long as its zone says, and that of nobody at all", async () => {
      const seconds = async (ip: string) => {
        const answer = await get(`/api/v1/reverse-dns/${ip}`);
        const { stored_at: from, expires_at: to } = answer.json.cache;
        const maxAge = Number(/max-age=(\d+)/.exec(answer.headers.get("cache-control") ?? "")?.[1]);
        return { kept: from === null ? null : (Date.parse(to) - Date.parse(from)) / 1_000, maxAge };
      };
      expect(await seconds("193.0.6.139")).toEqual({ kept: nearly(recordTtl), maxAge: 300 });
      expect(await seconds("193.0.6.2")).toEqual({ kept: nearly(soaMinimum), maxAge: nearly(soaMinimum) });
      const answer = await get("/api/v1/reverse-dns/193.0.6.142");
      expectRecord(answer, operations.reverse_dns.record);
      expect(answer.json).toMatchObject({ status: "ok", names: [{ name: "fleeting.example", ttl_seconds: 0 }] });
      expect(answer.json.cache).toEqual({ hit: false, stored_at: null, expires_at: null, negative: false, stale: false });
      expect(answer.headers.get("etag")).toBeNull();
    });

    test("a name whose authority is silent is a timeout that nobody keeps, and holds up no other", async () => {
      const answered: string[] = [];
      const ask = async (ip: string) => {
        const answer = await get(`/api/v1/reverse-dns/${ip}`);
        answered.push(ip);
        return answer;
      };
      const [slow, quick] = await Promise.all([ask("193.0.8.1"), ask("193.0.6.3")]);
      expectRecord(slow, operations.reverse_dns.record);
      expect(slow.json).toMatchObject({
        status: "timeout",
        names: [],
        cache: { hit: false, stored_at: null, expires_at: null, negative: false, stale: false },
      });
      expect(slow.headers.get("etag")).toBeNull();
      expect(quick.json.status).toBe("nxdomain");
      expect(answered).toEqual(["193.0.6.3", "193.0.8.1"]);
    });

    test("/me tells of the key and its limits, never the secret, and costs no month", async () => {
      const before = await get("/api/v1/me");
      expectRecord(before, MeRecord);
      expect(before.json.key).toMatchObject({ id: key.slice(8, 16), label: "e2e" });
      expect(before.text).not.toContain(key.slice(17));
      const used = async () => (await get("/api/v1/me")).json.limits[1].used;
      // With several gateways it is an estimate for a moment: it has what the others have probably spent.
      await until(async () => {
        const first = await used();
        return (await used()) === first;
      });
    });

    test("/status and flags are open to all", async () => {
      const status = await open("/api/v1/status");
      expectRecord(status, StatusRecord);
      expect(status.json).toMatchObject({ ready: true, sections: { routes: { counts: { ipv4: 497_323, ipv6: 84 } } } });
      expect(Object.keys(status.json.sections).sort()).toEqual([
        "allocations",
        "as_names",
        "aspas",
        "locations",
        "network_types",
        "profiles",
        "routes",
        "vrps",
      ]);
      const { json } = await get("/api/v1/ip/193.0.6.139");
      const flag = await open(json.country_flag.svg_url);
      expect([flag.status, flag.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
      expect(flag.text).toContain("<svg");
    });

    test("HEAD answers with the headers of GET and no body", async () => {
      for (const path of ["/ip/193.0.6.139", "/asn/3333", "/prefix/193.0.0.0/21", "/me", "/status"]) {
        const head = await get(`/api/v1${path}`, { method: "HEAD" });
        const whole = await get(`/api/v1${path}`);
        expect([head.status, head.text]).toEqual([200, ""]);
        for (const name of ["content-type", "etag", "cache-control", "vary"]) expect(head.headers.get(name)).toBe(whole.headers.get(name));
      }
    });

    test("what did not change is 304 without a body, and costs no month", async () => {
      for (const path of ["/ip/193.0.6.139", "/routing/193.0.6.139", "/asn/3333", "/prefix/193.0.0.0/21", "/reverse-dns/193.0.6.139"]) {
        const first = await get(`/api/v1${path}`);
        const again = await get(`/api/v1${path}`, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
        expect([again.status, again.text]).toEqual([304, ""]);
        expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
        expect(again.headers.get("x-quota-remaining")).toBe(first.headers.get("x-quota-remaining"));
        expect((await get(`/api/v1${path}`, { headers: { "if-none-match": 'W/"other"' } })).status).toBe(200);
      }
    });

    test("the caller's request id is kept where it is one", async () => {
      const kept = await get("/api/v1/ip/8.8.8.8", { headers: { "x-request-id": "caller-1.a_B" } });
      expect([kept.headers.get("x-request-id"), kept.json.meta.request_id]).toEqual(["caller-1.a_B", "caller-1.a_B"]);
      const made = await get("/api/v1/ip/8.8.8.8", { headers: { "x-request-id": 'no "id"' } });
      expect(made.headers.get("x-request-id")).not.toContain('"');
      expect(made.headers.get("x-request-id")).toMatch(requestIdPattern);
    });

    test("many questions at once are each answered by their own answer", async () => {
      const addresses = Array.from({ length: 200 }, (_, index) => `193.0.${index & 7}.${index}`);
      const answers = await Promise.all(addresses.map((ip) => get(`/api/v1/ip/${ip}`, { headers: { "x-request-id": `many-${ip}` } })));
      expect(answers.map(({ json }) => json.ip)).toEqual(addresses);
      expect(answers.map(({ json }) => json.meta.request_id)).toEqual(addresses.map((ip) => `many-${ip}`));
      for (const { json } of answers) expect(Value.Check(IpRecord, json)).toBe(true);
    });

    test("a batch has the records that its questions have by themselves, as a document and as lines", async () => {
      const { secret } = await newKey("--scopes", "batch,ip,routing,asn,prefix,reverse_dns");
      const questions = [
        { kind: "ip", value: "193.0.6.139" },
        { kind: "routing", value: "193.0.6.139" },
        { kind: "asn", value: "AS3333" },
        { kind: "prefix", value: "193.0.0.0/21" },
        { kind: "validity", asn: 3333, prefix: "193.0.0.0/21" },
        { kind: "reverse_dns", value: "192.0.2.7" },
        { kind: "ip", value: "nowhere" },
        { kind: "asn", value: 3333, fields: ["prefixes", "name"] },
      ];
      const ask = (type: string, body: string) =>
        request(`${target.url}/api/v1/batch`, { key: secret, method: "POST", headers: { "content-type": type }, body });
      const { json } = await ask("application/json", JSON.stringify({ questions }));
      expect([...Value.Errors(BatchAnswer, json)]).toEqual([]);
      expect(json).toMatchObject({ count: 8, failed_count: 1 });
      const { text } = await ask("application/x-ndjson", questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
      const lines = text.trimEnd().split("\n");
      expect(JSON.parse(lines.pop() ?? "")).toMatchObject({ count: 8, failed_count: 1, meta: { snapshots: json.meta.snapshots } });
      expect(lines.map((line) => JSON.parse(line).question)).toEqual(questions);
      const alone = (await get("/api/v1/routing/193.0.6.139")).json;
      expect(json.results[1].record).toMatchObject({ match: alone.match, origins: alone.origins, rpki: alone.rpki });
      expect(json.results[6].problem.code).toBe("invalid_ip");
      expect(Object.keys(json.results[7].record)).toEqual(["name", "prefixes", "meta"]);
    });
  });

  describe("wrong questions", () => {
    const wrong: [string, number, string][] = [
      ["/api/v1/ip/999.0.0.1", 400, "invalid_ip"],
      ["/api/v1/ip/fe80::1%25eth0", 400, "invalid_ip"],
      ["/api/v1/routing/nowhere", 400, "invalid_ip"],
      ["/api/v1/reverse-dns/1.2.3", 400, "invalid_ip"],
      ["/api/v1/prefix/193.0.6.139/21", 400, "prefix_has_host_bits"],
      ["/api/v1/prefix/193.0.0.0/33", 400, "invalid_prefix"],
      ["/api/v1/asn/AS4294967296", 400, "invalid_asn"],
      ["/api/v1/validity?asn=3333", 400, "invalid_parameter"],
      ["/api/v1/asn/3333?limit=1e2", 400, "invalid_parameter"],
      ["/api/v1/ip/8.8.8.8?surprise=1", 400, "invalid_parameter"],
      ["/api/v1/ip/%zz", 400, "bad_request"],
      ["/api/v1/nothing", 404, "route_not_found"],
      [`/api/v1/ip/${"1".repeat(4_000)}`, 414, "uri_too_long"],
    ];
    test.each(wrong.map(([path, ...problem]) => [path.slice(0, 50), ...problem, path] as const))(
      "%s is %d %s",
      async (_title, status, code, path) => {
        expectProblem(await get(path), status, code);
      },
    );

    test("the corrected prefix is suggested", async () => {
      expect((await get("/api/v1/prefix/193.0.6.139/21")).json.errors[0].suggestion).toBe("193.0.0.0/21");
    });

    test("other methods and formats are refused as such", async () => {
      const posted = await get("/api/v1/ip/8.8.8.8", { method: "POST" });
      expectProblem(posted, 405, "method_not_allowed");
      expect(posted.headers.get("allow")).toContain("GET");
      expectProblem(await get("/api/v1/ip/8.8.8.8", { headers: { accept: "text/csv" } }), 406, "not_acceptable");
    });

    test("no key, a key of nobody, and a key in the query are refused", async () => {
      expectProblem(await open("/api/v1/ip/8.8.8.8"), 401, "missing_api_key");
      const stranger = `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;
      const refused = await open("/api/v1/ip/8.8.8.8", { key: stranger });
      expectProblem(refused, 401, "invalid_api_key");
      expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer/);
      expectProblem(await open(`/api/v1/ip/8.8.8.8?api_key=${key}`), 400, "key_in_query");
    });

    test("a scope, an address, and a limit that the key does not have are refused, and told apart", async () => {
      const [narrow, elsewhere, slow, poor] = await Promise.all([
        newKey("--scopes", "ip"),
        newKey("--cidr", "198.51.100.0/24"),
        // No window ends meanwhile, however busy the machine is.
        newKey("--rate", "2/86400s"),
        newKey("--month", "2"),
      ]);
      await until(async () => (await open("/api/v1/me", { key: narrow.secret })).status === 200);
      expectProblem(await open("/api/v1/asn/3333", { key: narrow.secret }), 403, "insufficient_scope");
      expectProblem(await open("/api/v1/ip/8.8.8.8", { key: elsewhere.secret }), 403, "ip_not_allowed");
      const codes = async (secret: string) => {
        const answers: Answer[] = [];
        // As a client does: a busy machine may hold up the store for so long that a limit is unknown.
        while (answers.length < 4) {
          const answer = await open("/api/v1/ip/8.8.8.8", { key: secret });
          if (answer.json.code === "limits_unavailable") await sleep(500);
          else answers.push(answer);
        }
        return answers.map(({ status, json, headers }) => {
          if (status === 200) return 200;
          return Number(headers.get("retry-after")) > 0 ? json.code : `${json.code} without Retry-After`;
        });
      };
      expect(await codes(slow.secret)).toEqual([200, 200, "rate_limit_exceeded", "rate_limit_exceeded"]);
      expect(await codes(poor.secret)).toEqual([200, 200, "quota_exceeded", "quota_exceeded"]);
    });
  });

  describe("without its resolver", () => {
    test("only new names are unavailable, and they are answered again as soon as it is back", async () => {
      const ask = (ip: string) => get(`/api/v1/reverse-dns/${ip}`);
      expect((await ask("193.0.6.139")).json.status).toBe("ok");
      await target.dns.stopRecursor();
      try {
        expectProblem(await ask("193.0.6.4"), 503, "resolver_unavailable");
        expect((await ask("193.0.6.139")).json).toMatchObject({ status: "ok", cache: { hit: true } });
        expect((await get("/api/v1/ip/193.0.6.139")).status).toBe(200);
      } finally {
        await target.dns.restartRecursor();
      }
      await until(async () => (await ask("193.0.6.4")).status === 200, { timeoutMs: 30_000 });
      expect((await ask("193.0.6.4")).json.status).toBe("nxdomain");
    }, 180_000);
  });

  describe("keys of another process", () => {
    test("work, stop, work again and are gone within a second each", async () => {
      const times: Record<string, number[]> = { created: [], disabled: [], enabled: [], revoked: [] };
      for (let round = 0; round < rounds; round++) {
        const { id, secret } = await newKey();
        const answered = (status: number, code?: string) => async () => {
          const answer = await open("/api/v1/ip/193.0.6.139", { key: secret });
          return answer.status === status && (code === undefined || answer.json.code === code);
        };
        times.created?.push(await until(answered(200)));
        await target.changeKey("disable", id);
        times.disabled?.push(await until(answered(403, "disabled_api_key")));
        await target.changeKey("enable", id);
        times.enabled?.push(await until(answered(200)));
        await target.changeKey("revoke", id);
        times.revoked?.push(await until(answered(401, "revoked_api_key")));
      }
      for (const [change, measured] of Object.entries(times)) {
        expect({ change, within: median(measured) < propagationMs }).toEqual({ change, within: true });
        expect({ change, within: Math.max(...measured) < 10 * propagationMs }).toEqual({ change, within: true });
      }
    }, 180_000);
  });

  describe("each example of the OpenAPI document", () => {
    test.each(exampleRequests().map((example) => [example.name, example] as const))(
      "%s",
      async (_name, { method, path, headers, body, status, content }) => {
        const answer = await request(`${target.url}${path}`, { key, method, headers, ...(body !== undefined && { body }) });
        expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.any(String)]);
        if (content === null) return;
        expect(answer.headers.get("content-type")).toContain(content.type);
        const { schema } = content;
        if (schema === null) return;
        const values = content.type.endsWith("ndjson") ? answer.text.trim().split("\n") : [answer.text];
        for (const value of values) if (value !== "") expect([...Value.Errors(schema, JSON.parse(value))]).toEqual([]);
      },
    );
  });

  describe("operations", () => {
    test("health and readiness are told", async () => {
      expect([(await request(`${target.operationsUrl}/healthz`)).text, (await request(`${target.operationsUrl}/readyz`)).text]).toEqual([
        "ok\n",
        "ready\n",
      ]);
    });

    test("metrics count what was asked, by service and route", async () => {
      await get("/api/v1/ip/8.8.8.8");
      const { text, headers } = await request(`${target.operationsUrl}/metrics`);
      expect(headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(text).toMatch(/netfacts_http_requests_total\{[^}]*route="\/api\/v1\/ip\/:ip"[^}]*\} \d+/);
      const names = ["netfacts_key_verifications_total", "netfacts_limit_decisions_total", "process_cpu_seconds_total"];
      for (const name of names) expect(text).toMatch(new RegExp(`^${name}[{ ]`, "m"));
      for (const secret of secrets) expect(text).not.toContain(secret.slice(17));
      const { text: ofPod } = await request(`${target.podOperationsUrl}/metrics`);
      expect(ofPod).toMatch(/^netfacts_section_as_of_seconds\{/m);
    });

    test("the log has a line for each request id, and no secret of any key", async () => {
      await get("/api/v1/ip/8.8.8.8", { headers: { "x-request-id": "for-the-log" } });
      await until(async () => (await target.log()).includes("for-the-log"));
      const log = await target.log();
      const lines = log
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { request_id?: string; status?: number; route?: string });
      expect(lines.filter((line) => line.request_id === "for-the-log")).toMatchObject([{ status: 200, route: "/api/v1/ip/:ip" }]);
      // Of the target itself, of batches, of four limits, and of each round above.
      expect(secrets.length).toBeGreaterThanOrEqual(6 + rounds);
      for (const secret of secrets) expect(log).not.toContain(secret.slice(17));
    });
  });
}
