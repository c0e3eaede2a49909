/** Section `profiles`. */

import { columnPieces, profilesFormat } from "@netfacts/snapshot";
import { buildProfiles } from "../assembly/profiles.ts";
import { statedProfiles } from "../statements/stated.ts";
import { checkProfiles } from "../verify/check-as-facts.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const profiles: IndependentSection = {
  stated: ({ profiles, organisations }) => statedProfiles(profiles, organisations),
  draft(inputs) {
    const columns = buildProfiles(inputs.profiles.splice(0), inputs.organisations);
    inputs.organisations.clear();
    return { pieces: columnPieces(profilesFormat, columns), counts: { profiles: columns.asn.length } };
  },
  compared: ({ profiles = 0 }) => ({ profiles }),
  version: dayVersion,
  check: (generation, { samples }) => checkProfiles(generation, samples),
};
