/** Section `locations`: from geofeeds and from observations. */

import { packSection } from "@netfacts/snapshot";
import { aggregateObservations, withPrecedence } from "../assembly/locations.ts";
import { checkLocations, sampleObservations } from "../verify/check-locations.ts";
import { type JoiningSection, secondVersion } from "./section-kind.ts";

export const locations: JoiningSection = {
  async build({ config, tables }) {
    const lists = tables.observations.splice(0);
    const { records, oldest, notes } = aggregateObservations(lists, {
      halfLifeSeconds: config.observationHalfLifeSeconds,
      keptSeconds: config.observationsKeptSeconds,
    });
    tables.observed.push({ samples: sampleObservations(lists), oldest });
    const { columns, pieces } = packSection("locations", withPrecedence(tables.locations.take(), records, config.locationsFirst));
    const counts = { ipv4: columns.v4_length.length, ipv6: columns.v6_length.length, observed: columns.observed_entry.length };
    return { pieces, counts, notes };
  },
  compared: ({ ipv4 = 0, ipv6 = 0 }) => ({ "IPv4 prefixes": ipv4, "IPv6 prefixes": ipv6 }),
  version: secondVersion,
  check(generation, { tables }) {
    const [{ samples, oldest } = { samples: [], oldest: 0 }] = tables.observed;
    return checkLocations(generation, tables.locations.sample, samples, oldest);
  },
};
