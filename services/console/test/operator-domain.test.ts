/** What the pages for operators decide without asking: the routes that they call, which source comes first, what to do, and bars of usage. */

import { expect, test } from "@jest/globals";
import type { KeptSnapshot } from "@netfacts/contracts";
import { scopes as allScopes, examples, type IngestSource } from "@netfacts/contracts";
import { adminRoutes, ingestRoutes } from "@netfacts/contracts/openapi";
import { detailOf, faultOf } from "../src/domain/problem-text.ts";
import { filteredKeys, keyPatchOf, newKeyOf, rateText, scopes } from "../src/operator/domain.ts";
import { operatorCalls } from "../src/operator/operator-calls.ts";
import { podsBySnapshot, sectionChanges } from "../src/operator/snapshot-changes.ts";
import { adviceFor, failingFirst } from "../src/operator/sources-order.ts";
import { formatOf } from "../src/operator/upload-format.ts";
import { dayBars, topBars } from "../src/operator/usage-days.ts";

test("every call of a page is a described route, and the form offers every scope", () => {
  const described = new Map(
    [...adminRoutes, ...ingestRoutes].map(({ id, method, path }) => [id, [method.toUpperCase(), path.replace("{name}", "{id}")]]),
  );
  for (const [id, call] of Object.entries(operatorCalls)) expect([id, described.get(id)]).toEqual([id, [...call]]);
  expect(scopes).toEqual(allScopes);
});

const source = (members: Partial<IngestSource>): IngestSource => ({
  ...(examples.sources.items[0] as IngestSource),
  error: null,
  stale: false,
  state: "read",
  ...members,
});

test("sources that fail come first, then those kept and stale ones, each group in the order of the list", () => {
  const given = [
    source({ name: "a" }),
    source({ name: "b", stale: true }),
    source({ name: "c", state: "failed", error: "x" }),
    source({ name: "d", state: "unknown" }),
    source({ name: "e", state: "kept", error: "x" }),
    source({ name: "f", state: "failed", error: "x" }),
  ];
  expect(failingFirst(given).map(({ name }) => name)).toEqual(["c", "f", "e", "b", "d", "a"]);
});

test("each source that needs something has an advice, and no other", () => {
  expect(adviceFor(source({}))).toBeNull();
  expect(adviceFor(source({ stale: true }))).toContain("No newer version");
  expect(adviceFor(source({ state: "unknown" }))).toContain("Start a run");
  const failed = (error: string) => adviceFor(source({ state: "failed", required: true, schedule: null, error }));
  expect(failed("https://a.example/x: the server returned status 503")).toBe(
    "Runs fail until it can be read. The server or the way to it fails. Start a run to ask again.",
  );
  expect(failed("https://a.example/x: the server returned status 404")).toContain("The location may have changed");
  expect(failed("ENOENT: no such file or directory, open 'x.txt'")).toContain("check the path");
  expect(failed("no usable version of it was fetched")).toContain("the log of ingest");
  expect(failed("rrc00.gz: the input ends 12 bytes into a record")).toContain("The content cannot be used");
  expect(adviceFor(source({ state: "kept", error: "it shrank by more than shrink_max allows" }))).toBe(
    "The previous version stays in service. If so many records are really gone, start a run that accepts it.",
  );
});

test("a form of a key is a request without the fields that are empty", () => {
  const form = new FormData();
  for (const [name, value] of [
    ["label", " siem "],
    ["scope", "routing"],
    ["scope", "ip"],
    ["rate", ""],
    ["month", "100"],
    ["cidrs", "10.0.0.0/8\n\n192.0.2.1, ::1"],
    ["expires", "2027-12-31"],
  ] as const)
    form.append(name, value);
  expect(newKeyOf(form)).toEqual({
    label: "siem",
    scopes: ["ip", "routing"],
    environment: "live",
    plan: "default",
    allowed_cidrs: ["10.0.0.0/8", "192.0.2.1", "::1"],
    month: { limit: 100 },
    expires_at: "2027-12-31T00:00:00Z",
  });
});

test("a form of a key that exists is a request with what differs only", () => {
  const form = (changed: Readonly<Record<string, string>>) => {
    const data = new FormData();
    const key = { ...examples.managed_key, expires_at: "2027-12-31T12:30:00Z" };
    const fields = {
      ...{ label: key.label, plan: key.plan, cidrs: key.allowed_cidrs.join("\n"), expires: "2027-12-31", window: "1" },
      ...{ rate: "", month: "", concurrency: "", ...changed },
    };
    for (const scope of key.scopes) data.append("scope", scope);
    for (const [name, value] of Object.entries(fields)) data.append(name, value);
    return keyPatchOf(data, { ...key, rate: null, month: { limit: 5 }, concurrency: null });
  };
  expect(form({ month: "5" })).toEqual({});
  expect(form({ rate: "20", window: "60", expires: "2028-01-01" })).toEqual({
    rate: { limit: 20, window_seconds: 60 },
    month: null,
    expires_at: "2028-01-01T00:00:00Z",
  });
  expect(form({ month: "5", cidrs: "10.0.0.0/8", expires: "" })).toEqual({ allowed_cidrs: ["10.0.0.0/8"], expires_at: null });
});

test("keys are found by all words of a filter, in any member", () => {
  const key = examples.managed_key;
  const keys = [key, { ...key, id: "2F8ZC5TN", label: "probe", state: "revoked" as const }];
  expect(filteredKeys(keys, " PROBE revoked ").map(({ id }) => id)).toEqual(["2F8ZC5TN"]);
  expect(filteredKeys(keys, "probe active")).toEqual([]);
  expect(filteredKeys(keys, " ")).toBe(keys);
  expect([rateText({ limit: 20, window_seconds: 1 }), rateText({ limit: 5, window_seconds: 60 })]).toEqual([
    "20 units per second",
    "5 units per minute",
  ]);
});

test("days without usage are bars of 0, and what is used little is one bar", () => {
  expect(
    dayBars("2026-02-27", "2026-03-02", [{ day: "2026-03-01", counted: 2, uncounted: 1 }]).map(({ name, value }) => `${name}=${value}`),
  ).toEqual(["2026-02-27=0", "2026-02-28=0", "2026-03-01=3", "2026-03-02=0"]);
  const items = [1, 5, 3, 2].map((counted) => ({ key_id: `k${counted}`, counted, uncounted: 0 }));
  expect(topBars(items, ({ key_id }) => key_id ?? "", 2)).toEqual([
    { name: "k5", value: 5 },
    { name: "k3", value: 3 },
    { name: "others", value: 3 },
  ]);
});

test("two snapshots are compared by section and kind, also where one lacks it", () => {
  const [to, from] = examples.snapshots.items as [KeptSnapshot, KeptSnapshot];
  expect(sectionChanges({ ...from, sections: from.sections.slice(0, 1) }, to)).toEqual([
    {
      name: "routes",
      from: "20261121.0755",
      to: "20261121.0855",
      counts: [
        { kind: "ipv4", from: 1_045_388, to: 1_045_469 },
        { kind: "ipv6", from: 233_101, to: 233_120 },
      ],
    },
    {
      name: "vrps",
      from: null,
      to: "20261121T085012Z",
      counts: [
        { kind: "ipv4", from: null, to: 512_004 },
        { kind: "ipv6", from: null, to: 180_377 },
      ],
    },
  ]);
});

test("pods are grouped by the snapshot that they serve, those without one last", () => {
  expect(
    podsBySnapshot([
      { pod: "a", serving: null },
      { pod: "b", serving: "1" },
      { pod: "c", serving: "2" },
      { pod: "d", serving: "1" },
    ]),
  ).toEqual([
    { snapshot: "2", pods: ["c"] },
    { snapshot: "1", pods: ["b", "d"] },
    { snapshot: null, pods: ["a"] },
  ]);
});

test("the name of a file says its format", () => {
  expect(["a.ndjson", "A.CSV", "geofeed.csv", "x"].map(formatOf)).toEqual(["ndjson", "csv", "geofeed", "ndjson"]);
});

test("errors of a request name their entry in words, and no member of the API", () => {
  const bits = { location: "body.allowed_cidrs[0]", message: "has bits set beyond its length" };
  const text = { location: "body.allowed_cidrs[1]", message: "is not a CIDR or address" };
  expect([bits, text].map(faultOf)).toEqual([
    "Entry 1 of networks has bits set beyond its length.",
    "Entry 2 of networks is not a CIDR or address.",
  ]);
  expect(faultOf({ location: "body.rate.limit", message: "must be an integer" })).toBe("Rate limit must be an integer.");
  expect(faultOf({ location: "path.network", message: "host bits are set" })).toBe("Host bits are set.");
  expect(faultOf({ location: "query.asn", message: "is not an AS number" })).toBe("Origin AS is not an AS number.");
  expect(faultOf({ location: "query.month", message: "must be a month such as 2026-11" })).toBe("Month must be a month such as 2026-11.");
  const problem = (detail: string, ...errors: object[]) => ({ detail, errors }) as unknown as Parameters<typeof detailOf>[0];
  expect(detailOf(problem("The request has 2 errors, listed in errors[].", bits, text))).toBe("The request has 2 errors:");
  expect(detailOf(problem("body.allowed_cidrs[0] has bits set beyond its length.", bits))).toBe(faultOf(bits));
  expect(detailOf(problem("193.0.6.139/21 has bits set beyond its length.", bits))).toBe("193.0.6.139/21 has bits set beyond its length.");
});
