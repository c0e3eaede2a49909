/** The example record of the status. */

import type { StatusRecord } from "../records/status.ts";
import { metaWithoutData } from "./meta.ts";

export const statusExample: StatusRecord = {
  ready: true,
  sections: {
    routes: {
      version: "20261121.0855",
      as_of: "2026-11-21T08:55:00Z",
      age_seconds: 302,
      stale: false,
      counts: { ipv4: 888_633, ipv6: 156_836 },
      sources: [
        {
          name: "rrc00",
          as_of: "2026-11-21T08:55:00Z",
          fetched_at: "2026-11-21T08:56:10Z",
          accepted: 1_045_469,
          skipped: 3,
          error: null,
        },
      ],
    },
  },
  meta: metaWithoutData,
};
