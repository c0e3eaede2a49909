/**
 * Runs over lists as long as a table of routes, and longer than observations may be.
 *
 * @large Each has 150,000 lines and more, which are too many to be the arguments of one call.
 */

import { expect, test } from "@jest/globals";
import { makePrefix } from "@netfacts/address";
import { runIngest } from "../../src/app.ts";
import { aggregateObservations } from "../../src/assembly/locations.ts";
import { ObservationList } from "../../src/assembly/observation-list.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { atWork, type Workplace } from "../support/made-files.ts";

const daySeconds = 86_400;
const observedAt = 1_763_676_845;

const run = async ({ sources, store }: Workplace, source: string) =>
  runIngest({ config: await sources(`sources:\n  - {${source}}\n`), store });

test("a list of network types may be as long as a table of routes", async () => {
  await atWork(async (place) => {
    const rows = Array.from({ length: 150_000 }, (_, at) => `${11 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.0/24,hosting,1\n`);
    await place.write("types", `resource,network_type,confidence\n${rows.join("")}`);
    const { sections } = await run(place, "name: types, section: network_types, format: network-types-csv, location: types");
    expect(sections).toMatchObject([{ name: "network_types", counts: { prefixes: 150_000, asns: 0 } }]);
  });
});

test("a geofeed may be as long as a table of routes", async () => {
  await atWork(async (place) => {
    const rows = Array.from(
      { length: 150_000 },
      (_, at) => `${11 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}.0/24,NL,NL-NH,City ${at % 1000},\n`,
    );
    await place.write("one", rows.join(""));
    const { sections } = await run(place, "name: one, section: locations, format: geofeed, location: one");
    expect(sections).toMatchObject([{ name: "locations", counts: { ipv4: 150_000, ipv6: 0 } }]);
  });
});

test("observations of all sources together are refused if they have more than a million distinct prefixes", () => {
  const lists = [new ObservationList(), new ObservationList()];
  const nowhere = { country: "NL", region: null, city: null, latitude: null, longitude: null, accuracyKm: null, method: null };
  for (let at = 0; at <= 1_000_000; at++)
    lists[at % 2]?.add({ ...nowhere, observedAt, prefix: makePrefix(4, 0x0b00_0000 + at, 0, 0, 0, 32) });
  const aggregate = () => aggregateObservations(lists, { halfLifeSeconds: 365 * daySeconds, keptSeconds: 100 * daySeconds });
  expect(aggregate).toThrow(SourceError);
  expect(aggregate).toThrow("observations: all sources together have more than 1000000 distinct prefixes");
}, 60_000);
