/** Section `vrps`. */

import { columnPieces, vrpsFormat } from "@netfacts/snapshot";
import { applySlurm } from "../assembly/slurm.ts";
import { buildVrps } from "../assembly/vrps.ts";
import { checkVrps } from "../verify/check-rpki.ts";
import { expiryOf, type JoiningSection, secondVersion } from "./section-kind.ts";

export const vrps: JoiningSection = {
  async build({ tables: inputs, routes }) {
    const table = await routes();
    const slurm = applySlurm(joined(inputs.vrps.splice(0)), inputs.slurm);
    const columns = buildVrps([slurm.vrps], table);
    const counts = {
      vrps: columns.asn.length,
      prefixes: columns.vrp_start.length - 1,
      ...(table !== null && { loose: columns.loose.reduce((sum, flag) => sum + flag, 0) }),
      ...(inputs.slurm.length > 0 && {
        slurm_filtered: slurm.filtered(),
        slurm_asserted: slurm.added(),
      }),
    };
    return { pieces: columnPieces(vrpsFormat, columns), counts, expiresAt: expiryOf(columns.expires_at) };
  },
  // Records that the operator's own exceptions remove do not count as lost.
  compared: ({ vrps = 0, slurm_filtered: filtered = 0, slurm_asserted: asserted = 0 }) => ({ VRPs: vrps + filtered - asserted }),
  version: secondVersion,
  check: (generation, { samples }) => checkVrps(generation, samples),
};

function* joined<T>(lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}
