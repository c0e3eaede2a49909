/** Example record of a search. */

import type { SearchRecord } from "../records/search.ts";
import { metaWithoutData } from "./meta.ts";

export const searchExample: SearchRecord = {
  query: "ripe ncc",
  results: {
    items: [
      {
        type: "asn",
        match: "exact",
        title: "AS3333 RIPE-NCC-AS",
        subtitle: "Reseaux IP Europeens Network Coordination Centre (RIPE NCC)",
        link: "/api/v1/asn/AS3333",
        highlights: [
          { start: 7, end: 11 },
          { start: 12, end: 15 },
        ],
      },
      {
        type: "organisation",
        match: "exact",
        title: "Reseaux IP Europeens Network Coordination Centre (RIPE NCC)",
        subtitle: "AS3333, AS12654, AS25152 and 4 more",
        link: "/api/v1/asn/AS3333",
        highlights: [
          { start: 50, end: 54 },
          { start: 55, end: 58 },
        ],
      },
    ],
    total: 2,
    limit: 100,
    next_cursor: null,
  },
  meta: metaWithoutData,
};
