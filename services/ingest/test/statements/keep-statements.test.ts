/** What sources say of ASes, from a run into the store: which rows are written, and what is shown of them. */

import { existsSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Generation, loadSnapshot, type SectionName } from "@netfacts/snapshot";
import {
  type MergedProfile,
  mergedProfile,
  openSqliteStore,
  ProfileOverrides,
  type Store,
  StoreError,
  searchMerged,
} from "@netfacts/storage";
import { readSources, runIngest } from "../../src/app.ts";
import { overridesText } from "../../src/overrides/override-file.ts";
import { keepStatements, StatementKeeper } from "../../src/statements/keep-statements.ts";
import { StatementFiles } from "../../src/statements/statement-files.ts";
import { atWork, namesFile, type Workplace } from "../support/made-files.ts";

const twoRegistries = [
  "sources:",
  "  - {name: a, section: allocations, format: delegated, location: a}",
  "  - {name: b, section: allocations, format: delegated, location: b}",
  "",
].join("\n");

const list = [
  "sources:",
  "  - {name: a, section: allocations, format: delegated, location: a}",
  "  - {name: names, section: as_names, format: name-list, location: names}",
  "  - {name: corrections, section: as_names, format: overrides-csv, location: corrections}",
  "  - {name: nets, section: profiles, format: peeringdb-net, location: nets}",
  "  - {name: orgs, section: profiles, format: peeringdb-org, location: orgs}",
  "  - {name: own, section: profiles, format: overrides-csv, location: corrections}",
  "",
].join("\n");

/** `blocks`: first AS number, count, date, status. */
function registryFile(registry: string, blocks: readonly string[], day = "20251120"): string {
  const lines = blocks.map((block) => {
    const [first, count, date = "", status] = block.split("|");
    return `${registry}|${status === "reserved" ? "" : "NL"}|asn|${first}|${count}|${date}|${status}`;
  });
  const records = lines.length;
  return [`2|${registry}|${day}|${records}|19830101|${day}|+0100`, `${registry}|*|asn|*|${records}|summary`, ...lines, ""].join("\n");
}

const net = (asn: number, members: object) => ({ id: asn, asn, name: `NET ${asn}`, status: "ok", org_id: 1, ...members });
const nets = (data: readonly object[]) => JSON.stringify({ data, meta: {} });
const orgs = nets([
  { id: 1, name: "Org One", website: "https://one.example/", country: "NL", status: "ok" },
  { id: 2, name: "Org Two", website: "", country: "DE", status: "ok" },
]);

let store: Store;
beforeEach(async () => {
  store = await openSqliteStore(":memory:");
});
afterEach(() => store.close());

async function lay(place: Workplace, files: Readonly<Record<string, string>> = {}): Promise<void> {
  const made = {
    a: registryFile("ripencc", ["1|1|20200101|assigned", "2|2|20210203|allocated", "10|3||reserved"]),
    names: namesFile(),
    corrections: 'asn,name,organisation\n1,"One, Ltd",\n2,-,Mine\n',
    nets: nets([net(1, { info_types: ["NSP", "Content"] }), net(2, { website: "https://two.example/" }), net(3, { org_id: 2 })]),
    orgs,
    ...files,
  };
  for (const [name, content] of Object.entries(made)) await place.write(name, content);
}

async function run(place: Workplace, yaml = list, acceptShrink: readonly SectionName[] = []) {
  const { file } = await place.sources(yaml);
  const config = await readSources(file, { overrides: join(place.folder, "overrides") });
  return runIngest({ config, acceptShrink, store: place.store, statements: new StatementFiles(folderOf(place)) });
}

const folderOf = (place: Workplace): string => join(place.folder, "statements");
const optionsOf = (place: Workplace) => ({ folder: folderOf(place), statements: store.statements, snapshots: place.store });
const keep = (place: Workplace) => keepStatements(optionsOf(place));
const shown = (profile: MergedProfile | null) =>
  Object.fromEntries(
    (profile?.fields ?? []).map(({ field, value, source, others }) => [field, [value, source, ...others.map((other) => other.value)]]),
  );
const of = async (asn: number) => shown(await mergedProfile(store, asn));

describe("after a run", () => {
  test("each field has its source, and what other sources say of it", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      expect(await keep(place)).toBeGreaterThan(3);
      expect(await of(1)).toMatchObject({
        name: ["One, Ltd", "corrections", "NAME-1"],
        organisation: ["Org One", "orgs"],
        organisation_country: ["NL", "orgs"],
        website: ["https://one.example/", "orgs"],
        network_types: [expect.stringMatching(/^\w+ \w+$/), "nets"],
        registry: ["ripencc", "a"],
      });
      expect(await of(2)).toMatchObject({
        name: [null, "corrections", "NAME-2"],
        organisation: ["Mine", "own", "Org One"],
        organisation_country: [null, "own", "NL"],
        website: ["https://two.example/", "nets", "https://one.example/"],
      });
      const { fields = [] } = (await mergedProfile(store, 1)) ?? {};
      expect(fields.find(({ field }) => field === "registry")?.asOf).toMatch(/^20\d\d-\d\d-\d\dT/);
    });
  });

  test("of two registries the one that holds comes first, and a number that nobody holds is not listed", async () => {
    await atWork(async (place) => {
      await lay(place, { b: registryFile("arin", ["2|1|20220101|allocated", "11|1||reserved"], "20251122") });
      await run(place, twoRegistries);
      await keep(place);
      expect((await searchMerged(store, { limit: 10 })).profiles.map(({ asn }) => asn)).toEqual([1, 2, 3]);
      expect(await of(2)).toEqual({
        registry: ["arin", "b", "ripencc"],
        registration_country: ["NL", "b", "NL"],
        status: ["allocated", "b", "allocated"],
        allocated_on: ["2022-01-01", "b", "2021-02-03"],
      });
      expect(await of(1)).toMatchObject({ registry: ["ripencc", "a"], allocated_on: ["2020-01-01", "a"] });
    });
  });

  test("the fields of every AS are those of the snapshot", async () => {
    await atWork(async (place) => {
      await lay(place);
      const { snapshot } = await run(place);
      await keep(place);
      const generation = Generation.of(await loadSnapshot(place.store, await place.store.getManifest(snapshot as string)));
      const { profiles } = await searchMerged(store, { limit: 1_000 });
      expect(profiles.length).toBeGreaterThan(3);
      for (const { asn, fields } of profiles) {
        const value = (name: string) => fields.find(({ field }) => field === name)?.value ?? null;
        const profile = generation.profiles?.lookupProfile(asn) ?? null;
        const types = profile?.networkType == null ? null : [profile.networkType.type, ...(profile.networkType.also ?? [])].join(" ");
        expect([asn, ...["name", "organisation", "website", "organisation_country", "network_types"].map(value)]).toEqual([
          asn,
          generation.names?.lookupName(asn) ?? null,
          profile?.organisation ?? null,
          profile?.website ?? null,
          profile?.country ?? null,
          types,
        ]);
      }
    });
  });

  test("only rows that differ are written, and none where the sources are the same", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      await keep(place);
      expect(await keep(place)).toBe(0);
      await run(place);
      expect(await keep(place)).toBe(0);
      const before = await of(1);
      await lay(place, { corrections: "asn,name,organisation\n1,One,\n2,-,Mine\n" });
      await run(place);
      expect(await keep(place)).toBe(1);
      expect(await of(1)).toEqual({ ...before, name: ["One", "corrections", "NAME-1"] });
    });
  });

  test("what a source says no longer is gone", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      await keep(place);
      await lay(place, { nets: nets([net(1, {})]), corrections: "asn,name,organisation\n1,One,\n" });
      await run(place, list, ["profiles", "as_names"]);
      await keep(place);
      expect(await of(2)).not.toHaveProperty("organisation");
      expect(await of(2)).toMatchObject({ name: ["NAME-2", "names"] });
      expect(await of(3)).not.toHaveProperty("organisation");
    });
  });
});

describe("overrides", () => {
  test("count before every source at once, and make no row", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      await keep(place);
      const overrides = new ProfileOverrides(store, () => Date.UTC(2026, 10, 24));
      const record = await overrides.put({ actor: "cli:root", address: "cli", keyId: null }, 1, { name: null, network_types: ["ix"] });
      const fields = (await mergedProfile(store, 1))?.fields ?? [];
      expect(fields.find(({ field }) => field === "name")).toMatchObject({
        value: null,
        source: "override",
        asOf: "2026-11-24T00:00:00.000Z",
        others: [
          { value: "One, Ltd", source: "corrections" },
          { value: "NAME-1", source: "names" },
        ],
      });
      await place.write("overrides", overridesText([record]));
      await run(place);
      expect(await keep(place)).toBe(0);
      expect(await of(1)).toMatchObject({
        name: [null, "override", "One, Ltd", "NAME-1"],
        network_types: ["ix", "override", expect.any(String)],
      });
      expect((await searchMerged(store, { limit: 10, source: "override" })).profiles.map(({ asn }) => asn)).toEqual([1]);
    });
  });
});

describe("two processes with folders of their own", () => {
  /** Runs as the other process, after the first one has left its files. */
  async function other(place: Workplace): Promise<string> {
    const folder = join(place.folder, "others");
    await lay(place, { names: namesFile().replaceAll("NAME", "NEWER") });
    const { file } = await place.sources(list);
    await runIngest({ config: await readSources(file), store: place.store, statements: new StatementFiles(folder) });
    return folder;
  }

  test("rows that a frozen leader writes after another one took over are replaced by the next call of that one", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      const ending = new AbortController();
      let newer = "";
      let frozen = true;
      const write: typeof store.statements.write = async (section, rows) => {
        if (frozen && section === "as_names") {
          frozen = false;
          newer = await other(place);
          await keepStatements({ ...optionsOf(place), folder: newer });
          // The write may be on its way before the process learns that its term is over.
          setImmediate(() => ending.abort());
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        await store.statements.write(section, rows);
      };
      const late = keepStatements({ ...optionsOf(place), statements: { ...store.statements, write }, signal: ending.signal });
      await expect(late).rejects.toThrow("aborted");
      await keepStatements({ ...optionsOf(place), folder: newer });
      for (const asn of [1, 2, 3]) expect(await of(asn)).toMatchObject({ name: expect.arrayContaining([`NEWER-${asn}`]) });
      expect(await keepStatements({ ...optionsOf(place), folder: newer })).toBe(0);
    });
  });

  test("the older statements of a process that leads again do not replace those of the current snapshot", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      await keep(place);
      const newer = await other(place);
      expect(await keepStatements({ ...optionsOf(place), folder: newer })).toBeGreaterThan(0);
      expect(await keep(place)).toBe(0);
      expect(await of(3)).toMatchObject({ name: ["NEWER-3", "names"] });
    });
  });
});

describe("faults", () => {
  test("a store that is away ends no run, and is caught up with by the next call", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      let isAway = true;
      const { statements } = store;
      const away = async (): Promise<never> => {
        throw new StoreError("unavailable", "store", "is away");
      };
      const flaky = {
        ...statements,
        write: (...args: Parameters<typeof statements.write>) => (isAway ? away() : statements.write(...args)),
      };
      const told: string[] = [];
      const log = { info: (_: object, text: string) => void told.push(text), warn: (_: object, text: string) => void told.push(text) };
      const keeper = new StatementKeeper({ ...optionsOf(place), statements: flaky, log });
      keeper.keep();
      while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(told).toEqual([expect.stringContaining("could not be brought up to date")]);
      expect(await of(1)).toEqual({});
      isAway = false;
      keeper.keep();
      while (told.length === 1) await new Promise((resolve) => setTimeout(resolve, 5));
      await keeper.stop();
      expect(await of(1)).toHaveProperty("name");
    });
  });

  test("a file that a power cut left empty holds up its own section only, and the next run that builds it replaces it", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      truncateSync(join(folderOf(place), "allocations.json"));
      await keep(place);
      expect(await of(1)).toMatchObject({ name: expect.anything(), network_types: expect.anything() });
      expect(await of(1)).not.toHaveProperty("registry");
      await run(place);
      await keep(place);
      expect(await of(1)).toHaveProperty("registry");
    });
  });

  test("a run that publishes nothing leaves the rows of the last one", async () => {
    await atWork(async (place) => {
      await lay(place);
      await run(place);
      await keep(place);
      const files = readdirSync(folderOf(place)).sort();
      await lay(place, { a: "no registry's file", corrections: "asn,name\n1,Broken\n" });
      await expect(run(place)).rejects.toThrow();
      expect(await keep(place)).toBe(0);
      await lay(place, { names: namesFile(11) });
      const publish = () => Promise.reject(new Error("ENOSPC: no space left on device, write"));
      await expect(run({ ...place, store: { ...place.store, publish } })).rejects.toThrow("ENOSPC");
      expect(readdirSync(folderOf(place)).sort()).toEqual(files);
      await lay(place);
      await run(place);
      expect(readdirSync(folderOf(place)).sort()).toEqual(files);
    });
  });

  test("rows that have no room on the disk are a fault, and leave it free for the run", async () => {
    await atWork(async ({ folder }) => {
      const files = new StatementFiles(folder);
      const before = readdirSync(folder);
      const filledUp = function* () {
        for (let asn = 1; asn < 10_000; asn++) yield { asn, statements: [] };
        throw new Error("ENOSPC: no space left on device, write");
      };
      files.write("profiles", [], filledUp);
      expect([...files.faults]).toEqual([["profiles", expect.stringContaining("ENOSPC: no space left")]]);
      expect(readdirSync(folder)).toEqual(before);
    });
  });

  test("a folder that cannot be written is a note of the run, which publishes", async () => {
    await atWork(async (place) => {
      await lay(place);
      await place.write("statements", "a file, not a folder");
      const { snapshot, sections } = await run(place);
      expect(snapshot).not.toBeNull();
      expect(sections.flatMap(({ notes = [] }) => notes)).toEqual(
        Array.from({ length: 3 }, () => expect.stringContaining("the profiles that operators list stay as they were")),
      );
      expect(existsSync(folderOf(place))).toBe(true);
    });
  });
});
