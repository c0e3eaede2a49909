/** The schedule of a section that an RTR source and an export fill, after the data of the session were given up. */

import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { fetchVrps, type RtrStock, readCacheList, writeVrpFile } from "../../src/rtr/index.ts";
import { ribFile, vrpFile } from "../support/made-files.ts";
import { type Scheduled, scheduled } from "../support/scheduled.ts";
import { startScriptedCache } from "../support/scripted-cache.ts";

const hour = 3_600_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const counted = async (world: Scheduled) =>
  Object.fromEntries(((await world.manifest())?.sections.vrps?.sources ?? []).map(({ name, accepted }) => [name, accepted]));

test("the other source goes on, also under a new leader", async () => {
  const cache = await startScriptedCache(["192.0.2.0/24-24 1"]);
  let stock: RtrStock | null = null;
  const inherited: [string, number][] = [];
  const world = await scheduled(undefined, undefined, {
    stock: () => stock,
    fault: () => null,
    checks: () => ({ checkedAt: null, succeededAt: null, failures: 0 }),
    follow: () => undefined,
    giveUpInherited: (name, asOf) => void inherited.push([name, asOf]),
  });
  stops.push(
    () => cache.stop(),
    () => world.remove(),
  );
  world.files.set("/rib", ribFile());
  world.files.set("/vrps", vrpFile());
  world.list(`
  - {name: rib, section: routes, format: mrt, location: "URL/rib", allow_private: true, stale_after: never}
  - {name: rpki, section: vrps, format: rtr, location: "${cache.url}", shrink_max: 100%}
  - {name: export, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true, interval: 1h, shrink_max: 100%}`);
  const path = join(world.folder, "session.rtr");
  const data = await fetchVrps({ caches: readCacheList(cache.url) ?? [], timeoutMs: 20_000 });
  stock = { kind: "file", path, sha256: await writeVrpFile(path, data), cache: cache.url, updatedAt: data.updatedAt };
  await world.look();
  expect(await counted(world)).toEqual({ rpki: 1, export: 10 });
  stock = { kind: "given-up", reason: "no cache has data" };
  await world.look();
  expect(await counted(world)).toEqual({ rpki: 0, export: 10 });
  const runs = world.runs.length;
  await world.look();
  expect(world.runs).toHaveLength(runs);

  world.files.set("/vrps", vrpFile(12, "2025-11-21T09:50:12Z"));
  world.pass(hour);
  await world.look();
  expect(await counted(world)).toEqual({ rpki: 0, export: 12 });

  stock = null;
  inherited.length = 0;
  await world.restart();
  await world.look();
  expect(inherited[0]).toEqual(["rpki", Math.floor(data.updatedAt / 1_000) * 1_000]);
});
