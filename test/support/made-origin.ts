/** A snapshot of one network, for tests that do not need the size of the samples: pods load it in a tenth of the processor time. */

import { openFolderStore } from "@netfacts/snapshot";
import { madeAllocations, madeNames, madeProfiles, madeRoutes, madeVrps, route } from "../../libs/snapshot/test/support/made-sections.ts";
import { publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import type { SnapshotOrigin } from "./publish-snapshot.ts";

/** 193.0.0.0/21 of AS3333, registered in NL, with a VRP, a name and a profile (non_profit), in the empty folder. */
export async function madeOrigin(folder: string): Promise<SnapshotOrigin> {
  const store = openFolderStore(folder);
  const registration = { country: "NL", date: 19930901, holder: "holder" };
  const { id } = await publishMade(store, {
    routes: madeRoutes([route("193.0.0.0/21", [3333, 10])]),
    vrps: madeVrps([{ prefix: "193.0.0.0/21", asn: 3333, maxLength: 21 }]),
    allocations: madeAllocations([{ start: "193.0.0.0", end: "193.0.7.255", ...registration }], [{ first: 3333, ...registration }]),
    names: madeNames({ 3333: "RIPE-NCC-AS" }),
    profiles: madeProfiles({
      3333: { organisation: "RIPE NCC", networkType: { type: "non_profit", basis: "peeringdb:net.info_type", confidence: 0.9 } },
    }),
  });
  return { store, id };
}
