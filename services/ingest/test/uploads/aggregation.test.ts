/**
 * From uploads to the section `locations`: what is stored is aggregated beside the sources of the list, and what is deleted is gone from it.
 *
 * @large It makes whole runs, each in a thread.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { Generation, loadSnapshot } from "@netfacts/snapshot";
import { smallSources } from "../../../../test/support/small-sources.ts";
import { type ServiceHarness, startService } from "../support/service.ts";
import { observation, observationsPath, send, until } from "../support/uploading.ts";

let folder: string;
let service: ServiceHarness;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-aggregation-"));
});
afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** @param more  further lines of the list. */
async function start(more = ""): Promise<void> {
  const sources = smallSources(folder, "NL");
  if (more !== "") {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "feed.csv"), "203.0.113.0/24,DE,,,\n");
    writeFileSync(
      sources,
      `sources:\n  - {name: ripencc, section: allocations, format: delegated, location: ripencc.txt, stale_after: never}\n${more}`,
    );
  }
  service = await startService({ sources, scheduled: true });
}

async function placeOf(ip: string): Promise<readonly [country: string | null, city: string | null, observations: number] | null> {
  const id = await service.snapshots.currentId();
  if (id === null) return null;
  const { locations } = Generation.of(await loadSnapshot(service.snapshots, await service.snapshots.getManifest(id)));
  const address = parseAddress(ip);
  const found = address === null ? null : (locations?.lookupLocation(address) ?? null);
  return found && [found.country, found.city, found.observed?.observations ?? 0];
}

async function manifest() {
  const id = await service.snapshots.currentId();
  return id === null ? null : service.snapshots.getManifest(id);
}

test("what is uploaded is in the section within one aggregation, and what is deleted is gone, down to the section itself", async () => {
  // Deletions go before it.
  await start("section_shrink_max: {locations: 10%}\n");
  const lines = Array.from({ length: 200 }, (_, at) => observation(`192.0.2.${at}`)).join("\n");
  await send(service, lines, { upload: "a", source: "one" });
  const japan = [1, 2, 3].map((day) =>
    observation("192.0.2.7", { lat: 35.6, lon: 139.7, country: "JP", observed_at: `2026-11-1${day}T00:00:00Z` }),
  );
  await send(service, japan.join("\n"), { upload: "b", source: "two" });
  expect(
    await until(
      () => placeOf("192.0.2.7"),
      (place) => place?.[0] === "JP",
    ),
  ).toEqual(["JP", null, 3]);
  expect(await placeOf("192.0.2.8")).toEqual(["NL", null, 1]);
  expect((await manifest())?.sections.locations?.sources).toMatchObject([{ name: "stored observations", accepted: 203, skipped: 0 }]);

  // Nearly all of it: the bound on what a section may lose does not keep it.
  await service.ask("DELETE", `${observationsPath}?source=one`);
  await until(
    () => placeOf("192.0.2.8"),
    (place) => place === null,
  );
  expect(await placeOf("192.0.2.7")).toEqual(["JP", null, 3]);
  await service.ask("DELETE", `${observationsPath}?address=192.0.2.7`);
  await until(manifest, (found) => found?.sections.locations === undefined);
  expect((await manifest())?.removed_sections).toEqual(["locations"]);
  // Nothing is left to run for.
  const runs = async () => (await service.store.runs.list(100)).map(({ id }) => id);
  const before = await runs();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await runs()).toEqual(before);
});

test("an uploaded geofeed replaces the one before of its source, as soon as it is complete, and goes before those of the list", async () => {
  await start("  - {name: feed, section: locations, format: geofeed, location: feed.csv, stale_after: never}\n");
  const type = "application/geofeed+csv";
  await until(
    () => placeOf("203.0.113.1"),
    (place) => place?.[0] === "DE",
  );
  await send(service, "203.0.113.0/25,NL,,Delft,\n198.51.100.0/24,NL,,Leiden,\n", { upload: "f1", source: "isp", type });
  await until(
    () => placeOf("203.0.113.1"),
    (place) => place?.[1] === "Delft",
  );
  expect(await placeOf("203.0.113.200")).toEqual(["DE", null, 0]);
  await send(service, "203.0.113.0/25,NL,,Gouda,\n", { upload: "f2", source: "isp", type, part: true });
  await send(service, observation("192.0.2.1"), { upload: "mark" });
  await until(
    () => placeOf("192.0.2.1"),
    (place) => place !== null,
  );
  expect((await placeOf("203.0.113.1"))?.[1]).toBe("Delft");
  const { offset } = (await service.ask("GET", `${observationsPath}/uploads/f2`)).json;
  await send(service, "203.0.113.0/26,NL,,Gouda,\n", { upload: "f2", source: "isp", type, offset });
  await until(
    () => placeOf("203.0.113.1"),
    (place) => place?.[1] === "Gouda",
  );
  expect(await placeOf("198.51.100.1")).toBeNull();
  // A city alone is a place, as it is in a listed geofeed.
  await send(service, "198.51.100.0/24,,,Leiden,\n", { upload: "city", source: "city", type });
  await until(
    () => placeOf("198.51.100.1"),
    (place) => place?.[1] === "Leiden",
  );
  await service.ask("DELETE", `${observationsPath}?source=city`);
  // Without it the list's own counts again.
  await service.ask("DELETE", `${observationsPath}?source=isp`);
  await service.ask("DELETE", `${observationsPath}?source=mark`);
  await until(
    () => placeOf("203.0.113.1"),
    (place) => place?.[0] === "DE",
  );
  expect((await manifest())?.sections.locations?.sources.map(({ name }) => name)).toEqual(["feed"]);
});
