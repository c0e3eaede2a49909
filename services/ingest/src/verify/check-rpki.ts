/** Compares sections `vrps` and `aspas` with sampled records of validators' exports and of the operator's exceptions. */

import { containsPrefix, formatPrefix } from "@netfacts/address";
import { type Aspa, originStates, stateWords, type Vrp } from "@netfacts/rpki";
import type { Generation } from "@netfacts/snapshot";
import { slurmAnchor } from "../readers/slurm.ts";
import type { TableSamples } from "./table-samples.ts";
import { Asking } from "./wrong-answer.ts";

/** @returns the number of records that were compared @throws WrongAnswerError */
export function checkVrps(generation: Generation, samples: TableSamples): number {
  const asking = new Asking("vrps");
  for (const { source, items } of samples.vrps)
    for (const vrp of items) {
      const filtered = isFiltered(vrp, samples);
      const asserted = samples.slurm.some(({ exceptions }) => exceptions.assertions.some((one) => isSame(one, vrp)));
      if (filtered && !asserted) checkAbsent(asking, generation, source, vrp);
      else checkPresent(asking, generation, source, vrp, asserted);
    }
  for (const { source, exceptions } of samples.slurm)
    for (const vrp of exceptions.assertions) checkPresent(asking, generation, source, vrp, true);
  return asking.checked;
}

function checkPresent(asking: Asking, { vrps, vrpCountByAs }: Generation, source: string, vrp: Vrp, asserted: boolean): void {
  if (vrps === null) return;
  const { prefix, asn } = vrp;
  const demand = asking.of(source, vrpText(vrp));
  const covering = vrps.covering(prefix);
  const own = covering.filter((one) => isSame(one, vrp));
  demand(own.length === 1, "one such VRP among those that cover the prefix", () => covering.map(vrpText).join(", ") || "none");
  const [found] = own as [Vrp];
  // If two sources have the VRP, the one that expires later stays.
  const lasts = asserted ? found.ta === slurmAnchor : (found.expiresAt ?? 0) >= (vrp.expiresAt ?? 0);
  demand(lasts, asserted ? `the trust anchor ${slurmAnchor}` : `it to expire at ${vrp.expiresAt} or later`, () =>
    asserted ? String(found.ta) : String(found.expiresAt),
  );
  if (asn !== 0) {
    const state = vrps.originState(prefix, asn);
    demand(state === originStates.valid, `the prefix with origin AS${asn} to be valid`, () => stateWords(state).state);
  }
  const at = vrpCountByAs === null ? -1 : vrpCountByAs.asn.indexOf(asn);
  demand(at >= 0 && (vrpCountByAs?.count[at] ?? 0) > 0, `AS${asn} among the ASes of VRPs`, () => "no such AS");
}

function checkAbsent(asking: Asking, { vrps }: Generation, source: string, vrp: Vrp): void {
  if (vrps === null) return;
  const demand = asking.of(source, vrpText(vrp));
  const has = vrps.covering(vrp.prefix).some((one) => isSame(one, vrp));
  demand(!has, "no such VRP, because an exception removes it", () => "that VRP");
}

/** Whether a filter removes the VRP: its prefix and its AS, as far as given, both match (RFC 8416 §3.3.1). */
function isFiltered({ prefix, asn }: Vrp, { slurm }: TableSamples): boolean {
  return slurm.some(({ exceptions }) =>
    exceptions.filters.some(
      (filter) => (filter.prefix === null || containsPrefix(filter.prefix, prefix)) && (filter.asn === null || filter.asn === asn),
    ),
  );
}

function isSame(a: Vrp, b: Vrp): boolean {
  return a.asn === b.asn && a.maxLength === b.maxLength && formatPrefix(a.prefix) === formatPrefix(b.prefix);
}

function vrpText({ prefix, maxLength, asn }: Vrp): string {
  return `${formatPrefix(prefix)}-${maxLength} AS${asn}`;
}

/** @returns the number of records that were compared @throws WrongAnswerError */
export function checkAspas({ aspas }: Generation, samples: TableSamples): number {
  const asking = new Asking("aspas");
  if (aspas === null) return 0;
  const isOnly = samples.aspas.length === 1;
  for (const { source, items, joined } of samples.aspas)
    for (const aspa of items) {
      const demand = asking.of(source, `the ASPA of AS${aspa.customer}`);
      const found = aspas.lookupAspa(aspa.customer);
      const expected = providersText(aspa);
      demand(found !== null && aspa.providers.every((provider) => found.providers.includes(provider)), `the providers ${expected}`, () =>
        found === null ? "none" : providersText(found),
      );
      // The expiry of a joined ASPA may be that of another one.
      const isOwn = isOnly && !joined.has(aspa.customer);
      demand(!isOwn || found?.expiresAt === aspa.expiresAt, "its expiry", () => String(found?.expiresAt));
    }
  return asking.checked;
}

function providersText({ providers }: Aspa): string {
  return providers.map((provider) => `AS${provider}`).join(" ");
}
