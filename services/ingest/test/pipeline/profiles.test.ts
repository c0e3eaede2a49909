/** Names, profiles and network types in a run: which source counts where several say something. */

import { expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { Generation, loadSnapshot, type NetworkTypeStatement, type SnapshotStore } from "@netfacts/snapshot";
import { runIngest } from "../../src/app.ts";
import { atWork, type Workplace } from "../support/made-files.ts";

async function generationOf(store: SnapshotStore): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) as string)));
}

const run = async ({ sources, store }: Workplace, ...lines: string[]) =>
  runIngest({ config: await sources(`sources:\n${lines.map((line) => `  - {${line}}\n`).join("")}`), store });

const nets = JSON.stringify({
  data: [
    { asn: 1, org_id: 7, name: "Net One", website: "https://one.example", info_type: "NSP" },
    { asn: 2, org_id: 7, name: "Net Two", website: "", info_type: "Content" },
    { asn: 3, org_id: 8, name: "Net Three", website: "", info_type: "" },
    { asn: 4, name: "Net Four", website: "https://four.example" },
  ],
});
const orgs = JSON.stringify({ data: [{ id: 7, name: "Seven", country: "NL", website: "https://seven.example" }] });
const corrections = "asn,name,organisation,website,network_type\n2,TWO,,,isp\n4,-,Four Ltd,-,\n9,,Nine,,\n";

test("profiles join networks with their organisations, and what the operator says counts most", async () => {
  await atWork(async (place) => {
    await place.write("nets", nets);
    await place.write("orgs", orgs);
    await place.write("fix", corrections);
    await run(
      place,
      "name: org, section: profiles, format: peeringdb-org, location: orgs",
      "name: net, section: profiles, format: peeringdb-net, location: nets",
      "name: fix, section: profiles, format: overrides-csv, location: fix",
    );
    const { profiles, manifest } = await generationOf(place.store);
    expect([...(profiles?.entries() ?? [])]).toEqual([
      [
        1,
        {
          organisation: "Seven",
          country: "NL",
          website: "https://one.example",
          networkType: { type: "nsp", basis: "peeringdb:net.info_type", confidence: 0.8 },
        },
      ],
      [
        2,
        {
          organisation: "Seven",
          country: "NL",
          website: "https://seven.example",
          networkType: { type: "isp", basis: "operator:overrides", confidence: 1 },
        },
      ],
      [4, { organisation: "Four Ltd", website: null, networkType: null }],
      [9, { organisation: "Nine", website: null, networkType: null }],
    ]);
    expect(manifest.sections.profiles).toMatchObject({ counts: { profiles: 4 }, as_of: "2025-11-21T04:40:00Z" });
  });
});

test("of two sources of names the one listed later counts, and a dash takes a name away", async () => {
  await atWork(async (place) => {
    await place.write("nets", nets);
    await place.write("fix", corrections);
    const names = "name: names, section: as_names, format: name-list, location: names";
    const net = "name: net, section: as_names, format: peeringdb-net, location: nets";
    const fix = "name: fix, section: as_names, format: overrides-csv, location: fix";
    const told = async (...lines: string[]) => {
      await run(place, ...lines);
      const { names: table } = await generationOf(place.store);
      return [1, 2, 4, 5, 9].map((asn) => table?.lookupName(asn) ?? null);
    };
    expect(await told(names, net, fix)).toEqual(["Net One", "TWO", null, "NAME-5", "NAME-9"]);
    expect(await told(fix, net, names)).toEqual(["NAME-1", "NAME-2", "NAME-4", "NAME-5", "NAME-9"]);
  });
});

test("network types are found by the most specific prefix and by AS number", async () => {
  await atWork(async (place) => {
    await place.write(
      "types",
      "resource,network_type,confidence\n11.0.0.0/8,isp,\n11.1.0.0/16,office,0.5\n11.1.0.0/16,lab mobile,70%\nAS9,transit,\n",
    );
    await run(place, "name: types, section: network_types, format: network-types-csv, location: types");
    const { networkTypes, manifest } = await generationOf(place.store);
    const said = (statements: readonly NetworkTypeStatement[] | undefined) =>
      statements?.map(({ types, confidence }) => [...types, confidence]);
    const at = (text: string) => said(networkTypes?.ofAddress(parseAddress(text) ?? { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 }));
    expect([at("11.1.2.3"), at("11.2.0.1"), at("12.0.0.1"), said(networkTypes?.ofAs(9)), said(networkTypes?.ofAs(8))]).toEqual([
      [["lab", "mobile", 0.7]],
      [["isp", 1]],
      [],
      [["transit", 1]],
      [],
    ]);
    expect(manifest.sections.network_types).toMatchObject({ counts: { prefixes: 2, asns: 1 }, stale_after_seconds: null });
  });
});

test.each([
  ["nets", "org_id", "networks with an organisation"],
  ["nets", "name", "networks with a name"],
  ["nets", "website", "networks with a website"],
  ["nets", "info_type", "networks with a network type"],
  ["orgs", "website", "organisations with a website"],
  ["orgs", "country", "organisations with a country"],
])("PeeringDB's %s that no longer tell %s are refused", async (file, member, kind) => {
  const many = (item: (id: number) => object) => JSON.stringify({ data: Array.from({ length: 60 }, (_, at) => item(at + 1)) });
  const files = {
    nets: many((id) => ({ asn: id, org_id: id, name: `Net ${id}`, website: "https://one.example", info_type: "NSP" })),
    orgs: many((id) => ({ id, name: `Org ${id}`, website: "https://one.example", country: "NL" })),
  };
  await atWork(async (place) => {
    await place.write("nets", files.nets);
    await place.write("orgs", files.orgs);
    const imported = () =>
      run(
        place,
        "name: org, section: profiles, format: peeringdb-org, location: orgs",
        "name: net, section: profiles, format: peeringdb-net, location: nets",
      );
    await imported();
    await place.write(file, files[file as "nets" | "orgs"].replaceAll(`"${member}"`, `"${member}_"`));
    await expect(imported()).rejects.toThrow(
      `${file}: has 0 ${kind}, compared with 60 in the last good version: 60 are missing, more than kind_shrink_max (0.2) allows`,
    );
  });
});
