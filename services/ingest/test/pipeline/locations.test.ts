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
    const place = address === null ? null : (locations?.lookupLocation(address) ?? null);
    return place && [place.country, place.region, place.city];
  });
}

const observed = (ip: string, country: string, hour: string, more = "") =>
  `{"ip":"${ip}","country":"${country}",${more}"observed_at":"2025-11-20T${hour}:00:00Z"}\n`;

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

test("a feed whose prefixes have no location any more is refused, and the last good one stays", async () => {
  await atWork(async (place) => {
    const rows = (country: string) => Array.from({ length: 60 }, (_, at) => `11.0.${at}.0/24,${country},,,\n`).join("");
    await place.write("one", rows("NL"));
    await run(place, feed("one"));
    await place.write("one", rows(""));
    await expect(run(place, feed("one"))).rejects.toThrow(
      "has 0 prefixes with a location, compared with 60 in the last good version: 60 are missing, more than kind_shrink_max (0.2) allows",
    );
    expect(await placesOf(place, "11.0.59.1")).toEqual([["NL", null, null]]);
  });
});

test.each(["observations", "observations-csv"])(
  "%s that are repeated do not count for what the next file may lose, and lost votes do",
  async (format) => {
    await atWork(async (place) => {
      const line = (at: number) =>
        format === "observations" ? observed(`11.0.0.${at}`, "NL", "10") : `11.0.0.${at},NL,2025-11-20T10:00:00Z\n`;
      const rows = (count: number) => Array.from({ length: count }, (_, at) => line(at)).join("");
      const head = format === "observations" ? "" : "ip,country,observed_at\n";
      const source = `name: seen, section: locations, format: ${format}, location: seen`;
      const read = async (text: string) => {
        await place.write("seen", head + text);
        return (await run(place, source)).sources;
      };
      expect(await read(rows(200).repeat(3))).toMatchObject([{ read: 600, accepted: 600 }]);
      expect(await read(rows(200))).toMatchObject([{ read: 200, accepted: 200 }]);
      await expect(read(rows(140))).rejects.toThrow(
        "has 140 votes, compared with 200 in the last good version: 60 are missing, more than kind_shrink_max (0.2) allows",
      );
    });
  },
);

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

test("observations become the location of their address, and the section is as of the newest of its oldest source", async () => {
  await atWork(async (place) => {
    const more = '"lat":52.37,"lon":4.9,"accuracy_km":10,"city":"Amsterdam",';
    await place.write(
      "seen",
      observed("11.0.0.1", "NL", "10", more) + observed("11.0.0.1", "NL", "12", more) + observed("2001:db8::1", "DE", "11"),
    );
    const { sections, sources } = await run(place, "name: seen, section: locations, format: observations, location: seen");
    expect(sections).toMatchObject([{ name: "locations", counts: { ipv4: 1, ipv6: 1, observed: 2 }, checked: 2 }]);
    expect(sources).toMatchObject([{ read: 3, accepted: 3 }]);
    const { locations, manifest } = await generationOf(place.store);
    expect([...(locations?.records() ?? [])].map(({ observed: found }) => found)).toEqual([
      {
        latitude: 52.37,
        longitude: 4.9,
        radiusKm: 10,
        confidence: 0.87,
        observations: 1,
        lastObservedAt: Date.parse("2025-11-20T12:00:00Z") / 1000,
        outliers: { observations: 0, places: [] },
      },
      expect.objectContaining({ latitude: null, radiusKm: null, observations: 1 }),
    ]);
    expect(manifest.sections.locations).toMatchObject({
      as_of: "2025-11-20T12:00:00Z",
      sources: [{ format: "observations", accepted: 3 }],
    });
  });
});

test("an observation counts before a geofeed, or after it where locations_first says so", async () => {
  await atWork(async (place) => {
    await place.write("one", "11.0.0.0/24,NL,,,\n11.0.1.0/24,,,,\n");
    await place.write("seen", observed("11.0.0.1", "DE", "10") + observed("11.0.1.1", "DE", "10") + observed("12.0.0.1", "FR", "10"));
    const lines = [feed("one"), "name: seen, section: locations, format: observations, location: seen"];
    const asked = ["11.0.0.1", "11.0.0.2", "11.0.1.1", "11.0.1.2", "12.0.0.1"];
    await run(place, ...lines);
    const [nl, de, fr] = ["NL", "DE", "FR"].map((country) => [country, null, null]);
    expect(await placesOf(place, ...asked)).toEqual([de, nl, de, null, fr]);
    const config = await place.sources(`locations_first: geofeed\nsources:\n${lines.map((line) => `  - {${line}}\n`).join("")}`);
    await runIngest({ config, store: place.store, acceptShrink: ["locations"] });
    expect(await placesOf(place, ...asked)).toEqual([nl, nl, de, null, fr]);
  });
});

test("an observation of the future is a bad line, and does not make the others old", async () => {
  await atWork(async (place) => {
    const many = Array.from({ length: 200 }, (_, at) => observed(`11.0.0.${at}`, "NL", "10")).join("");
    await place.write("seen", `${many}{"ip":"11.0.0.1","country":"DE","observed_at":"2999-01-01T00:00:00Z"}\n`);
    const { sources } = await run(place, "name: seen, section: locations, format: observations, location: seen");
    expect(sources).toMatchObject([
      { read: 201, accepted: 200, skipped: [{ reason: "observed_at is in the future", examples: [{ line: 201 }] }] },
    ]);
    expect(await placesOf(place, "11.0.0.1", "11.0.0.199")).toEqual([
      ["NL", null, null],
      ["NL", null, null],
    ]);
  });
});

test("a source speaks of the prefixes that it covers alone, whatever else it lists", async () => {
  await atWork(async (place) => {
    await place.write("one", "11.0.0.0/24,NL,,,\n");
    await place.write("two", "11.0.0.0/24,DE,,,\n11.0.0.0/25,DE,,,\n12.0.0.0/24,DE,,,\n12.0.0.0/15,DE,,,\n");
    await place.write("seen", observed("11.0.0.1", "FR", "10") + observed("12.0.0.1", "FR", "10"));
    await place.write("csv", "ip,country,observed_at\n11.0.0.2,SE,2025-11-20T22:14:05Z\n12.0.0.2,SE,2025-11-20T22:14:05Z\n");
    const own = "covers: [12.0.0.0/16]";
    const { sources } = await run(
      place,
      feed("one"),
      feed("two", `, ${own}`),
      `name: seen, section: locations, format: observations, location: seen, ${own}`,
      `name: csv, section: locations, format: observations-csv, location: csv, ${own}`,
    );
    const left = (count: number) => [{ reason: "is outside of covers", bad: false, count }];
    expect(sources).toMatchObject([{ skipped: [] }, { skipped: left(3) }, { skipped: left(1) }, { skipped: left(1) }]);
    const [nl, de, fr, se] = ["NL", "DE", "FR", "SE"].map((country) => [country, null, null]);
    expect(await placesOf(place, "11.0.0.1", "11.0.0.2", "12.0.0.1", "12.0.0.2", "12.0.0.3")).toEqual([nl, nl, fr, se, de]);
  });
});

test("a geofeed under two sources that cover other prefixes speaks of those of both", async () => {
  await atWork(async (place) => {
    for (const name of ["one", "two"]) await place.write(name, "11.0.0.0/24,NL,,,\n12.0.0.0/24,DE,,,\n");
    await run(place, feed("one", ", covers: [11.0.0.0/8]"), feed("two", ", covers: [12.0.0.0/8]"));
    expect(await placesOf(place, "11.0.0.1", "12.0.0.1")).toEqual(["NL", "DE"].map((country) => [country, null, null]));
  });
});
