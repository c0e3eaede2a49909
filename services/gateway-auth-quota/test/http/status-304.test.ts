/** 304: what the caller has already is not sent again. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { SnapshotChanges } from "../../src/lookups/conditional.ts";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

const url = "/api/v1/ip/193.0.6.139";

test("the tag of the answer, alone, in a list or as a strong one, gives 304 with the same headers and no body", async () => {
  const { headers } = await harness.get(url);
  const etag = headers.etag ?? "";
  for (const value of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
    const answer = await harness.get(url, { "if-none-match": value });
    expect([value, answer.status, answer.body]).toEqual([value, 304, ""]);
    expect(answer.headers).toMatchObject({ etag, "cache-control": headers["cache-control"], vary: headers.vary });
    expect(answer.headers["content-type"]).toBeUndefined();
    expect(answer.headers.ratelimit).toBeDefined();
  }
});

test("only the tag itself makes a 304 free, and no 304 says where a list goes on", async () => {
  const list = "/api/v1/asn/AS3333?format=text&limit=1";
  harness.answers.set("asn", () => ({ ...exampleReply("asn"), snapshotId: "20261121T085500Z-1a2b3c4d", next: 1 }));
  const authorization = `Bearer ${await harness.key()}`;
  const ask = (url: string, headers: Record<string, string> = {}) => harness.request("GET", url, { authorization, ...headers });
  // Charged when the answer leaves: the next answer shows it.
  const left = async () => Number((await ask("/api/v1/me")).headers["x-quota-remaining"]);
  const { headers } = await ask(list);
  expect(headers.link).toBeDefined();
  const cost: [string, number, number][] = [];
  const conditions: [string, string][] = [
    ["if-none-match", headers.etag ?? ""],
    ["if-none-match", "*"],
    ["if-modified-since", headers["last-modified"] ?? ""],
  ];
  for (const [name, value] of conditions) {
    const before = await left();
    const answer = await ask(list, { [name]: value });
    expect(answer.headers.link).toBeUndefined();
    cost.push([value, answer.status, before - (await left())]);
  }
  harness.answers.delete("asn");
  expect(cost).toEqual([
    [headers.etag, 304, 0],
    ["*", 304, 1],
    [headers["last-modified"], 304, 1],
  ]);
});

test("tags that this answer does not have are charged, however they are written and however many there are", async () => {
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), etag: "the sections of today" }));
  const secret = await harness.key();
  const ask = (tags: string | undefined) =>
    harness.request("GET", url, { authorization: `Bearer ${secret}`, ...(tags !== undefined && { "if-none-match": tags }) });
  const { etag = "" } = (await ask(undefined)).headers;
  const opaque = etag.slice(3, -1);
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), etag: "the sections of yesterday" }));
  const old = (await ask(undefined)).headers.etag ?? "";
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), etag: "the sections of today" }));
  const many = Array.from({ length: 10_000 }, (_, n) => `W/"${String(n).padStart(22, "A")}"`).join(", ");
  const forged = [
    `W/"${[...opaque].reverse().join("")}"`,
    `W/"${opaque.slice(0, 12)}AAAAAAAAAA"`,
    `W/"AAAAAAAAAAAA${opaque.slice(12)}"`,
    old,
    opaque,
    `w/"${opaque.toLowerCase()}"`,
    `W/"${opaque}`,
    `"*"`,
    `*, "other"`,
    `"", ""`,
    many,
    `${many}, "${"\\".repeat(10_000)}`,
  ];
  expect(old).not.toBe(etag);
  const left = async () =>
    Number((await harness.request("GET", "/api/v1/me", { authorization: `Bearer ${secret}` })).headers["x-quota-remaining"]);
  for (const tags of forged) {
    const before = await left();
    const { status } = await ask(tags);
    expect([tags.slice(0, 60), status, before - (await left())]).toEqual([tags.slice(0, 60), 200, 1]);
  }
  const before = await left();
  expect((await ask(`${many}, ${etag}`)).status).toBe(304);
  expect(before - (await left())).toBe(0);
  harness.answers.delete("ip");
});

test("no part of a tag is the same for another question, from which its tag could be computed", async () => {
  const tags = await Promise.all([139, 140, 141].map(async (last) => (await harness.get(`/api/v1/ip/193.0.6.${last}`)).headers.etag ?? ""));
  for (const start of [3, 9, 15]) expect(new Set(tags.map((tag) => tag.slice(start, start + 6))).size).toBe(3);
});

test("a tag answers no key that may not ask", async () => {
  const { etag = "" } = (await harness.get(url)).headers;
  const other = await harness.key({ scopes: ["asn"] });
  for (const tags of [etag, "*"]) {
    const answer = await harness.request("GET", url, { authorization: `Bearer ${other}`, "if-none-match": tags });
    expect([answer.status, answer.headers.etag]).toEqual([403, undefined]);
  }
});

test("another tag, or the tag of another question, gives the answer", async () => {
  const { headers } = await harness.get("/api/v1/ip/193.0.6.140");
  for (const value of [headers.etag ?? "", '"other"', "garbage", ""])
    expect((await harness.get(url, { "if-none-match": value })).status).toBe(200);
});

describe("dates", () => {
  const ids = ["20261121T085500Z-1a2b3c4d", "20261121T085500Z-00000001"] as const;
  const from = (snapshotId: string) => harness.answers.set("ip", () => ({ ...exampleReply("ip"), snapshotId }));
  beforeAll(() => {
    from(ids[0]);
  });
  afterAll(() => {
    harness.answers.delete("ip");
  });
  const lastModified = async () => (await harness.get(url)).headers["last-modified"] ?? "";
  const shifted = (text: string, ms: number) => new Date(Date.parse(text) + ms).toUTCString();

  test("Last-Modified tells since when answers come from this snapshot", async () => {
    const modified = await lastModified();
    expect(Math.abs(Date.parse(modified) - Date.now())).toBeLessThan(60_000);
    harness.clock.offsetMs += 3_600_000;
    expect(await lastModified()).toBe(modified);
    // Reverse DNS is of no snapshot.
    expect((await harness.get("/api/v1/reverse-dns/193.0.6.139")).headers["last-modified"]).toBeUndefined();
  });

  test("each snapshot has a date of its own, also of the same data and within the same second; while replicas differ, both dates stay", async () => {
    const dates = [Date.parse(await lastModified())];
    for (const id of [ids[1], ids[0], ids[1]]) {
      from(id);
      const since = new Date(dates.at(-1) as number).toUTCString();
      expect((await harness.get(url, { "if-modified-since": since })).status).toBe(200);
      dates.push(Date.parse(await lastModified()));
    }
    const [first, second] = dates as [number, number];
    expect(dates).toEqual([first, second, first, second]);
    expect(second).toBeGreaterThan(first);
    from(ids[0]);
  });

  test("no date is a condition where the answer may change at any moment", async () => {
    const modified = await lastModified();
    harness.answers.set("ip", () => ({ ...exampleReply("ip"), snapshotId: ids[0], maxAgeSeconds: 0 }));
    const answer = await harness.get(url, { "if-modified-since": modified });
    expect([answer.status, answer.headers["last-modified"]]).toEqual([200, modified]);
    from(ids[0]);
  });

  test("an answer without a snapshot has none, also as the first of a gateway", () => {
    const changes = new SnapshotChanges({ now: () => 0 });
    expect(changes.since("")).toBeNull();
    expect(changes.since(ids[0])).toEqual({ ms: 1_000, text: "Thu, 01 Jan 1970 00:00:01 GMT" });
  });

  test("a clock that was ahead leaves no date of the future", () => {
    let now = 10_000;
    const changes = new SnapshotChanges({ now: () => now });
    expect(changes.since(ids[0])?.ms).toBe(10_000);
    now += 7_200_000;
    changes.since(ids[1]);
    now = 20_000;
    expect(ids.map((id) => changes.since(id)?.ms)).toEqual([10_000, 20_000]);
  });

  test("later pages of a list have the date of their data, which is no condition", async () => {
    const reply = { ...exampleReply("asn"), snapshotId: ids[0], next: 1 };
    harness.answers.set("asn", () => reply);
    const first = await harness.get("/api/v1/asn/AS3333?format=text&limit=1");
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.link ?? "")?.[1] ?? "";
    const modified = "Sat, 21 Nov 2026 08:55:00 GMT";
    const page = await harness.get(next, { "if-modified-since": modified });
    expect([page.status, page.headers["last-modified"]]).toEqual([200, modified]);
    harness.answers.delete("asn");
  });

  const forms: [status: number, what: string, date: (modified: string) => string][] = [
    [304, "the date itself", (modified) => modified],
    [
      304,
      "the date in the form of RFC 850",
      (modified) => {
        const [, , day = "", month = "", year = "", time = ""] = /^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/.exec(modified) ?? [];
        const name = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(Date.parse(modified));
        return `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
      },
    ],
    [200, "a later date, which no answer had", (modified) => shifted(modified, 1_000)],
    [200, "an earlier date", (modified) => shifted(modified, -1_000)],
    [200, "no date", () => "yesterday"],
    [200, "a date of another form", (modified) => new Date(Date.parse(modified)).toISOString()],
    [200, "nothing", () => ""],
  ];
  test.each(forms)("%i for If-Modified-Since with %s", async (status, _what, date) => {
    const modified = await lastModified();
    const answer = await harness.get(url, { "if-modified-since": date(modified) });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({ "last-modified": modified, etag: expect.any(String) });
  });

  test("a tag decides alone where both are sent", async () => {
    const { headers } = await harness.get(url);
    const statusOf = async (tag: string, since: string) =>
      (await harness.get(url, { "if-none-match": tag, "if-modified-since": since })).status;
    const modified = headers["last-modified"] ?? "";
    expect(await statusOf('"other"', modified)).toBe(200);
    expect(await statusOf(headers.etag ?? "", shifted(modified, -1_000))).toBe(304);
  });

  test("a condition on an answer that is a problem changes nothing", async () => {
    expect((await harness.get("/api/v1/ip/nonsense", { "if-none-match": "*", "if-modified-since": await lastModified() })).status).toBe(
      400,
    );
  });
});

test("HEAD is told the same, without a length that would not be the record's", async () => {
  const authorization = `Bearer ${await harness.key()}`;
  const { headers } = await harness.request("HEAD", url, { authorization });
  const answer = await harness.request("HEAD", url, { authorization, "if-none-match": headers.etag ?? "" });
  expect(answer.status).toBe(304);
  expect(answer.headers["content-length"]).toBeUndefined();
});

test("a flag is not sent twice", async () => {
  const { headers } = await harness.request("GET", "/flags/nl.svg");
  const answer = await harness.request("GET", "/flags/nl.svg", { "if-none-match": headers.etag ?? "" });
  expect([answer.status, answer.body]).toEqual([304, ""]);
});
