/** PeeringDB's answers: the real sample as JSON.parse has it, and every rule once. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { readPeeringDbNet, readPeeringDbOrg } from "../../src/readers/peeringdb.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { fullSizeData } from "../support/full-size-data.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";

const net = (...data: unknown[]) => readPeeringDbNet(contentOf(JSON.stringify({ data, meta: {} }), 23, { badRecordsMax: 0.6 }));
const org = (...data: unknown[]) => readPeeringDbOrg(contentOf(JSON.stringify({ data, meta: {} }), 23, { badRecordsMax: 0.6 }));

test("a network tells name, organisation's number, website and type", async () => {
  const { networks, report } = await net(
    {
      id: 1,
      org_id: 7,
      asn: 64496,
      name: " Example  Net ",
      website: "https://example.net",
      info_type: "NSP",
      info_types: ["NSP"],
      status: "ok",
    },
    { asn: 64497, name: "Two", website: "", info_type: "Cable/DSL/ISP", info_types: ["Cable/DSL/ISP", "Non-Profit"], notes: { asn: 1 } },
    { asn: 64498, name: "None", website: null, info_type: "Not Disclosed", status: "ok" },
    { asn: 64499, name: "", info_type: "Educational/Research", info_types: [] },
  );
  expect([...networks.values()]).toEqual([
    { asn: 64496, name: "Example Net", orgId: 7, website: "https://example.net", networkType: { type: "nsp", confidence: 0.8 } },
    { asn: 64497, name: "Two", networkType: { type: "cable_dsl_isp", confidence: 0.5, also: ["non_profit"] } },
    { asn: 64498, name: "None" },
    { asn: 64499, networkType: { type: "educational_research", confidence: 0.8 } },
  ]);
  expect(report).toMatchObject({ read: 4, accepted: 4, skipped: [], asOf: null, notes: [] });
});

test("networks that are not in service are left out, and the last of two of one AS stays", async () => {
  const { networks, report } = await net({ asn: 1, name: "a" }, { asn: 2, name: "b", status: "deleted" }, { asn: 1, name: "c" });
  expect([...networks.values()]).toEqual([{ asn: 1, name: "c" }]);
  expect(report.skipped.map(({ reason, bad, count }) => [reason, bad, count])).toEqual([
    ["appears more than once; the last one was kept", false, 1],
    ["not in service", false, 1],
  ]);
});

test("a record with a member twice is invalid", async () => {
  const items = '{"asn": 1, "name": "a", "asn": 2}, {"asn": 3, "name": "c"}';
  const { networks, report } = await readPeeringDbNet(contentOf(`{"data": [${items}]}`, 23, { badRecordsMax: 0.6 }));
  expect([...networks.keys()]).toEqual([3]);
  expect(report.skipped).toMatchObject([{ reason: "asn appears twice", bad: true, count: 1 }]);
});

test("mends texts, and leaves out what is no website", async () => {
  const { networks, report } = await net({ asn: 1, name: "Caf\u00c3\u00a9\u0000", website: "javascript:alert(1)" });
  expect([...networks.values()]).toEqual([{ asn: 1, name: "Café" }]);
  expect(report.notes).toEqual([
    "texts that were encoded twice, corrected: 1",
    "texts with NUL characters, removed: 1",
    "websites that are not http or https URLs, left out: 1",
  ]);
});

test("half of a character, which no section can store, becomes U+FFFD in a name, and a website with it is none", async () => {
  const { networks } = await net({ asn: 1, name: "Caf\ud83d", website: "https://one.example/\ud83d" });
  expect([...networks.values()]).toEqual([{ asn: 1, name: "Caf\ufffd" }]);
  const { organisations } = await org({ id: 7, name: "\udc00 Seven" });
  expect([...organisations.values()]).toEqual([{ name: "\ufffd Seven", website: null }]);
});

test.each([
  [5, "not an object"],
  [{ name: "x" }, "asn is not an AS number"],
  [{ asn: 2, name: 5 }, "name is not a string"],
  [{ asn: 2, name: "a\u0007" }, "name has control characters or more than 256 letters"],
  [{ asn: 2, org_id: "7" }, "org_id is not a number"],
  [{ asn: 2, website: {} }, "website is not a string"],
  [{ asn: 2, info_type: 1 }, "info_type is not a string"],
  [{ asn: 2, info_types: "NSP" }, "info_types is not a list of strings"],
])("counts the network %j as bad", async (item, reason) => {
  expect((await net({ asn: 1 }, item)).report).toMatchObject({ accepted: 1, skipped: [{ reason, bad: true, count: 1 }] });
});

test.each([
  [{ name: "x" }, "id is not a number"],
  [{ id: 2 }, "name is not a string"],
  [{ id: 2, name: " " }, "name is not a string"],
  [{ id: 2, name: "x", asn: 5 }, "a network, not an organisation"],
  [{ id: 2, name: "exchange", org_id: 1 }, "has org_id, so it is not an organisation"],
  [{ id: 2, name: "contact", net_id: 1 }, "has net_id, so it is not an organisation"],
])("counts the organisation %j as bad", async (item, reason) => {
  expect((await org({ id: 1, name: "One" }, item)).report).toMatchObject({ accepted: 1, skipped: [{ reason, bad: true, count: 1 }] });
});

test("is as of when the answer was generated, where it says so", async () => {
  const text = JSON.stringify({ meta: { generated: 1_767_605_493.25 }, data: [{ asn: 1 }] });
  expect((await readPeeringDbNet(contentOf(text))).report.asOf).toBe(1_767_605_493);
});

test.each([
  ["an error of the API", '{"meta": {"error": "Too many requests"}}', /it has no "data"/],
  ["data that is no list", '{"data": {}}', /"data" is not an array/],
  ["nothing in it", '{"data": [], "meta": {}}', /has no networks/],
  ["organisations", '{"data": [{"id": 1, "name": "x"}]}', /1 of 1 networks/],
])("refuses %s, with the byte", async (_what, text, why) => {
  const error = (await failureOf(readPeeringDbNet(contentOf(text)))) as SourceError;
  expect(error).toBeInstanceOf(SourceError);
  expect(error.offset).not.toBeNull();
  expect(error.message).toMatch(why);
});

describe("the real sample", () => {
  const folder = fullSizeData("modern")?.map((modern) => join(modern, "peeringdb-sample"))[0];
  const pages = (kind: string) =>
    folder === undefined || !existsSync(folder)
      ? []
      : readdirSync(folder)
          .filter((name) => name.includes(`_${kind}.page`))
          .map((name) => join(folder, name));

  test("every network is read as it stands", async () => {
    for (const path of pages("net")) {
      const { networks, report } = await readPeeringDbNet(contentOfFile(path));
      const { data } = JSON.parse(readFileSync(path, "utf8")) as { data: Record<string, unknown>[] };
      expect(report).toMatchObject({ read: data.length, accepted: data.length, skipped: [] });
      for (const { asn, org_id, name, website, info_type } of data as Record<string, string>[]) {
        const known = networks.get(Number(asn));
        expect([known?.orgId, known?.name, known?.website ?? ""]).toEqual([org_id, name?.trim(), website]);
        expect(known?.networkType?.type ?? "").toBe(info_type?.toLowerCase().replace(/[^a-z]/g, "_"));
      }
    }
  });

  test("no exchange is read as an organisation", async () => {
    for (const path of pages("ix")) {
      const error = await failureOf(readPeeringDbOrg(contentOfFile(path)));
      expect(error.message).toMatch(
        / organisations \(100\.00 %\) are invalid; .*most common reason: has org_id, so it is not an organisation,/,
      );
    }
  });

  test("every organisation is read as it stands", async () => {
    for (const path of pages("org")) {
      const { organisations } = await readPeeringDbOrg(contentOfFile(path));
      const { data } = JSON.parse(readFileSync(path, "utf8")) as { data: { id: number; name: string; website: string; country: string }[] };
      expect(organisations.size).toBe(data.length);
      for (const { id, name, website, country } of data)
        expect(organisations.get(id)).toEqual({
          name: name.replace(/\s+/g, " ").trim(),
          website: website || null,
          ...(country !== "" && { country }),
        });
    }
  });
});
