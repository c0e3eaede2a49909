/** Section `network_types`: if several records of one basis are about the same prefix or AS number, the last one counts. */

import { firstAddress, formatPrefix } from "@netfacts/address";
import { type Generation, type NetworkTypeStatement, packSection } from "@netfacts/snapshot";
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
    const lasts = new Map(said.map((one) => [one.value.statement.basis, one]));
    for (const { source, value } of lasts.values()) {
      const { statement } = value;
      const demand = asking.of(source, typeof key === "number" ? `the type of AS${key}` : `the type of ${key}`);
      const found = ("asn" in value ? networkTypes.ofAs(value.asn) : (byPrefix.get(String(key)) ?? [])).find(
        ({ basis }) => basis === statement.basis,
      );
      const wanted = statementText(statement);
      demand(found !== undefined && statementText(found) === wanted, wanted, () => (found === undefined ? "none" : statementText(found)));
      if ("prefix" in value) demand(networkTypes.entry(firstAddress(value.prefix)) >= 0, "an entry for its first address", () => "none");
    }
  }
  return asking.checked;
}

function statementText({ types, confidence, provider, region, services }: NetworkTypeStatement): string {
  const details = [provider, region, ...services].filter((text) => text !== null);
  return `${types.join(" ")} (${[Math.round(confidence * 100) / 100, ...details].join(", ")})`;
}
