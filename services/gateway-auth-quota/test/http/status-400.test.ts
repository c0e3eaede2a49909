/** 400: questions that are not well-formed, each fault told with its place and, where there is one, a suggestion. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { encodeCursor, type Questions } from "@netfacts/contracts";
import { generateKeyText } from "@netfacts/keys";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { exchange } from "../support/raw.ts";

let harness: Harness;
let url: string;
beforeAll(async () => {
  harness = await startGateway();
  url = await harness.gateway.listen();
});
afterAll(() => harness.stop());

describe("addresses", () => {
  const refused = ["193.0.6", "193.0.6.139.1", "193.0.6.0139", "fe80::1%25eth0", "::g", "1", "193.0.6.139:80", "%5B::1%5D", "%20", ""];
  for (const text of refused) provokes("invalid_ip", `"${text}" is no address`, () => harness.get(`/api/v1/ip/${text}`));
  test("an address with a zone id: why it is none, and the address that is meant", async () => {
    const problem = expectProblem(await harness.get("/api/v1/ip/fe80::1%25eth0"), "invalid_ip");
    const message = "is not an IPv4 or IPv6 address: zone ids are only meaningful on one machine";
    expect(problem.detail).toBe(`"fe80::1%eth0" ${message}.`);
    expect(problem.errors).toEqual([{ location: "path.ip", code: "invalid_ip", message, suggestion: "fe80::1" }]);
  });
  provokes("invalid_ip", "in routing", () => harness.get("/api/v1/routing/193.0.6"));
  provokes("invalid_ip", "in reverse DNS", () => harness.get("/api/v1/reverse-dns/193.0.6"));
});

describe("AS numbers", () => {
  for (const text of ["AS", "4294967296", "AS-3", "65536.1", "1.2.3", "ASN3333", "0x10"]) {
    provokes("invalid_asn", `${text} is none`, () => harness.get(`/api/v1/asn/${text}`));
  }
  provokes("invalid_asn", "in validity", () => harness.get("/api/v1/validity?asn=x&prefix=193.0.0.0/21"));
});

describe("prefixes", () => {
  for (const text of ["193.0.0.0/33", "193.0.0.0/021", "193.0.0/21", "193.0.0.0/x", "2001:db8::/129", "193.0.0.0", "193.0.0.0%2F21%2F2"]) {
    provokes("invalid_prefix", `${text} is none`, () => harness.get(`/api/v1/prefix/${text}`));
  }

  test.each([
    ["193.0.0.0/33", "path.length"],
    ["193.0.0.0/", "path.length"],
    ["193.0.0.0/255.255.248.0", "path.length"],
    ["193.0.0/21", "path.network"],
    ["193.0.0/33", "path.network"],
    ["193.0.0.0%2F21/2", "path.network"],
    ["193.0.0.0%2F33", "path.network"],
  ])("%s: invalid_prefix names the part of the path that is wrong, %s", async (text, location) => {
    const { errors } = expectProblem(await harness.get(`/api/v1/prefix/${text}`), "invalid_prefix");
    expect(errors?.map((error) => error.location)).toEqual([location]);
  });

  provokes("prefix_has_host_bits", "in validity", () => harness.get("/api/v1/validity?asn=3333&prefix=193.0.6.139/21"));

  test("prefix_has_host_bits names the corrected prefix, as the contract shows", async () => {
    const problem = expectProblem(await harness.get("/api/v1/prefix/193.0.6.139/21", { "x-request-id": "r1" }), "prefix_has_host_bits");
    expect(problem).toEqual({
      type: "/docs/errors/prefix_has_host_bits",
      title: "Prefix has host bits set",
      status: 400,
      code: "prefix_has_host_bits",
      detail: "193.0.6.139/21 has bits set beyond its length.",
      instance: "/api/v1/prefix/193.0.6.139/21",
      request_id: "r1",
      errors: [{ location: "path.network", code: "prefix_has_host_bits", message: "host bits are set", suggestion: "193.0.0.0/21" }],
    });
  });
});

describe("query parameters", () => {
  const refused = [
    ["an unknown one", "/api/v1/ip/193.0.6.139?verbose=1"],
    ["a repeated one", "/api/v1/routing/193.0.6.139?limit=1&limit=1"],
    ["a repeated unknown one", "/api/v1/ip/193.0.6.139?a=1&a=1"],
    ["a limit in scientific notation", "/api/v1/prefix/193.0.0.0/21?limit=1e2"],
    ["a limit of 0", "/api/v1/prefix/193.0.0.0/21?limit=0"],
    ["a limit above 1,000", "/api/v1/prefix/193.0.0.0/21?limit=1001"],
    ["a negative limit", "/api/v1/prefix/193.0.0.0/21?limit=-1"],
    ["a limit with a leading zero", "/api/v1/prefix/193.0.0.0/21?limit=01"],
    ["an empty limit", "/api/v1/prefix/193.0.0.0/21?limit="],
    ["a search without a text", "/api/v1/search"],
    ["an empty text", "/api/v1/search?q="],
    ["a blank text", "/api/v1/search?q=%20%C2%A0%09"],
    ["a text in Latin-1", "/api/v1/search?q=Z%FCrich"],
    ["a text of 101 characters", `/api/v1/search?q=${"a".repeat(101)}`],
    ["an unknown part", "/api/v1/routing/193.0.6.139?include=everything"],
    ["a part twice", "/api/v1/routing/193.0.6.139?include=upstreams,upstreams"],
    ["an empty part", "/api/v1/routing/193.0.6.139?include="],
    ["a family of 5", "/api/v1/asn/3333?family=5"],
    ["an RPKI state spelled otherwise", "/api/v1/asn/3333?rpki=not_found"],
    ["aggregate=1", "/api/v1/asn/3333?aggregate=1"],
    ["a missing one", "/api/v1/validity?asn=3333"],
    ["one of another route", "/api/v1/ip/193.0.6.139?include=upstreams"],
    ["any at /me", "/api/v1/me?verbose=1"],
  ] as const;
  for (const [what, path] of refused) provokes("invalid_parameter", what, () => harness.get(path));

  provokes("invalid_parameter", "any at /status", () => harness.request("GET", "/api/v1/status?verbose=1"));

  test("every fault is told at once, each with its place", async () => {
    const answer = await harness.get("/api/v1/asn/nonsense?family=5&rpki=maybe&aggregate=2&limit=x&limit=1&colour=red");
    const problem = expectProblem(answer, "invalid_parameter");
    expect(problem.errors?.map(({ location, code }) => `${location} ${code}`).sort()).toEqual([
      "path.asn invalid_asn",
      "query.aggregate invalid_parameter",
      "query.colour invalid_parameter",
      "query.family invalid_parameter",
      "query.limit invalid_parameter",
      "query.limit invalid_parameter",
      "query.rpki invalid_parameter",
    ]);
  });

  test.each([
    ["/api/v1/ip/AS3333", "invalid_ip", "/api/v1/asn/AS3333"],
    ["/api/v1/asn/8.8.8.8", "invalid_asn", "/api/v1/ip/8.8.8.8"],
    ["/api/v1/asn/193.0.0.0%2F21", "invalid_asn", "/api/v1/prefix/193.0.0.0/21"],
    ["/api/v1/validity?asn=8.8.8.8&prefix=193.0.0.0/21", "invalid_asn", undefined],
  ] as const)("%s is meant for another route", async (path, code, suggestion) => {
    expect(expectProblem(await harness.get(path), code).errors?.map((each) => each.suggestion)).toEqual([suggestion]);
  });

  test.each([
    ["/api/v1/routing/193.0.6.139?include=upstreams&include=upstreams", expect.stringContaining("each at most once")],
    ["/api/v1/routing/193.0.6.139?include=upstreams&include=", expect.stringContaining("each at most once")],
    ["/api/v1/routing/193.0.6.139?meta=true&meta=true", "appears more than once"],
    ["/api/v1/routing/193.0.6.139?limit=1&limit=2", "appears more than once"],
  ])("%s %s", async (path, message) => {
    expect(expectProblem(await harness.get(path), "invalid_parameter").errors).toEqual([expect.objectContaining({ message })]);
  });

  test("of hundreds of unknown or repeated parameters a few are told", async () => {
    const many = Array.from({ length: 150 }, (_, index) => `x${index}&limit`).join("&");
    const { errors } = expectProblem(await harness.get(`/api/v1/asn/AS3333?${many}`), "invalid_parameter");
    const limit = ["query.limit", "query.limit"];
    expect(errors?.map(({ location }) => location).sort()).toEqual([
      ...limit,
      ...Array.from({ length: 16 }, (_, index) => `query.x${index}`).sort(),
    ]);
  });

  test("the code is that of the faults where they agree", async () => {
    expectProblem(await harness.get("/api/v1/validity?asn=x&prefix=y"), "invalid_parameter");
    expect(expectProblem(await harness.get("/api/v1/validity"), "invalid_parameter").errors).toHaveLength(2);
  });
});

describe("how the answer is to be shown", () => {
  const refused = [
    ["an unknown member", "/api/v1/ip/193.0.6.139?fields=colour"],
    ["a member of another record", "/api/v1/ip/193.0.6.139?fields=prefixes"],
    ["a member twice", "/api/v1/ip/193.0.6.139?fields=ip,ip"],
    ["no member", "/api/v1/ip/193.0.6.139?fields="],
    ["members of a list", "/api/v1/asn/3333?fields=prefixes&format=csv"],
    ["an unknown format", "/api/v1/asn/3333?format=xml"],
    ["a format of lists where there is none", "/api/v1/ip/193.0.6.139?format=csv"],
    ["a format in upper case", "/api/v1/asn/3333?format=CSV"],
    ["a cursor where no list pages", "/api/v1/ip/193.0.6.139?cursor=AQ"],
  ] as const;
  for (const [what, path] of refused) provokes("invalid_parameter", what, () => harness.get(path));
  provokes("invalid_parameter", "members of a list that Accept asks for", () =>
    harness.get("/api/v1/asn/3333?fields=prefixes", { accept: "text/csv" }),
  );

  test("a misspelt name is told with the one that was meant", async () => {
    const suggestionsOf = async (path: string) =>
      expectProblem(await harness.get(path), "invalid_parameter").errors?.map(({ suggestion }) => suggestion);
    expect(await suggestionsOf("/api/v1/ip/193.0.6.139?fields=alocation")).toEqual(["allocation"]);
    expect(await suggestionsOf("/api/v1/ip/193.0.6.139?fields=ip,country-flag")).toEqual(["country_flag"]);
    expect(await suggestionsOf("/api/v1/ip/193.0.6.139?field=ip")).toEqual(["fields"]);
    expect(await suggestionsOf("/api/v1/asn/3333?curser=x")).toEqual(["cursor"]);
    expect(await suggestionsOf("/api/v1/routing/193.0.6.139?include=upstream")).toEqual(["upstreams"]);
    expect(await suggestionsOf("/api/v1/ip/193.0.6.139?fields=xyzzy")).toEqual([undefined]);
    expect(await suggestionsOf(`/api/v1/ip/193.0.6.139?${"x".repeat(1_500)}=1`)).toEqual([undefined]);
  });
});

describe("cursors", () => {
  const question: Questions["asn"] = { asn: 3333, family: null, rpki: null, aggregate: false, limit: 100 };
  const snapshotId = "20261121T085500Z-1a2b3c4d";
  const cursor = encodeCursor("asn", question, { snapshotId, page: { list: "prefixes", start: 100 } });
  const ofAllocations = encodeCursor("asn", question, { snapshotId, page: { list: "allocations", start: 100 } });
  const refused = [
    ["one of another AS", `/api/v1/asn/3334?cursor=${cursor}`],
    ["one of other filters", `/api/v1/asn/3333?family=4&cursor=${cursor}`],
    ["one of another route", `/api/v1/prefix/193.0.0.0/21?cursor=${cursor}`],
    ["one that was cut", `/api/v1/asn/3333?cursor=${cursor.slice(0, -1)}`],
    ["one that was changed", `/api/v1/asn/3333?cursor=${cursor.replace(/^../, "AR")}`],
    ["one that was made up", "/api/v1/asn/3333?cursor=100"],
    ["one of a list that the format does not show", `/api/v1/asn/3333?format=csv&cursor=${ofAllocations}`],
  ] as const;
  for (const [what, path] of refused) provokes("invalid_cursor", what, () => harness.get(path));

  test("invalid_cursor tells where it stands, after every other fault was mended", async () => {
    const problem = expectProblem(await harness.get("/api/v1/asn/3333?cursor=x"), "invalid_cursor");
    expect(problem.errors).toMatchObject([{ location: "query.cursor", code: "invalid_cursor" }]);
    expectProblem(await harness.get("/api/v1/asn/3333?cursor=x&family=5"), "invalid_parameter");
  });
});

describe("what the caller sent", () => {
  test("is named bounded and escaped, never as markup or control characters", async () => {
    const hostile = `<script>alert(1)</script>"'&\u0000\u001b[31m\u202e${"x".repeat(500)}`;
    const answer = await harness.get(`/api/v1/ip/${encodeURIComponent(hostile)}?${encodeURIComponent(hostile)}=1`);
    expectProblem(answer, "invalid_parameter");
    expect(answer.body).not.toMatch(/[<>]|[^ -~…]|x{257}/);
    expect(answer.body.length).toBeLessThan(2_000);
  });

  test("is not named where it looks like a key", async () => {
    const key = await harness.key();
    expectProblem(await harness.get(`/api/v1/ip/${key}`), "invalid_ip");
    expectProblem(await harness.get(`/api/v1/ip/x${encodeURIComponent(key)}`), "invalid_ip");
    expect(JSON.stringify(harness.log)).not.toContain(key.slice(17));
  });
});

describe("keys in the URL", () => {
  for (const name of ["api_key", "apikey", "api-key", "key", "token", "access_token", "X-Api-Key", "%61pi_key"]) {
    provokes("key_in_query", `as ${name}`, () => harness.get(`/api/v1/ip/193.0.6.139?${name}=anything`));
  }
  provokes("key_in_query", "before the key in the header is looked at", () => harness.request("GET", "/api/v1/ip/193.0.6.139?key=x"));
  provokes("key_in_query", "also where nothing answers", () => harness.request("GET", "/nowhere?key=x"));

  test("key_in_query: whatever the parameter is called, and no log line has it", async () => {
    const { text } = generateKeyText("live");
    // Of its own, whose log has room for every refusal.
    const fresh = await startGateway();
    const encoded = [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join("");
    for (const value of [text, encoded, `x${text}`]) {
      expectProblem(await fresh.get(`/api/v1/ip/193.0.6.139?colour=${value}`), "key_in_query");
      expectProblem(await fresh.get(`/api/v1/ip/193.0.6.139?${value}`), "key_in_query");
    }
    const logged = JSON.stringify(fresh.log);
    expect(logged).toContain("/api/v1/ip/193.0.6.139?[redacted]");
    expect(logged).not.toContain(text.slice(17));
    expect(logged).not.toContain(encoded);
    await fresh.stop();
  });
});

describe("what is not HTTP as we read it", () => {
  const raw = (text: string) => async () => {
    const [answer] = await exchange(url, text);
    if (answer === undefined) throw new Error("no answer");
    return answer;
  };
  provokes("bad_request", "not HTTP at all", raw("hello there\r\n\r\n"));
  provokes("bad_request", "no Host", raw("GET /api/v1/status HTTP/1.1\r\nConnection: close\r\n\r\n"));
  provokes(
    "bad_request",
    "two lengths of one body",
    raw("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"),
  );
  provokes("bad_request", "a header with a control character", raw("GET / HTTP/1.1\r\nHost: x\r\nA: \u0001\r\n\r\n"));
  provokes("bad_request", "percent-encoding that is none", () => harness.get("/api/v1/ip/%zz"));
  provokes("bad_request", "percent-encoding that is no UTF-8", () => harness.get("/api/v1/ip/%ff"));

  test("a zone id in a path that is not decoded: the address is meant", async () => {
    const detailOf = async (path: string) => expectProblem(await harness.get(path), "bad_request").detail;
    const advice = "Send fe80::1 without a zone id, which is only meaningful on one machine.";
    for (const path of ["ip/fe80::1%eth0", "routing/fe80::1%en0?meta=false", "ip/fe80::1%4"])
      expect(await detailOf(`/api/v1/${path}`)).toBe(`The percent-encoding of the path is not valid. ${advice}`);
    for (const path of ["ip/%zz", "ip/dead%zz", "ip/x?fe80::1%eth0%", "ip/%zz?x=/fe80::1%eth0"])
      expect(await detailOf(`/api/v1/${path}`).catch(() => "")).not.toContain("zone");
  });

  test.each([
    ["a letter that is not ASCII in the URL", "GET /api/v1/search?q=Z\u00fcrich HTTP/1.1\r\nHost: x\r\n\r\n", "must be percent-encoded"],
    ["a space in the URL", "GET /api/v1/search?q=ripe ncc HTTP/1.1\r\nHost: x\r\n\r\n", "must be %20"],
    ["a method that is none", "get / HTTP/1.1\r\nHost: x\r\n\r\n", "a method in capitals"],
    ["a version that is none", "GET / HTTP/7\r\nHost: x\r\n\r\n", "does not end in HTTP/1.1"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 is not supported"],
    ["a folded header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", "A header has"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "length of the body"],
    ["a length and chunks", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "length of the body"],
  ])("%s: the answer says so", async (_, text, detail) => {
    expect(expectProblem(await raw(text)(), "bad_request").detail).toContain(detail);
  });

  test("a bad request says nothing of what was sent", async () => {
    const [answer] = await exchange(url, "GET /%zz<b> HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer?.status).toBe(400);
    expect(answer?.body).not.toContain("<b>");
  });

  test("an expectation that we do not know is ignored", async () => {
    const [answer] = await exchange(url, "GET /api/v1/status HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n");
    expect(answer?.status).toBe(200);
  });
});
