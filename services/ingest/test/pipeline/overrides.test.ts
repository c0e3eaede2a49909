/** The operator's overrides in a run: behind everything that the list has, and gone without a trace. */

import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Generation, loadSnapshot } from "@netfacts/snapshot";
import type { ProfileOverride } from "@netfacts/storage";
import { readSources, runIngest } from "../../src/app.ts";
import { overridesText } from "../../src/overrides/override-file.ts";
import { atWork, delegatedFile, namesFile, type Workplace } from "../support/made-files.ts";

const list = "sources:\n  - {name: a, section: allocations, format: delegated, location: a}\n";
const names = `${list}  - {name: names, section: as_names, format: name-list, location: names}\n`;

/** What is known of AS 1 after a run with these overrides. */
async function known(place: Workplace, yaml: string, overrides: Readonly<Record<number, ProfileOverride>> | null) {
  await place.write("a", delegatedFile());
  await place.write("names", namesFile());
  const { file } = await place.sources(yaml);
  const records = Object.entries(overrides ?? {}).map(([asn, profile]) => ({
    asn: Number(asn),
    profile: { ...profile },
    source: "",
    updatedAt: 1,
  }));
  if (overrides !== null) await place.write("overrides", overridesText(records));
  const config = await readSources(file, { overrides: join(place.folder, "overrides") });
  const { sections } = await runIngest({ config, store: place.store });
  expect(sections.map(({ refused }) => refused).filter((refused) => refused !== null)).toEqual([]);
  const generation = Generation.of(
    await loadSnapshot(place.store, await place.store.getManifest((await place.store.currentId()) as string)),
  );
  const profile = generation.profiles?.lookupProfile(1) ?? null;
  return [generation.names?.lookupName(1) ?? null, profile?.organisation ?? null, profile?.networkType?.type ?? null];
}

test("an override counts before every source, and a deleted one no longer", async () => {
  await atWork(async (place) => {
    expect(await known(place, names, null)).toEqual(["NAME-1", null, null]);
    expect(await known(place, names, { 1: { name: "One, Ltd", network_types: ["isp"] } })).toEqual(["One, Ltd", null, "isp"]);
    expect(await known(place, names, { 1: { organisation: "Org" }, 2: { name: "TWO" } })).toEqual(["NAME-1", "Org", null]);
    expect(await known(place, names, {})).toEqual(["NAME-1", null, null]);
  });
});

test("overrides need no other source of names or profiles, and the last one can be deleted", async () => {
  await atWork(async (place) => {
    expect(await known(place, list, { 1: { name: "ONE", organisation: "Org" } })).toEqual(["ONE", "Org", null]);
    expect(await known(place, list, { 1: { organisation: "Org" } })).toEqual([null, "Org", null]);
    expect(await known(place, list, {})).toEqual([null, null, null]);
  });
});

test("a list of overrides may end with its first line alone, in both sections that it serves", async () => {
  await atWork(async (place) => {
    const corrected = (section: string) => `  - {name: o_${section}, section: ${section}, format: overrides-csv, location: own}\n`;
    const yaml = `${names}${corrected("as_names")}${corrected("profiles")}`;
    await place.write("own", "asn,name,organisation\n1,ONE,Org\n");
    expect(await known(place, yaml, null)).toEqual(["ONE", "Org", null]);
    await place.write("own", "asn,name,organisation\n");
    expect(await known(place, yaml, null)).toEqual(["NAME-1", null, null]);
  });
});

test("a run beside others reads nothing of the sections that it keeps", async () => {
  await atWork(async (place) => {
    await known(place, names, { 1: { name: "ONE" } });
    await place.write("overrides", overridesText([{ asn: 1, profile: { name: "TWO" }, source: "", updatedAt: 2 }]));
    const config = await readSources(join(place.folder, "sources.yaml"), { overrides: join(place.folder, "overrides") });
    const sources = config.sources.filter(({ section }) => section !== "allocations");
    const read = async (isBeside: boolean) => {
      const objects: string[] = [];
      const getObject = (digest: string, bytes: number) => {
        objects.push(digest);
        return place.store.getObject(digest, bytes);
      };
      const { snapshot } = await runIngest({ config: { ...config, sources }, store: { ...place.store, getObject }, isBeside });
      const { sections } = await place.store.getManifest(snapshot as string);
      return Object.entries(sections).flatMap(([name, { object }]) => (objects.includes(object) ? [name] : []));
    };
    expect((await read(true)).sort()).toEqual(["as_names", "profiles"]);
    expect((await read(false)).sort()).toEqual(["allocations", "as_names", "profiles"]);
  });
});
