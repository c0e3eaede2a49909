/** Section `aspas`, which the exports of VRPs fill. */

import { aspasFormat, columnPieces } from "@netfacts/snapshot";
import { buildAspas } from "../assembly/aspas.ts";
import { checkAspas } from "../verify/check-rpki.ts";
import { expiryOf, type JoiningSection, secondVersion } from "./section-kind.ts";

export const aspas: JoiningSection = {
  async build({ tables }) {
    const columns = buildAspas(tables.aspas.splice(0));
    return {
      pieces: columnPieces(aspasFormat, columns),
      counts: { customers: columns.customer.length, providers: columns.provider.length },
      expiresAt: expiryOf(columns.expires_at),
    };
  },
  compared: ({ customers = 0 }) => ({ ASPAs: customers }),
  listedFor: "vrps",
  version: secondVersion,
  check: (generation, { samples }) => checkAspas(generation, samples),
};
