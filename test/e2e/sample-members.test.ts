/** The samples show what answers can say: each member of each record has a value somewhere, or the list here says why not. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ChangesName, OperationName } from "@netfacts/contracts";
import { type DocumentedMember, documentedMembers, pages } from "../../scripts/record-docs/members.ts";
import { sampleAddresses } from "../../services/console/src/domain/sample-addresses.ts";
import { request } from "../support/http.ts";
import { endAll, removeFolders, type Standalone, startStandalone, temporaryFolder } from "../support/processes.ts";
import { type RecursiveDns, startRecursiveDns } from "../support/recursive-dns.ts";
import { withSamples } from "../support/sample-snapshot.ts";

/** Requests whose answers together show the members of a record; `/changes` compares snapshots, and the samples are one. */
const requests: Readonly<Record<Exclude<OperationName, ChangesName>, readonly string[]>> = {
  ip: [
    ...sampleAddresses.map(({ ip }) => ip),
    "198.51.100.1",
    "24.230.0.1",
    "20.149.8.1",
    "20.137.0.1",
    "196.13.201.1",
    "64:ff9b::192.0.2.33",
  ].map((ip) => `/ip/${ip}`),
  routing: [...sampleAddresses.map(({ ip }) => ip), "1.3.0.1", "1.38.0.1", "20.139.128.1", "20.149.8.1", "20.137.0.1", "196.13.201.1"].map(
    (ip) => `/routing/${ip}?include=more_specifics,upstreams`,
  ),
  prefix: [
    "193.0.0.0/20",
    "41.77.72.0/21",
    "41.77.76.0/24",
    "1.3.0.0/24",
    "1.38.0.0/23",
    "20.137.0.0/16",
    "20.137.0.0/21",
    "24.0.0.0/8",
    "20.149.8.0/21",
    "24.230.0.0/19",
    "198.51.100.0/24",
    "2001:4308::/32",
  ].map((prefix) => `/prefix/${prefix}?limit=1`),
  asn: ["/asn/AS37063?limit=1", "/asn/AS20011", "/asn/AS53343", "/asn/AS3333", "/asn/AS64512"],
  validity: [
    "/validity?asn=3333&prefix=193.0.0.0/21",
    "/validity?asn=3333&prefix=193.0.0.0/24",
    "/validity?asn=64512&prefix=41.77.76.0/24",
  ],
  asn_vrps: ["/vrps/AS3333?limit=1"],
  search: ["/search?q=ripe", "/search?q=internet&limit=1"],
  reverse_dns: ["/reverse-dns/193.0.6.139"],
  status: ["/status"],
};

const setsMatchNothing = "an AS_SET matches no VRP";
const allSeen = "the one full feed has a route wherever another peer has a longer one";
const rangesOnly = "of prefixes only, and these are types of an AS";

/** Members without a value in any of these answers, with the reason. It holds for what is inside them, too. */
const without: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ip: { "routing.as_set_origins[].rpki.vrps.matched": setsMatchNothing, "routing.low_visibility_matches": allSeen },
  routing: { "as_set_origins[].rpki.vrps.matched": setsMatchNothing, low_visibility_matches: allSeen },
  prefix: { "origins[].upstreams": "only /routing is asked for them", "as_set_origins[].rpki.vrps.matched": setsMatchNothing },
  asn: {
    "network_types[].prefix": rangesOnly,
    "network_types[].provider": rangesOnly,
    "network_types[].region": rangesOnly,
    "network_types[].services": rangesOnly,
    "counts.ipv6.prefixes": "no peer has a full feed of IPv6",
    "counts.ipv6.prefixes_aggregated": "no peer has a full feed of IPv6",
    "counts.ipv6.slash48s": "no peer has a full feed of IPv6",
    "counts.ipv6.largest": "no peer has a full feed of IPv6",
    "aspa.ta": "the export does not say it",
  },
  status: {
    "sections.routes.sources[].fetched_at": "the samples are files, which nobody fetched",
    "sections.routes.sources[].error": "no source failed",
  },
};

let dns: RecursiveDns;
let standalone: Standalone;
const answers = new Map<string, object[]>();

beforeAll(async () => {
  dns = await startRecursiveDns();
  standalone = await startStandalone(await withSamples(temporaryFolder()), { RESOLVERS: dns.address });
  for (const [name, paths] of Object.entries(requests))
    for (const path of paths) {
      const { status, json } = await request(`${standalone.url}/api/v1${path}`, { key: standalone.key });
      expect([path, status]).toEqual([path, 200]);
      answers.set(name, [...(answers.get(name) ?? []), json]);
    }
  const past = `/ip/193.0.6.139?as_of=${new Date().toISOString().slice(0, 19)}Z`;
  const { json } = await request(`${standalone.url}/api/v1${past}`, { key: standalone.key });
  answers.set("meta", [...[...answers.values(), [json]].flat().map((answer) => (answer as { meta: object }).meta)]);
}, 300_000);

afterAll(async () => {
  await endAll();
  await dns?.stop();
  removeFolders();
});

/** Whether `a.b[].c` has a value: not null, and no empty list. */
function hasValue(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (value === null || value === undefined) return false;
  if (name === undefined) return !(Array.isArray(value) && value.length === 0);
  const member = (value as Readonly<Record<string, unknown>>)[name.replace(/\[\]$/, "")];
  return name.endsWith("[]") && Array.isArray(member) ? member.some((item) => hasValue(item, rest)) : hasValue(member, rest);
}

const isShown = (records: readonly object[], { path }: DocumentedMember): boolean =>
  records.some((record) => hasValue(record, path.split(".")));

test.each([...Object.keys(requests), "meta"])("each member of %s has a value in the samples, or a reason why not", (name) => {
  const page = pages.find(([other]) => other === name)?.[1];
  if (page === undefined) throw new Error(`no page ${name}`);
  const members = documentedMembers(name, page);
  expect(members.length).toBeGreaterThan(3);
  const missing = members.filter((member) => !isShown(answers.get(name) ?? [], member)).map(({ path }) => path);
  const reasons = Object.keys(without[name] ?? {});
  const isInside = (path: string) => reasons.some((reason) => path.startsWith(`${reason}.`) || path.startsWith(`${reason}[]`));
  expect(missing.filter((path) => !isInside(path))).toEqual(reasons);
});

describe("the addresses of the first page of the console", () => {
  interface Shown {
    readonly rpki: { readonly state: string | null };
    readonly location: object | null;
    readonly network_types: readonly object[];
    readonly allocation: { readonly holder: object | null } | null;
  }
  interface Routed {
    readonly origins: readonly { readonly rpki: { readonly state: string; readonly reason: string | null } }[];
    readonly more_specifics: { readonly count: number | null };
  }
  const records = async (ip: string) => {
    const get = async (path: string) => (await request(`${standalone.url}/api/v1${path}`, { key: standalone.key })).json;
    return { shown: (await get(`/ip/${ip}`)) as Shown, routed: (await get(`/routing/${ip}?include=more_specifics`)) as Routed };
  };

  test.each(sampleAddresses)("$ip has a location and a network type", async ({ ip }) => {
    const { shown } = await records(ip);
    expect(shown).toMatchObject({ location: expect.anything(), network_types: expect.arrayContaining([expect.anything()]) });
  });

  test("show RPKI valid, invalid with its reason, a holder, a contradicted location and more specific prefixes", async () => {
    const [located, contested, inside] = await Promise.all(sampleAddresses.map(({ ip }) => records(ip)));
    expect(located?.shown).toMatchObject({ rpki: { state: "valid" }, location: { outliers: { observations: 1 } } });
    expect(contested?.routed.origins.map(({ rpki: { state, reason } }) => [state, reason])).toEqual([
      ["valid", null],
      ["invalid", "as"],
    ]);
    expect(contested?.shown.allocation?.holder).toMatchObject({ asns: [37063] });
    expect(inside?.routed.more_specifics.count).toBe(1);
    expect(inside?.shown.network_types).toHaveLength(3);
  });
});
