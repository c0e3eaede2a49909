/** 200: every route answers its record, with the headers that belong to it. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { decodeQuestion, examples, MeRecord, type OperationName, operations, type Questions, StatusRecord } from "@netfacts/contracts";
import { dataRoutes } from "@netfacts/contracts/openapi";
import { problemReply } from "@netfacts/messaging";
import { Value } from "typebox/value";
import { exampleUrl } from "../support/example-url.ts";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

/** The question that reaches the service when this URL is asked. */
async function questionOf<O extends OperationName>(op: O, url: string): Promise<Questions[O]> {
  let query: string | undefined;
  harness.answers.set(op, (item) => {
    query = item.query;
    return exampleReply(op);
  });
  const answer = await harness.get(url);
  harness.answers.delete(op);
  expect([url, answer.status]).toEqual([url, 200]);
  return decodeQuestion(op, query ?? "");
}

const v4 = (w0: number) => ({ version: 4 as const, w0, w1: 0, w2: 0, w3: 0 });
const ip = v4(0xc100_068b);
const ipv6 = { version: 6 as const, w0: 0x2001_067c, w1: 0x02e8_0000, w2: 0, w3: 1 };

describe("each data route", () => {
  const routes = dataRoutes.map((route) => [route.op, exampleUrl(route)] as const);
  test.each(routes)("%s gives the bytes of its service, whole and unchanged", async (op, url) => {
    const answer = await harness.get(url);
    expect(answer.status).toBe(200);
    expect(answer.body).toBe(JSON.stringify(examples[op]));
    expect([...Value.Errors(operations[op].record, JSON.parse(answer.body))]).toEqual([]);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "private, max-age=120",
      vary: "Authorization, Accept, Accept-Encoding, Origin",
    });
    expect(answer.headers.etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(answer.headers["x-request-id"]).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(answer.headers.ratelimit).toMatch(/^"rate";r=\d+;t=\d+, "month";r=\d+;t=\d+$/);
  });

  test.each(routes)("%s answers HEAD as GET without the body", async (_op, url) => {
    const get = await harness.get(url);
    const authorization = `Bearer ${await harness.key()}`;
    const head = await harness.request("HEAD", url, { authorization });
    expect(head.status).toBe(200);
    expect(head.body).toBe("");
    for (const name of ["etag", "content-type", "content-length", "cache-control"])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
  });
});

describe("questions are read from URLs", () => {
  test("addresses in every spelling", async () => {
    expect(await questionOf("ip", "/api/v1/ip/193.0.6.139")).toEqual({ ip });
    expect(await questionOf("ip", "/api/v1/ip/2001:67C:2e8:0:0:0:0:1")).toEqual({ ip: ipv6 });
    expect(await questionOf("ip", "/api/v1/ip/2001%3A67c%3A2e8%3A%3A1")).toEqual({ ip: ipv6 });
    expect(await questionOf("reverse_dns", "/api/v1/reverse-dns/2001:67c:2e8::1")).toEqual({ ip: ipv6 });
  });

  test("AS numbers as AS3333, as3333, 3333 and asdot", async () => {
    const question = { family: null, rpki: null, aggregate: false, limit: 100 };
    for (const text of ["AS3333", "as3333", "3333", "0.3333"]) {
      expect(await questionOf("asn", `/api/v1/asn/${text}`)).toEqual({ ...question, asn: 3333 });
    }
    expect(await questionOf("asn", "/api/v1/asn/1.10")).toEqual({ ...question, asn: 65_546 });
  });

  test("prefixes, also percent-encoded", async () => {
    const prefix = { ...v4(0xc100_0000), length: 21 };
    for (const path of ["193.0.0.0/21", "193.0.0.0%2F21"])
      expect(await questionOf("prefix", `/api/v1/prefix/${path}`)).toEqual({ prefix, limit: 100 });
    const prefix6 = { ...ipv6, w3: 0, length: 48 };
    for (const path of ["2001:67c:2e8::/48", "2001%3A67c%3A2e8%3A%3A/48", "2001%3A67c%3A2e8%3A%3A%2F48"]) {
      expect(await questionOf("prefix", `/api/v1/prefix/${path}`)).toEqual({ prefix: prefix6, limit: 100 });
    }
  });

  test("texts of a search, without the spaces around them", async () => {
    const texts: [string, string][] = [
      ["ripe+ncc", "ripe ncc"],
      ["%20ripe%20", "ripe"],
      ["Z%C3%BCrich", "Zürich"],
      ["%00%7C%E2%80%AE", "\u0000|\u202e"],
      ["%EF%BF%BD", "\ufffd"],
      ["%F0%9F%91%A9".repeat(100), "👩".repeat(100)],
    ];
    for (const [text, q] of texts) expect(await questionOf("search", `/api/v1/search?q=${text}`)).toEqual({ q, limit: 100 });
    expect(await questionOf("search", "/api/v1/search?limit=7&q=a")).toEqual({ q: "a", limit: 7 });
  });

  test("optional parts, filters and limits", async () => {
    expect(await questionOf("routing", "/api/v1/routing/193.0.6.139")).toEqual({ ip, moreSpecifics: false, upstreams: false, limit: 100 });
    expect(await questionOf("routing", "/api/v1/routing/193.0.6.139?include=upstreams,more_specifics&limit=1000")).toEqual({
      ip,
      moreSpecifics: true,
      upstreams: true,
      limit: 1000,
    });
    expect(await questionOf("asn", "/api/v1/asn/3333?family=6&rpki=not-found&aggregate=true&limit=1")).toEqual({
      asn: 3333,
      family: 6,
      rpki: "not-found",
      aggregate: true,
      limit: 1,
    });
    expect(await questionOf("prefix", "/api/v1/prefix/0.0.0.0/0?limit=7")).toEqual({ prefix: { ...v4(0), length: 0 }, limit: 7 });
    expect(await questionOf("validity", "/api/v1/validity?prefix=193.0.0.0%2F21&asn=AS3333")).toEqual({
      asn: 3333,
      prefix: { ...v4(0xc100_0000), length: 21 },
    });
    const vrps = { asn: 3333, family: null, announced: null, loose: null, limit: 100 };
    expect(await questionOf("asn_vrps", "/api/v1/vrps/as3333")).toEqual(vrps);
    expect(await questionOf("asn_vrps", "/api/v1/vrps/3333?announced=true")).toEqual({ ...vrps, announced: true });
    expect(await questionOf("asn_vrps", "/api/v1/vrps/3333?family=4&announced=false&loose=true&limit=1")).toEqual({
      asn: 3333,
      family: 4,
      announced: false,
      loose: true,
      limit: 1,
    });
  });
});

test("an answer that its service forbids to keep says so, and has no tag without a basis", async () => {
  harness.answers.set("reverse_dns", () => ({ ...exampleReply("reverse_dns"), cacheable: false, etag: "" }));
  const { headers } = await harness.get("/api/v1/reverse-dns/193.0.6.139");
  harness.answers.delete("reverse_dns");
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers.etag).toBeUndefined();
});

test("the tag follows the question and the data, not the request", async () => {
  const tag = async (url: string) => (await harness.get(url)).headers.etag;
  const first = await tag("/api/v1/ip/193.0.6.139");
  expect(await tag("/api/v1/ip/193.0.6.139")).toBe(first);
  expect(await tag("/api/v1/ip/193.0.6.140")).not.toBe(first);
  expect(await tag("/api/v1/routing/193.0.6.139")).not.toBe(first);
  expect(await tag("/api/v1/ip/2001:67c::1")).toBe(await tag("/api/v1/ip/2001:067C:0::1"));
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), etag: "routes=20261121.1055" }));
  expect(await tag("/api/v1/ip/193.0.6.139")).not.toBe(first);
  harness.answers.delete("ip");
});

test("a well-formed request id of the caller is kept and reaches the service, another is replaced", async () => {
  let seen: string | undefined;
  harness.answers.set("ip", (item) => {
    seen = item.requestId;
    return exampleReply("ip");
  });
  const ask = async (id: string) => (await harness.get("/api/v1/ip/193.0.6.139", { "x-request-id": id })).headers["x-request-id"];
  expect(await ask("my-request.1_a")).toBe("my-request.1_a");
  expect(seen).toBe("my-request.1_a");
  for (const bad of ["", "a b", "a".repeat(65), "<script>", 'x"y']) expect(await ask(bad)).toMatch(/^[0-9A-Z]{26}$/);
  harness.answers.delete("ip");
});

test("a valid trace context reaches the service, another does not", async () => {
  let seen: string | null | undefined;
  harness.answers.set("ip", (item) => {
    seen = item.traceparent;
    return exampleReply("ip");
  });
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await harness.get("/api/v1/ip/193.0.6.139", { traceparent });
  expect(seen).toBe(traceparent);
  await harness.get("/api/v1/ip/193.0.6.139", { traceparent: "00-junk" });
  expect(seen).toBeNull();
  harness.answers.delete("ip");
});

describe("/me", () => {
  test("tells the key without its secret, its limits and the client", async () => {
    const key = await harness.key({
      label: "siem-prod",
      allowedCidrs: ["127.0.0.0/8"],
      rate: { limit: 10, windowSeconds: 86_400 },
      month: { limit: 50 },
    });
    const authorization = `Bearer ${key}`;
    await harness.request("GET", "/api/v1/ip/193.0.6.139", { authorization });
    const answer = await harness.request("GET", "/api/v1/me", { authorization });
    expect(answer.status).toBe(200);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.etag).toBeUndefined();
    const me = JSON.parse(answer.body) as MeRecord;
    expect([...Value.Errors(MeRecord, me)]).toEqual([]);
    expect(me.key).toMatchObject({
      id: key.slice(8, 16),
      label: "siem-prod",
      scopes: ["ip", "routing", "asn", "prefix", "reverse_dns"],
      allowed_cidrs: ["127.0.0.0/8"],
    });
    expect(me.limits).toMatchObject([
      { name: "rate", limit: 10, window_seconds: 86_400, used: 2, remaining: 8 },
      { name: "month", limit: 50, used: 1, remaining: 49 },
    ]);
    expect(me.limits[1]?.resets_at).toMatch(/-01T00:00:00Z$/);
    expect(me.client).toEqual({ ip: "127.0.0.1" });
    expect(me.meta.data).toEqual({});
    expect(answer.body).not.toContain(key);
    expect(answer.body).not.toContain(key.slice(17));
  });
});

describe("/status", () => {
  test("is open to all", async () => {
    const answer = await harness.request("GET", "/api/v1/status");
    expect(answer.status).toBe(200);
    const { meta } = examples.status;
    expect(JSON.parse(answer.body)).toEqual({ ...examples.status, meta: { ...meta, request_id: answer.headers["x-request-id"] } });
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.ratelimit).toBeUndefined();
  });

  test("is an answer also while nothing is loaded", async () => {
    const empty = await startGateway({ services: [] });
    const answer = await empty.request("GET", "/api/v1/status");
    await empty.stop();
    expect(answer.status).toBe(200);
    const status = JSON.parse(answer.body) as StatusRecord;
    expect([...Value.Errors(StatusRecord, status)]).toEqual([]);
    expect(status).toMatchObject({ ready: false, sections: {} });
  });

  test("tells that nothing is loaded also when the service itself says so", async () => {
    harness.answers.set("status", () => problemReply({ code: "data_not_ready" }));
    const answer = await harness.request("GET", "/api/v1/status");
    harness.answers.delete("status");
    expect(JSON.parse(answer.body)).toMatchObject({ ready: false, sections: {} });
  });
});

describe("/flags", () => {
  test("are SVG, open to all, cached for ever, and may do nothing", async () => {
    const answer = await harness.request("GET", "/flags/nl.svg");
    expect(answer.status).toBe(200);
    expect(answer.body).toMatch(/^<svg /);
    expect(answer.headers).toMatchObject({
      "content-type": "image/svg+xml",
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      "x-content-type-options": "nosniff",
    });
    expect((await harness.request("GET", "/flags/eu.svg")).status).toBe(200);
  });
});

test("limits count as documented: every request of a key in the rate, answers only in the month", async () => {
  const authorization = `Bearer ${await harness.key({ rate: { limit: 100, windowSeconds: 3_600 }, month: { limit: 1_000 } })}`;
  const ask = async (url: string, headers: Record<string, string> = {}, method = "GET") => {
    const answer = await harness.request(method, url, { authorization, ...headers });
    return [answer.status, Number(answer.headers["x-ratelimit-remaining"]), Number(answer.headers["x-quota-remaining"])];
  };
  expect(await ask("/api/v1/ip/193.0.6.139")).toEqual([200, 99, 999]);
  expect(await ask("/api/v1/ip/193.0.6.139", {}, "HEAD")).toEqual([200, 98, 998]);
  expect(await ask("/api/v1/ip/nonsense")).toEqual([400, 97, 998]);
  expect(await ask("/api/v1/me")).toEqual([200, 96, 998]);
  expect(await ask("/api/v1/nowhere")).toEqual([404, 95, 998]);
  expect(await ask("/api/v1/ip/193.0.6.139", {}, "DELETE")).toEqual([405, 94, 998]);
  expect(await ask("/api/v1/ip/193.0.6.139", { accept: "text/csv" })).toEqual([406, 93, 998]);
  const { headers } = await harness.request("GET", "/api/v1/ip/193.0.6.139", { authorization });
  expect(await ask("/api/v1/ip/193.0.6.139", { "if-none-match": headers.etag ?? "" })).toEqual([304, 91, 997]);
  harness.answers.set("ip", () => problemReply({ code: "internal_error" }));
  expect(await ask("/api/v1/ip/193.0.6.139")).toEqual([500, 90, 997]);
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), counted: false }));
  expect(await ask("/api/v1/ip/193.0.6.139")).toEqual([200, 89, 997]);
  harness.answers.delete("ip");
  expect(await ask("/api/v1/status")).toEqual([200, Number.NaN, Number.NaN]);
  expect(headers["ratelimit-policy"]).toBe('"rate";q=100;w=3600, "month";q=1000');
});
