/** What a run would build: by content alone. */

import { expect, test } from "@jest/globals";
import type { Manifest } from "@netfacts/snapshot";
import { planOf } from "../../src/schedule/plan.ts";
import type { SourceConfig } from "../../src/sources/index.ts";

const source = (name: string, section: string, format: string, required = true): SourceConfig =>
  ({ name, section, format, required }) as SourceConfig;
const rib = source("rib", "routes", "mrt");
const vrps = source("vrps", "vrps", "rpki-client-json");
const ripe = source("ripe", "allocations", "delegated", false);
const arin = source("arin", "allocations", "delegated", false);

type Entries = Record<string, readonly [name: string, format: string, sha256: string][]>;
const manifest = (sections: Entries): Pick<Manifest, "sections"> =>
  ({
    sections: Object.fromEntries(
      Object.entries(sections).map(([name, sources]) => [
        name,
        { sources: sources.map(([own, format, sha256]) => ({ name: own, format, sha256 })) },
      ]),
    ),
  }) as unknown as Pick<Manifest, "sections">;

function plan(sources: readonly SourceConfig[], versions: Record<string, string | null>, there: Entries | null) {
  const { sections, waiting } = planOf(sources, new Map(Object.entries(versions)), there === null ? null : manifest(there));
  return { sections, waiting: Object.fromEntries(waiting) };
}

const nothing = { sections: [], waiting: {} };
const built: Entries = {
  routes: [["rib", "mrt", "r1"]],
  vrps: [["vrps", "rpki-client-json", "v1"]],
  allocations: [
    ["ripe", "delegated", "a1"],
    ["arin", "delegated", "a2"],
  ],
};
const all = [rib, vrps, ripe, arin];
const same = { rib: "r1", vrps: "v1", ripe: "a1", arin: "a2" };

test("what is there already is not built again, in whatever order it stands", () => {
  expect(plan(all, same, built)).toEqual(nothing);
  expect(plan([arin, ripe, vrps, rib], same, built)).toEqual(nothing);
});

test("a section is built when a file, a format or the list of its sources is another", () => {
  expect(plan(all, { ...same, vrps: "v2" }, built).sections).toEqual(["vrps"]);
  expect(plan(all, { ...same, arin: "a3" }, built).sections).toEqual(["allocations"]);
  expect(plan([rib, source("vrps", "vrps", "routinator-json"), ripe, arin], same, built).sections).toEqual(["vrps"]);
  expect(plan([rib, vrps, ripe], same, built).sections).toEqual(["allocations"]);
  expect(plan([...all, source("lacnic", "allocations", "delegated")], { ...same, lacnic: "a4" }, built).sections).toEqual(["allocations"]);
  expect(plan(all, same, null).sections).toEqual(["routes", "vrps", "allocations"]);
});

test("exceptions alone are no VRPs: nothing is built of them, now or at the next look", () => {
  const slurm = source("slurm", "vrps", "slurm");
  expect(plan([slurm], { slurm: "s1" }, {})).toEqual(nothing);
  expect(plan([{ ...vrps, required: false }, slurm], { vrps: null, slurm: "s1" }, built)).toEqual(nothing);
  expect(plan([vrps, slurm], { vrps: "v1", slurm: "s1" }, built).sections).toEqual(["vrps"]);
});

test("with routes go the VRPs, where there are any", () => {
  expect(plan(all, { ...same, rib: "r2" }, built).sections).toEqual(["routes", "vrps"]);
  expect(plan([rib], { rib: "r2" }, built).sections).toEqual(["routes"]);
  expect(plan(all, { ...same, rib: "r2", vrps: null }, built)).toEqual({ sections: ["routes"], waiting: { vrps: "vrps" } });
});

test("a required source without a version keeps back its section; an optional one does not", () => {
  expect(plan(all, { ...same, rib: null, ripe: null }, built)).toEqual({ sections: ["allocations"], waiting: { routes: "rib" } });
});

test("a section does not wait for a required source whose data were given up", () => {
  const rtr = source("rtr", "vrps", "rtr");
  const planned = (of: SourceConfig[], versions: Record<string, string | null>, entries: Entries) => {
    const { sections, waiting } = planOf(of, new Map(Object.entries(versions)), manifest(entries), new Set(), new Set(["rtr"]));
    return { sections, waiting: Object.fromEntries(waiting) };
  };
  const others: Entries = {
    ...built,
    vrps: [
      ["vrps", "rpki-client-json", "v1"],
      ["rtr", "rtr", ""],
    ],
  };
  expect(planned([vrps, rtr], { vrps: "v1", rtr: null }, others)).toEqual(nothing);
  expect(planned([vrps, rtr], { vrps: "v2", rtr: null }, others)).toEqual({ sections: ["vrps"], waiting: {} });
  expect(planned([rib, vrps, rtr], { rib: "r2", vrps: "v1", rtr: null }, others)).toEqual({ sections: ["routes", "vrps"], waiting: {} });
  expect(planned([rtr], { rtr: null }, { routes: [] })).toEqual(nothing);
});

test("an optional source that failed in the last run is not there, and is built when it comes", () => {
  const failed: Entries = {
    ...built,
    allocations: [
      ["ripe", "delegated", ""],
      ["arin", "delegated", "a2"],
    ],
  };
  expect(plan(all, { ...same, ripe: null }, failed)).toEqual(nothing);
  expect(plan(all, same, failed).sections).toEqual(["allocations"]);
});

test("a section none of whose sources has a version stays", () => {
  expect(plan(all, { ...same, ripe: null, arin: null }, built)).toEqual(nothing);
});
