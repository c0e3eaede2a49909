/** The operator's overrides on their way from the store into the file of a run. */

import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "@jest/globals";
import { overrideFaults, type ProfileOverride, type ProfileRecord } from "@netfacts/storage";
import { until } from "../../../../test/support/http.ts";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { OverrideFile, overridesIn, overridesText } from "../../src/overrides/override-file.ts";
import { readOverridesCsv } from "../../src/readers/operator-csv.ts";
import { replaceText } from "../../src/replace-text.ts";
import { contentOf } from "../readers/content.ts";

const record = (asn: number, profile: ProfileOverride): ProfileRecord => ({
  asn,
  profile: { ...profile },
  source: "cli:x",
  updatedAt: asn,
});

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40 }),
  fc.constantFrom('Quote " and, comma', "#not a comment", "-", "- -", "Größe", "a".repeat(257), "Café", "a\u202eb"),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(fc.option(value, { nil: null }), { nil: undefined });
const override = fc.record({
  name: maybe(text),
  organisation: maybe(text),
  website: maybe(fc.oneof(fc.webUrl({ withQueryParameters: true }), text)),
  network_types: maybe(fc.uniqueArray(fc.oneof(fc.constantFrom("isp", "vpn"), text), { maxLength: 9 })),
});

test("whatever the store takes, a run reads as it was said", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(override, { minLength: 1, maxLength: 5 }), async (all) => {
      const taken = all.filter((one) => overrideFaults(one as ProfileOverride).length === 0);
      fc.pre(taken.length > 0);
      const records = taken.map((one, at) => record(at * 1_000_000_007, one as ProfileOverride));
      const { overrides, report } = await readOverridesCsv(contentOf(overridesText(records)));
      expect(report.skipped).toEqual([]);
      const readable = (said: string | null | undefined) =>
        said == null ? said : said.replace(/[\u202a-\u202e\u2066-\u2069]/g, "").replace(/\s+/g, " ");
      for (const { asn, profile } of records) {
        const { name, organisation, website, network_types } = profile as ProfileOverride;
        const found = overrides.get(asn);
        expect([found?.name, found?.organisation, found?.website]).toEqual([readable(name), readable(organisation), website]);
        const types = found?.networkType;
        expect(types && [types.type, ...(types.also ?? [])]).toEqual(network_types);
      }
    }),
    { seed: seed(65), numRuns: runs(500) },
  );
});

test("the file follows the store, says nothing while there is nothing, and stays while the store is away", async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), "netfacts-overrides-"));
  let records: ProfileRecord[] = [];
  let isAway = false;
  const errors: string[] = [];
  let changes = 0;
  const profiles = {
    async state() {
      if (isAway) throw new Error("away");
      return { count: records.length, version: JSON.stringify(records) };
    },
    list: async (limit: number, after = -1) => records.filter(({ asn }) => asn > after).slice(0, limit),
  };
  const open = () =>
    new OverrideFile({
      stateFolder,
      profiles,
      log: { error: (_fields, message) => void errors.push(message) },
      onChange: () => void changes++,
      lookMs: 10,
    });
  const content = () => readFile(overridesIn(stateFolder), "utf8").catch(() => null);
  const until = async (wanted: string | null, changesWanted: number) => {
    for (let tries = 0; tries < 500 && ((await content()) !== wanted || changes < changesWanted); tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await content()).toBe(wanted);
    expect(changes).toBe(changesWanted);
  };
  const end = new AbortController();
  try {
    const file = open();
    await file.follow(end.signal);
    expect([await content(), changes]).toEqual([null, 0]);
    // More than a page.
    records = Array.from({ length: 2_500 }, (_, asn) => record(asn, { name: `AS ${asn}` }));
    await until(overridesText(records), 1);
    isAway = true;
    records = [];
    for (let tries = 0; tries < 500 && errors.length === 0; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect((await content())?.length).toBeGreaterThan(10_000);
    isAway = false;
    await until("asn,name,organisation,website,network_type\n", 2);
    expect(errors).toHaveLength(1);
    end.abort();
    await file.ended();
    // Another process finds the same file, and nothing to do.
    const next = open();
    const second = new AbortController();
    await next.follow(second.signal);
    second.abort();
    await next.ended();
    expect(changes).toBe(2);
  } finally {
    end.abort();
    await rm(stateFolder, { recursive: true });
  }
});

test("a file that cannot be put in place is told with its path, and leaves nothing beside it", async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), "netfacts-overrides-"));
  const path = overridesIn(stateFolder);
  await mkdir(path);
  const errors: string[] = [];
  const file = new OverrideFile({
    stateFolder,
    profiles: {
      list: async () => [record(64_500, { name: "A" })],
      state: async () => ({ count: 1, version: "1" }),
    },
    log: { error: (fields, message) => errors.push(`${message}: ${(fields as { err: Error }).err.message}`) },
    onChange: () => undefined,
  });
  const ending = new AbortController();
  await file.follow(ending.signal);
  ending.abort();
  await file.ended();
  expect(errors).toEqual([
    expect.stringContaining(`could not be brought up to date; those of before remain in use: ${path} cannot be written: `),
  ]);
  expect(await readdir(stateFolder)).toEqual([basename(path)]);
  await rm(stateFolder, { recursive: true });
});

test("what could not be written is written as soon as it can be", async () => {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-overrides-"));
  const stateFolder = join(folder, "later");
  const ending = new AbortController();
  const { promise: changed, resolve: onChange } = Promise.withResolvers<void>();
  let errors = 0;
  const file = new OverrideFile({
    stateFolder,
    profiles: {
      list: async () => [record(64_500, { name: "A" })],
      state: async () => ({ count: 1, version: "1" }),
    },
    log: { error: () => errors++ },
    onChange,
    lookMs: 10,
    retryMs: 10,
  });
  await file.follow(ending.signal);
  expect(errors).toBe(1);
  await mkdir(stateFolder);
  await changed;
  expect(await readFile(overridesIn(stateFolder), "utf8")).toContain('64500,"A"');
  ending.abort();
  await file.ended();
  await rm(folder, { recursive: true });
});

test("a store that takes long is asked once at a time, and the end waits for one look", async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), "netfacts-overrides-"));
  const ending = new AbortController();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  let looks = 0;
  const file = new OverrideFile({
    stateFolder,
    profiles: {
      list: async () => [],
      async state() {
        if (++looks > 1) {
          isAsked();
          await held;
        }
        return { count: 0, version: "1" };
      },
    },
    log: { error: () => undefined },
    onChange: () => undefined,
    lookMs: 5,
  });
  await file.follow(ending.signal);
  await asked;
  // Time for many further looks.
  await new Promise((resolve) => setTimeout(resolve, 100));
  ending.abort();
  release();
  await file.ended();
  expect(looks).toBe(2);
  await rm(stateFolder, { recursive: true });
});

test("after a look that failed, the next one waits", async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), "netfacts-overrides-"));
  // Nothing can be put in its place.
  await mkdir(overridesIn(stateFolder));
  const ending = new AbortController();
  const lookedAt: number[] = [];
  const { promise: again, resolve } = Promise.withResolvers<void>();
  const file = new OverrideFile({
    stateFolder,
    profiles: {
      list: async () => [record(64_500, { name: "A" })],
      async state() {
        if (lookedAt.push(performance.now()) === 2) resolve();
        return { count: 1, version: "1" };
      },
    },
    log: { error: () => undefined },
    onChange: () => undefined,
    lookMs: 5,
    retryMs: 300,
  });
  await file.follow(ending.signal);
  await again;
  ending.abort();
  await file.ended();
  const [first = 0, second = 0] = lookedAt;
  expect(second - first).toBeGreaterThanOrEqual(300);
  await rm(stateFolder, { recursive: true });
});

test("a file that an earlier leader overwrites, because it was frozen, is brought up to date again", async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), "netfacts-overrides-"));
  const ending = new AbortController();
  let changes = 0;
  const file = new OverrideFile({
    stateFolder,
    profiles: {
      list: async (_limit, after) => (after === undefined ? [record(1, { name: "new" })] : []),
      state: async () => ({ count: 1, version: "2" }),
    },
    log: { error: () => undefined },
    onChange: () => changes++,
    lookMs: 1,
  });
  try {
    await file.follow(ending.signal);
    expect(changes).toBe(1);
    await replaceText(overridesIn(stateFolder), overridesText([record(1, { name: "old" })]));
    await until(async () => changes === 2);
    expect(await readFile(overridesIn(stateFolder), "utf8")).toContain("new");
  } finally {
    ending.abort();
    await file.ended();
    await rm(stateFolder, { recursive: true });
  }
});
