/** How answers are shown: members, formats, pages. What reaches the service, and what its reply becomes. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { decodeCursor, decodeQuery, encodeCursor, type Format, type Questions, type View } from "@netfacts/contracts";
import { createInProcessMessaging } from "@netfacts/messaging";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";

const snapshotId = "20261121T085500Z-1a2b3c4d";
const question: Questions["asn"] = { asn: 3333, family: null, rpki: null, aggregate: false, limit: 100 };
const pins: (string | null | undefined)[] = [];
const lanes: string[] = [];

let harness: Harness;
beforeAll(async () => {
  const messaging = createInProcessMessaging();
  const request = messaging.request.bind(messaging);
  messaging.request = (service, lane, item, pinnedSnapshot) => {
    pins.push(pinnedSnapshot);
    lanes.push(lane);
    // The service of this test has one snapshot.
    return request(service, lane, item);
  };
  harness = await startGateway({ messaging });
});
afterAll(() => harness.stop());

/** What reaches the service, and the answer. */
async function shown(url: string, headers: Record<string, string> = {}) {
  let view: View | undefined;
  harness.answers.set("asn", (item) => {
    view = decodeQuery("asn", item.query).view;
    return { ...exampleReply("asn"), body: Buffer.from("lines"), snapshotId };
  });
  const answer = await harness.get(url, headers);
  harness.answers.delete("asn");
  return { view, answer };
}

describe("formats", () => {
  const types: Record<Format, string> = {
    json: "application/json; charset=utf-8",
    ndjson: "application/x-ndjson; charset=utf-8",
    csv: "text/csv; charset=utf-8; header=present",
    text: "text/plain; charset=utf-8",
  };

  test.each([
    ["", "json"],
    ["*/*", "json"],
    ["application/*", "json"],
    ["text/csv", "csv"],
    ["TEXT/CSV; header=present", "csv"],
    ["text/plain", "text"],
    ["text/*", "csv"],
    ["application/x-ndjson", "ndjson"],
    ["application/json;q=0.5, text/csv;q=0.9", "csv"],
    ["text/csv;q=0.5, application/json;q=0.5", "json"],
    ["text/html, */*;q=0.1", "json"],
    ["application/json;q=0, */*", "ndjson"],
    ["text/*;q=0.9, text/csv;q=0.1", "text"],
    ["text/csv;q=0, text/*;q=0.4, application/*;q=0.3", "text"],
    ["text/csv;q=1.5", "csv"],
  ] as const)("Accept: %s is answered in %s", async (accept, format) => {
    const { view, answer } = await shown("/api/v1/asn/3333", { accept });
    expect([answer.status, view?.format, answer.headers["content-type"]]).toEqual([200, format, types[format]]);
    expect(answer.body).toBe("lines");
  });

  test.each(["json", "ndjson", "csv", "text"] as const)("format=%s is stronger than Accept", async (format) => {
    const { view, answer } = await shown(`/api/v1/asn/3333?format=${format}`, { accept: "image/png" });
    expect([answer.status, view?.format]).toEqual([200, format]);
  });

  test("each has a tag of its own", async () => {
    const all = await Promise.all(["json", "ndjson", "csv", "text"].map((format) => harness.get(`/api/v1/asn/3333?format=${format}`)));
    expect(all.filter(({ status }) => status !== 200)).toEqual([]);
    const tags = all.map(({ headers }) => headers.etag);
    expect(new Set(tags).size).toBe(4);
    expect((await harness.get("/api/v1/asn/3333")).headers.etag).toBe(tags[0]);
  });
});

test("fields reach the service in the record's order, and meta is no wish of its own", async () => {
  const { view } = await shown("/api/v1/asn/3333?fields=prefixes,asn");
  expect(view).toEqual({ fields: ["asn", "prefixes"], format: "json", page: null, meta: true });
});

test("members of repeated parameters are those of one with commas, with the same tag", async () => {
  const { view, answer } = await shown("/api/v1/asn/3333?fields=prefixes&limit=7&fields=asn,name");
  expect(view?.fields).toEqual(["asn", "name", "prefixes"]);
  expect(answer.headers.etag).toBe((await harness.get("/api/v1/asn/3333?fields=asn,name,prefixes&limit=7")).headers.etag);
  const included = await shown("/api/v1/routing/193.0.6.139?include=upstreams&include=more_specifics");
  expect(included.answer.status).toBe(200);
});

test("meta=false reaches the service, and only for JSON", async () => {
  expect((await shown("/api/v1/asn/3333?meta=false")).view).toEqual({ fields: null, format: "json", page: null, meta: false });
  expect((await shown("/api/v1/asn/3333?meta=true")).view?.meta).toBe(true);
  expect((await shown("/api/v1/asn/3333?meta=no")).answer.status).toBe(400);
  const { answer } = await shown("/api/v1/asn/3333?meta=false&format=csv");
  expect(JSON.parse(answer.body)).toMatchObject({ code: "invalid_parameter", errors: [{ location: "query.meta" }] });
});

describe("pages", () => {
  const cursor = encodeCursor("asn", question, { snapshotId, page: { list: "prefixes", start: 100 } });

  test("a cursor asks its snapshot for what follows, in any size and format", async () => {
    for (const more of ["", "&limit=7", "&format=csv", "&fields=prefixes"]) {
      pins.length = 0;
      const { view, answer } = await shown(`/api/v1/asn/AS3333?cursor=${cursor}${more}`);
      expect([more, answer.status, view?.page, pins]).toEqual([more, 200, { list: "prefixes", start: 100 }, [snapshotId]]);
    }
    pins.length = 0;
    await shown("/api/v1/asn/AS3333?cursor=");
    expect(pins).toEqual([null]);
  });

  test("a list in lines names its next page in Link, by a URL that differs in the cursor only", async () => {
    harness.answers.set("asn", () => ({ ...exampleReply("asn"), snapshotId, next: 200 }));
    const { headers } = await harness.get(`/api/v1/asn/AS3333?format=text&limit=100&cursor=${cursor}`);
    const [, target = "", relation] = /^<([^>]+)>; (.*)$/.exec(headers.link ?? "") ?? [];
    expect(relation).toBe('rel="next"');
    const next = new URL(target, "http://gateway");
    expect(next.pathname).toBe("/api/v1/asn/AS3333");
    expect(Object.fromEntries(next.searchParams)).toEqual({ format: "text", limit: "100", cursor: expect.any(String) });
    const place = decodeCursor("asn", question, next.searchParams.get("cursor") ?? "");
    expect(place).toEqual({ snapshotId, page: { list: "prefixes", start: 200 } });
    expect((await harness.get(target)).status).toBe(200);
    harness.answers.set("asn", () => ({ ...exampleReply("asn"), snapshotId }));
    expect((await harness.get("/api/v1/asn/AS3333?format=text")).headers.link).toBeUndefined();
    harness.answers.delete("asn");
  });

  test("a page has a tag, and is not sent twice", async () => {
    const url = `/api/v1/asn/3333?cursor=${cursor}`;
    const { headers } = await harness.get(url);
    expect(headers.etag).not.toBe((await harness.get("/api/v1/asn/3333")).headers.etag);
    expect((await harness.get(url, { "if-none-match": headers.etag ?? "" })).status).toBe(304);
  });
});

test("what is long work is asked apart from plain questions", async () => {
  const laneOf = async (path: string) => {
    lanes.length = 0;
    await harness.get(path);
    return lanes;
  };
  expect(await laneOf("/api/v1/prefix/193.0.0.0/21")).toEqual(["single"]);
  expect(await laneOf("/api/v1/asn/3333")).toEqual(["single"]);
  expect(await laneOf("/api/v1/asn/3333?limit=101")).toEqual(["batch"]);
  expect(await laneOf("/api/v1/prefix/0.0.0.0/0")).toEqual(["batch"]);
});
