/** Section `locations`: of what several sources say of a prefix, the last counts. */

import { firstAddress, formatPrefix } from "@netfacts/address";
import { type Generation, type PlaceNames, packSection } from "@netfacts/snapshot";
import type { SampledRecords } from "../verify/sampled-records.ts";
import { Asking } from "../verify/wrong-answer.ts";
import { type IndependentSection, secondVersion } from "./section-kind.ts";

export const locations: IndependentSection = {
  draft(inputs) {
    const { columns, pieces } = packSection("locations", inputs.locations.take());
    return { pieces, counts: { ipv4: columns.v4_length.length, ipv6: columns.v6_length.length } };
  },
  compared: ({ ipv4 = 0, ipv6 = 0 }) => ({ "IPv4 prefixes": ipv4, "IPv6 prefixes": ipv6 }),
  version: secondVersion,
  check: (generation, { tables }) => checkLocations(generation, tables.locations),
};

function checkLocations({ locations: table }: Generation, { sample }: SampledRecords<"locations">): number {
  const asking = new Asking("locations");
  if (table === null) return 0;
  for (const said of sample.entries().map(([, values]) => values)) {
    const last = said.at(-1);
    if (last === undefined) continue;
    const { prefix, place } = last.value;
    const demand = asking.of(last.source, `the location of ${formatPrefix(prefix)}`);
    const found = table.lookupRecord(prefix);
    demand(found !== null && told(found.place) === told(place), told(place), () => (found === null ? "no entry" : told(found.place)));
    demand(table.entry(firstAddress(prefix)) >= 0, "an entry for its first address", () => "none");
  }
  return asking.checked;
}

function told(place: PlaceNames | null): string {
  return place === null ? "no place" : [place.country, place.region, place.city].map((part) => part ?? "–").join(", ");
}
