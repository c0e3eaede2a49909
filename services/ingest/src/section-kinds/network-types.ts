/** Section `network_types`. */

import { columnPieces, networkTypesFormat } from "@netfacts/snapshot";
import { buildNetworkTypes } from "../assembly/network-types.ts";
import { checkNetworkTypes } from "../verify/check-as-facts.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const networkTypes: IndependentSection = {
  draft(inputs) {
    const columns = buildNetworkTypes(inputs.networkTypes.splice(0));
    return {
      pieces: columnPieces(networkTypesFormat, columns),
      counts: { prefixes: columns.prefix_type.length, asns: columns.as_number.length },
    };
  },
  compared: ({ prefixes = 0, asns = 0 }) => ({ prefixes, "AS numbers": asns }),
  version: dayVersion,
  check: (generation, { samples }) => checkNetworkTypes(generation, samples),
};
