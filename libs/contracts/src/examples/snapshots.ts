/** Examples of the kept snapshots. */

import type { KeptSnapshots, SnapshotChanges } from "../records/snapshots.ts";

const vrps = { name: "vrps", version: "20261121T085012Z", as_of: "2026-11-21T08:50:12Z", counts: { ipv4: 512_004, ipv6: 180_377 } };

export const snapshotsExample: KeptSnapshots = {
  items: [
    {
      id: "20261121T085500Z-3f9a1c07",
      current: true,
      served: true,
      sample_data: false,
      sections: [
        { name: "routes", version: "20261121.0855", as_of: "2026-11-21T08:55:00Z", counts: { ipv4: 1_045_469, ipv6: 233_120 } },
        vrps,
      ],
    },
    {
      id: "20261121T075500Z-8be1042d",
      current: false,
      served: false,
      sample_data: false,
      sections: [
        { name: "routes", version: "20261121.0755", as_of: "2026-11-21T07:55:00Z", counts: { ipv4: 1_045_388, ipv6: 233_101 } },
        vrps,
      ],
    },
  ],
  pods: [
    {
      pod: "ip-routing-7d9c5b6f4-x2x8q",
      service: "ip-routing",
      serving: "20261121T085500Z-3f9a1c07",
      snapshot: "20261121T085500Z-3f9a1c07",
      outcome: "loaded",
      reason: null,
    },
  ],
};

export const snapshotChangesExample: SnapshotChanges = {
  from: "20261121T075500Z-8be1042d",
  to: "20261121T085500Z-3f9a1c07",
  section: "routes",
  added: 812,
  removed: 734,
  changed: 2_904,
  items: [
    {
      change: "changed",
      row: { prefix: "193.0.0.0/21", origin: 3333 },
      from: { peers_seeing: 2, partial_peers_seeing: 1 },
      to: { peers_seeing: 3, partial_peers_seeing: 0 },
    },
  ],
};
