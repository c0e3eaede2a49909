/** Section `network_types`: of what several records say of a prefix or an AS number, the last counts. */

import { firstAddress, formatPrefix } from "@netfacts/address";
import { type Generation, packSection } from "@netfacts/snapshot";
import type { SampledRecords } from "../verify/sampled-records.ts";
import { Asking } from "../verify/wrong-answer.ts";
import { dayVersion, type IndependentSection } from "./section-kind.ts";

export const networkTypes: IndependentSection = {
  draft(inputs) {
    const { columns, pieces } = packSection("network_types", inputs.networkTypes.take());
    return { pieces, counts: { prefixes: columns.prefix_type.length, asns: columns.as_number.length } };
  },
  compared: ({ prefixes = 0, asns = 0 }) => ({ prefixes, "AS numbers": asns }),
  version: dayVersion,
  check: (generation, { tables }) => checkNetworkTypes(generation, tables.networkTypes),
};

function checkNetworkTypes({ networkTypes }: Generation, { sample }: SampledRecords<"network_types">): number {
  const asking = new Asking("network_types");
  if (networkTypes === null) return 0;
  const byPrefix = new Map([...networkTypes.prefixes()].map(([prefix, type]) => [formatPrefix(prefix), type]));
  for (const [key, said] of sample.entries()) {
    const last = said.at(-1);
    if (last === undefined) continue;
    const { value } = last;
    const demand = asking.of(last.source, typeof key === "number" ? `the type of AS${key}` : `the type of ${key}`);
    const found = "asn" in value ? networkTypes.ofAs(value.asn) : (byPrefix.get(String(key)) ?? null);
    const holds = found?.type === value.type && found.confidence === Math.round(value.confidence * 100) / 100;
    demand(holds, `${value.type} (${value.confidence})`, () => (found === null ? "none" : `${found.type} (${found.confidence})`));
    if ("prefix" in value) demand(networkTypes.entry(firstAddress(value.prefix)) >= 0, "an entry for its first address", () => "none");
  }
  return asking.checked;
}
