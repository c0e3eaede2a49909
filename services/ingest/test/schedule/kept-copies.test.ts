/** Optional sources that are local files: the version that a run last used is kept beside them. */

import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { namesFile } from "../support/made-files.ts";
import { type Scheduled, scheduled } from "../support/scheduled.ts";

let world: Scheduled;
beforeEach(async () => {
  world = await scheduled();
});
afterEach(() => world.remove());

const hour = 3_600_000;
const broken = "<html>maintenance</html>\n";
const pathOf = (name: string) => join(world.folder, name);

function list(required: boolean): void {
  const line = (name: string) => `  - {name: ${name}, section: as_names, format: name-list, location: ${name}, required: ${required}}`;
  world.list([line("many"), line("few")].join("\n"));
}

/** The lists and their time, in hours before now: a file that is written again within a millisecond must not look the same. */
async function lookAt(files: { readonly many?: string; readonly few?: string }, hoursAgo: number): Promise<void> {
  const time = new Date(world.now() - hoursAgo * hour);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(pathOf(name), content);
    utimesSync(pathOf(name), time, time);
  }
  world.pass(2 * hour);
  await world.look();
}

const few = (name = "FEW") => `64500\t${name}\n64501\t${name}\n`;

async function entries(): Promise<Record<string, { accepted: number; error: string | null; as_of: string | null }>> {
  const { sources = [] } = (await world.manifest())?.sections.as_names ?? {};
  return Object.fromEntries(sources.map(({ name, accepted, error, as_of }) => [name, { accepted, error, as_of }]));
}

test("one that breaks keeps its data, also when another one of its section is new; it is told, and ends when the file is whole again", async () => {
  list(false);
  await lookAt({ many: namesFile(100), few: few() }, 5);
  const before = await entries();
  await lookAt({ many: namesFile(101), few: broken }, 4);
  expect(await entries()).toMatchObject({
    many: { accepted: 101, error: null },
    few: { ...before.few, error: "the newest version of this source could not be used in the last run; the previous version is in use" },
  });
  const { length } = world.runs;
  await world.look();
  await world.restart();
  await world.look();
  expect(world.runs).toHaveLength(length);
  await lookAt({ many: namesFile(102) }, 3);
  expect(await entries()).toMatchObject({ many: { accepted: 102 }, few: { accepted: 2 } });
  await lookAt({ few: few("NEW") }, 2);
  expect(await entries()).toMatchObject({ few: { accepted: 2, error: null } });
});

test("one whose file is away keeps its data", async () => {
  list(false);
  await lookAt({ many: namesFile(100), few: few() }, 5);
  rmSync(pathOf("few"));
  await lookAt({ many: namesFile(101) }, 4);
  expect(await entries()).toMatchObject({ many: { accepted: 101 }, few: { accepted: 2 } });
  const { length } = world.runs;
  await world.look();
  expect(world.runs).toHaveLength(length);
  await lookAt({ many: namesFile(102) }, 3);
  expect(await entries()).toMatchObject({ many: { accepted: 102 }, few: { accepted: 2 } });
});

test("a list of another path under the same name does not get the data of the one before", async () => {
  list(false);
  await lookAt({ many: namesFile(100), few: few() }, 5);
  mkdirSync(pathOf("moved"));
  writeFileSync(pathOf("moved/few"), broken);
  world.list(
    `  - {name: many, section: as_names, format: name-list, location: many, required: false}
  - {name: few, section: as_names, format: name-list, location: moved/few, required: false}`,
  );
  await lookAt({ many: namesFile(101) }, 4);
  expect(await entries()).toMatchObject({ many: { accepted: 101 }, few: { accepted: 0 } });
});

test("of a required one no copy is kept, as its section waits for it", async () => {
  list(true);
  await lookAt({ many: namesFile(100), few: few() }, 5);
  expect(existsSync(pathOf("downloads/few"))).toBe(false);
  await lookAt({ many: namesFile(101), few: broken }, 4);
  expect(await entries()).toMatchObject({ many: { accepted: 100 }, few: { accepted: 2 } });
});
