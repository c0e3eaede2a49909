/** Locations in a run: from geofeeds in `sources.yaml` to a lookup. */

import { expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { Generation, loadSnapshot, type SnapshotStore } from "@netfacts/snapshot";
import { IngestError, runIngest } from "../../src/app.ts";
import { atWork, type Workplace } from "../support/made-files.ts";

async function generationOf(store: SnapshotStore): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) as string)));
}

const run = async ({ sources, store }: Workplace, ...lines: string[]) =>
  runIngest({ config: await sources(`sources:\n${lines.map((line) => `  - {${line}}\n`).join("")}`), store });

const feed = (name: string, more = "") => `name: ${name}, section: locations, format: geofeed, location: ${name}${more}`;

async function placesOf({ store }: Workplace, ...texts: string[]): Promise<unknown[]> {
  const { locations } = await generationOf(store);
  return texts.map((text) => {
    const address = parseAddress(text);
    const place = address === null ? null : (locations?.lookupPlace(address) ?? null);
    return place && [place.country, place.region, place.city];
  });
}

test("locations are found by the most specific prefix, and the section has the time in the file", async () => {
  await atWork(async (place) => {
    await place.write(
      "one",
      "# last updated: 2025-11-20T00:00:01Z\n11.0.0.0/8,NL,NL-NH,Amsterdam,\n11.1.0.0/16,,,,\n2001:db8::/32,JP,,,\n",
    );
    const { sections, sources } = await run(place, feed("one"));
    expect(sections).toMatchObject([{ name: "locations", counts: { ipv4: 2, ipv6: 1 }, checked: 3 }]);
    expect(sources).toMatchObject([{ read: 3, accepted: 3 }]);
    expect(await placesOf(place, "11.2.3.4", "11.1.2.3", "12.0.0.1", "2001:db8::1")).toEqual([
      ["NL", "NL-NH", "Amsterdam"],
      null,
      null,
      ["JP", null, null],
    ]);
    const { manifest } = await generationOf(place.store);
    expect(manifest.sections.locations).toMatchObject({
      version: "20251120T000001Z",
      as_of: "2025-11-20T00:00:01Z",
      counts: { ipv4: 2, ipv6: 1 },
      sources: [{ name: "one", format: "geofeed", accepted: 3, skipped: 0, error: null }],
    });
  });
});

test("of two geofeeds the later one counts for a prefix that both have", async () => {
  await atWork(async (place) => {
    await place.write("one", "11.0.0.0/24,NL,,,\n11.0.1.0/24,NL,,,\n");
    await place.write("two", "11.0.0.0/24,DE,,,\n11.0.1.0/25,,,,\n");
    const asked = ["11.0.0.1", "11.0.1.1", "11.0.1.200"];
    await run(place, feed("one"), feed("two"));
    expect(await placesOf(place, ...asked)).toEqual([["DE", null, null], null, ["NL", null, null]]);
    await run(place, feed("two"), feed("one"));
    expect(await placesOf(place, ...asked)).toEqual([["NL", null, null], null, ["NL", null, null]]);
  });
});

test("a feed that lost more than its share is refused, and the last good one stays", async () => {
  await atWork(async (place) => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => `11.0.${at}.0/24,NL,,,\n`).join("");
    await place.write("one", rows(200));
    await run(place, feed("one"));
    await place.write("one", rows(150));
    await expect(run(place, feed("one"))).rejects.toThrow(
      "has 150 records, compared with 200 in the last good version: it shrank by more than shrink_max (0.2) allows",
    );
    expect(await placesOf(place, "11.0.199.1")).toEqual([["NL", null, null]]);
    await run(place, feed("one", ", shrink_max: 30%"));
    expect(await placesOf(place, "11.0.199.1", "11.0.149.1")).toEqual([null, ["NL", null, null]]);
  });
});

test("a bad feed that is not required leaves the others as they are", async () => {
  await atWork(async (place) => {
    await place.write("one", "11.0.0.0/24,NL,,,\n");
    await place.write("two", "0.0.0.0/0,DE,,,\n");
    const { sections } = await run(place, feed("one"), feed("two", ", required: false"));
    expect(sections).toMatchObject([{ name: "locations", counts: { ipv4: 1, ipv6: 0 } }]);
    expect(await placesOf(place, "11.0.0.1", "8.8.8.8")).toEqual([["NL", null, null], null]);
  });
});

test("a feed with a line in another country than its region says which line", async () => {
  await atWork(async (place) => {
    await place.write("one", "11.0.0.0/24,NL,NL-NH,Amsterdam,\n11.0.1.0/24,NL,DE-BE,Berlin,\n");
    const error = await run(place, feed("one")).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IngestError);
    expect((error as IngestError).message).toMatch(
      /one:2: 1 of 2 geofeed entries \(50\.00 %\) are invalid; .*the region is not in the country/,
    );
  });
});

test("a geofeed may be as long as a table of routes", async () => {
  await atWork(async (place) => {
    const rows = Array.from(
      { length: 200_000 },
      (_, at) => `${11 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.0/24,NL,NL-NH,City ${at % 1000},\n`,
    );
    await place.write("one", rows.join(""));
    const { sections } = await run(place, feed("one"));
    expect(sections).toMatchObject([{ name: "locations", counts: { ipv4: 200_000, ipv6: 0 } }]);
  });
});
