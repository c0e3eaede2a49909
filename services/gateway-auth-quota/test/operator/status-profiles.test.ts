/** What operators say of AS profiles over HTTP: made, replaced, found, deleted and audited; what makes no sense is refused with its place. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { AsProfile, Problem } from "@netfacts/contracts";
import { ask, audit, keys, makeKey } from "../support/admin.ts";
import type { HttpAnswer } from "../support/gateway.ts";
import { type OperatorHarness, startOperatorHarness } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

const profiles = "/admin/v1/profiles";
let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness({ OPERATOR_IDLE_MS: 30_000 });
});
afterAll(() => harness.stop());

const put = (asn: string | number, body: unknown) => ask(harness, "PUT", `${profiles}/${asn}`, body);
const get = (path: string) => ask(harness, "GET", `${profiles}${path}`);
const faultsOf = (answer: HttpAnswer) => {
  const { errors = [] }: Problem = expectProblem(answer, "invalid_body");
  return Object.fromEntries(errors.map(({ location, message }) => [location, message]));
};

/** The ASes of all pages. */
async function listed(query: string): Promise<{ asns: number[]; pages: number }> {
  const asns: number[] = [];
  for (let cursor: string | null = "", pages = 0; ; ) {
    const { json } = await get(`?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    asns.push(...json.items.map(({ asn }: AsProfile) => asn));
    cursor = json.next_cursor;
    pages++;
    if (cursor === null) return { asns, pages };
  }
}

describe("an override", () => {
  test("is made, replaced as a whole, shown by every notation and deleted", async () => {
    const by = `key:${harness.adminKey.slice(8, 16)}`;
    const links = { asn: "/api/v1/asn/AS65546", audit: `${audit}?target=AS65546` };
    const override = { name: "Ten, “Ltd”", organisation: null, website: "https://ten.example/", network_types: ["isp", "hosting"] };
    const made = await put("1.10", override);
    expect([made.status, made.headers.location, made.json]).toMatchObject([
      201,
      `${profiles}/AS65546`,
      { asn: 65_546, override, by, links },
    ]);
    const replaced = await put("AS65546", { name: null });
    expect([replaced.status, replaced.json.override]).toEqual([200, { name: null }]);
    for (const notation of ["AS65546", "65546", "as1.10"]) expect((await get(`/${notation}`)).json).toEqual(replaced.json);
    expect((await ask(harness, "DELETE", `${profiles}/65546`)).status).toBe(204);
    expectProblem(await get("/AS65546"), "profile_not_found");
    const history = (await ask(harness, "GET", links.audit)).json.items;
    expect(history).toMatchObject([
      { action: "profile.delete", actor: by, address: "127.0.0.1", details: { from: { name: null }, to: null } },
      { action: "profile.put", details: { from: override, to: { name: null } } },
      { action: "profile.put", details: { from: null, to: override } },
    ]);
  });

  test("of the lowest and of the highest AS number is kept, listed and found", async () => {
    for (const asn of [0, 4_294_967_295]) await put(asn, { name: `Edge ${asn}` });
    expect((await listed("q=edge&limit=1")).asns).toEqual([0, 4_294_967_295]);
    for (const asn of [0, 4_294_967_295]) await ask(harness, "DELETE", `${profiles}/AS${asn}`);
  });
});

describe("the list", () => {
  const asns = Array.from({ length: 600 }, (_, at) => 100_000 + at);
  beforeAll(async () => {
    // More than one step of a search; over HTTP it would be slow.
    const { profiles: stored } = harness.gateway.store;
    for (const asn of asns) {
      const profile = { name: asn % 200 === 7 ? "Ünïque NET" : `Net ${asn}`, network_types: ["isp"] };
      await stored.put({ asn, profile, source: "cli:listed", updatedAt: 1_800_000_000_000 });
    }
  });

  test("has pages by AS number, none twice and none left out", async () => {
    expect(await listed("q=cli:listed&limit=250")).toEqual({ asns, pages: 3 });
    expect((await get("")).json.items).toHaveLength(100);
  });

  test("is searched in fields, in AS numbers and in who made the change, in any case", async () => {
    expect(await listed(`q=${encodeURIComponent("üNÏQUE net")}&limit=2`)).toEqual({ asns: [100_007, 100_207, 100_407], pages: 2 });
    expect((await listed("q=as100599")).asns).toEqual([100_599]);
    expect((await listed("q=network_types")).asns).toEqual([]);
    expect((await listed("q=%25")).asns).toEqual([]);
  });

  provokes("invalid_parameter", "a search for nothing", () => get("?q="));
  provokes("invalid_parameter", "a page of more than 1,000", () => get("?limit=1001"));
  provokes("invalid_cursor", "a cursor that no page gave", () => get("?cursor=abc"));
  test("a cursor of another list is invalid_cursor", async () => {
    for (let i = 0; i < 2; i++) await makeKey(harness);
    const { json } = await ask(harness, "GET", `${keys}?limit=1`);
    expectProblem(await get(`?cursor=${json.next_cursor}`), "invalid_cursor");
  });
  provokes("key_in_query", "a key where a text should be", async () => get(`?q=${await harness.gateway.key()}`));
});

describe("what sources say", () => {
  const count = 20_500;
  const first = 4_000_000_000;
  const rows = Array.from({ length: count }, (_, at) => ({ asn: first + at, text: JSON.stringify([[0, "names", `Sourced ${at}`]]) }));

  beforeAll(async () => {
    const { statements } = harness.gateway.store;
    for (let at = 0; at < count; at += 1_000) await statements.write("as_names", rows.slice(at, at + 1_000));
    await statements.setVersion("as_names", { version: "1", asOf: { names: "2026-11-20T04:00:00Z" } });
    const registered = [
      [5, "ripencc", "ripencc"],
      [7, "ripencc", "assigned"],
    ];
    await statements.write("allocations", [{ asn: first, text: JSON.stringify(registered) }]);
  });
  afterAll(async () => {
    const { statements } = harness.gateway.store;
    const gone = rows.map(({ asn }) => ({ asn, text: null }));
    for (let at = 0; at < count; at += 1_000) await statements.write("as_names", gone.slice(at, at + 1_000));
    await statements.write("allocations", [{ asn: first, text: null }]);
  });

  test("is shown without an override, with sources and dates", async () => {
    const { status, json } = await get(`/AS${first}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      asn: first,
      fields: [
        { field: "name", value: "Sourced 0", source: "names", as_of: "2026-11-20T04:00:00Z", others: [] },
        { field: "registry", value: "ripencc", source: "ripencc", as_of: null, others: [] },
        { field: "status", value: "assigned", source: "ripencc", as_of: null, others: [] },
      ],
      override: null,
      by: null,
      updated_at: null,
      links: { asn: `/api/v1/asn/AS${first}`, audit: `${audit}?target=AS${first}` },
    });
  });

  test("stays visible below an override, and counts again without it", async () => {
    const path = `/AS${first + 1}`;
    expect(await ask(harness, "PUT", `${profiles}${path}`, { name: "Mine", network_types: ["isp", "ix"] })).toMatchObject({ status: 201 });
    const { json } = await get(path);
    expect(json.fields).toEqual([
      {
        field: "name",
        value: "Mine",
        source: "override",
        as_of: json.updated_at,
        others: [{ value: "Sourced 1", source: "names", as_of: "2026-11-20T04:00:00Z" }],
      },
      { field: "network_types", value: "isp ix", source: "override", as_of: json.updated_at, others: [] },
    ]);
    expect((await listed("source=override&field=network_types&q=mine")).asns).toEqual([first + 1]);
    expect((await ask(harness, "DELETE", `${profiles}${path}`)).status).toBe(204);
    expect((await get(path)).json.fields).toEqual([
      { field: "name", value: "Sourced 1", source: "names", as_of: "2026-11-20T04:00:00Z", others: [] },
    ]);
    expectProblem(await ask(harness, "DELETE", `${profiles}${path}`), "profile_not_found");
  });

  test("is listed by source and field; pages have every AS once, though a page of a search may have none", async () => {
    expect((await listed("source=names&limit=1000")).asns).toEqual(rows.map(({ asn }) => asn));
    expect((await listed("source=ripencc")).asns).toEqual([first]);
    expect((await listed("field=registry&source=names")).asns).toEqual([]);
    const last = await listed(`q=${encodeURIComponent(`Sourced ${count - 1}`)}`);
    expect(last).toEqual({ asns: [first + count - 1], pages: 3 });
  });

  provokes("invalid_parameter", "a field that profiles do not have", () => get("?field=address"));
});

describe("what is refused", () => {
  provokes("profile_not_found", "an AS without an override", () => get("/AS64499"));
  provokes("profile_not_found", "deleting what nobody overrode", () => ask(harness, "DELETE", `${profiles}/64499`));

  test.each(["AS", "-1", "4294967296", "AS03333", "65536.1", "1.2.3", "%00", "AS1%0d%0a", "x".repeat(200)])(
    "invalid_asn: %j, whatever is done with it",
    async (text) => {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await ask(harness, method, `${profiles}/${text}`, method === "PUT" ? { name: "a" } : undefined);
        expect(expectProblem(answer, "invalid_asn").errors).toMatchObject([{ location: "path.asn" }]);
      }
    },
  );

  const oneLine = 'must be one line of 1 to 256 letters, and not "-"';
  const url = "must be an http or https URL of at most 255 letters";
  const object = "must be an object with at least one of name, organisation, website and network_types";
  test.each<[unknown, object]>([
    [{}, { body: object }],
    [[], { body: object }],
    [{ nam: "a" }, { "body.nam": "is unknown; the known members are name, organisation, website and network_types" }],
    [{ name: "" }, { "body.name": "must be a string of 1 to 256 characters or null" }],
    [{ organisation: "x".repeat(257) }, { "body.organisation": "must be a string of 1 to 256 characters or null" }],
    ...[" a", "-", "\u202e", "a\nb", "a\u0000", "\u001b[31m", "\ud800", "🛰".repeat(200)].map((name): [unknown, object] => [
      { name },
      { "body.name": oneLine },
    ]),
    ...["javascript:alert(1)", "http://", 'https://a.example/"onload=', "//a.example", "https://a.example/ b"].map(
      (website): [unknown, object] => [{ website }, { "body.website": url }],
    ),
    [{ network_types: [] }, { "body.network_types": "must be a list of 1 to 8 items or null" }],
    [{ network_types: ["isp", "isp"] }, { "body.network_types": "must not contain duplicates" }],
    [
      { network_types: ["isp", "Two Words"] },
      { "body.network_types[1]": "must be a word of 1 to 40 lower-case letters, digits and `_` that starts with a letter" },
    ],
    [{ network_types: "abcdefghi".split("") }, { "body.network_types": "must be a list of 1 to 8 items or null" }],
    [JSON.parse('{"__proto__": {"name": "a"}}'), { "body.__proto__": expect.stringMatching(/^is unknown/) }],
    [
      { name: "-", website: "b" },
      { "body.name": oneLine, "body.website": url },
    ],
  ])("invalid_body: %j", async (body, faults) => {
    expect(faultsOf(await put("AS64501", body))).toEqual(faults);
    expectProblem(await get("/AS64501"), "profile_not_found");
    expect((await ask(harness, "GET", `${audit}?target=AS64501`)).json.items).toEqual([]);
  });

  test("payload_too_large: a body of 64 KiB", async () => {
    expectProblem(await put("AS64501", { name: "x".repeat(65_536) }), "payload_too_large");
  });

  test("method_not_allowed: POST", async () => {
    expect((await ask(harness, "POST", `${profiles}/AS64501`, { name: "a" })).headers.allow).toBe("GET, HEAD, PUT, DELETE");
    expect((await ask(harness, "POST", profiles, { name: "a" })).headers.allow).toBe("GET, HEAD");
  });
});
