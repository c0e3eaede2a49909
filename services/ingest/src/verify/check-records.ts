/** Compares whole records, as the services answer them, with some of the samples: records join several sections. */

import { containsAddress, firstAddress, formatPrefix, hostPrefix, parsePrefix } from "@netfacts/address";
import { AnswerNotes, asnRecord, ipRecord, prefixRecord, validityRecord } from "@netfacts/records";
import type { Generation } from "@netfacts/snapshot";
import { type CollectorSample, originAs } from "./check-routes.ts";
import type { TableSamples } from "./table-samples.ts";
import { Asking } from "./wrong-answer.ts";

/** Most records that are compared per section. */
const recordsMax = 32;
const limit = 5;
const anyOf = { family: null, rpki: null, aggregate: false, limit } as const;

/** @returns the number of records that were compared, by section @throws WrongAnswerError */
export function checkRecords(
  generation: Generation,
  collectors: readonly CollectorSample[],
  samples: TableSamples,
  nowMs: number,
): Record<"routes" | "vrps" | "allocations" | "as_names", number> {
  const notes = () => new AnswerNotes(generation, nowMs);
  return {
    routes: askRoutes(generation, collectors, notes),
    vrps: askValidity(generation, samples, notes),
    allocations: askRegistrations(generation, samples, notes),
    as_names: askNames(generation, samples, notes),
  };
}

type Notes = () => AnswerNotes;

function askRoutes({ routes }: Generation, collectors: readonly CollectorSample[], notes: Notes): number {
  const asking = new Asking("routes");
  if (routes === null) return 0;
  for (const { source, sample } of collectors)
    for (const { prefix, routes: sampled } of sample.prefixes.slice(0, recordsMax)) {
      const text = formatPrefix(prefix);
      const demand = asking.of(source, text);
      const body = prefixRecord({ prefix, limit }, notes());
      demand(body.match.type === "exact" && body.match.prefix === text, "/prefix to report it as announced", () =>
        JSON.stringify(body.match),
      );
      const asns = sampled.flatMap((route) => originAs(route) ?? []);
      const told = body.origins.map(({ asn }) => asn);
      // An answer lists only the first origins of a prefix that has very many.
      const isCut = told.length !== body.moas.origin_count;
      demand(isCut || asns.every((asn) => told.includes(asn)), `/prefix to report the origins ${[...new Set(asns)].join(" ")}`, () =>
        told.join(" "),
      );
      if (prefix.length === 0) continue;
      const { routing } = ipRecord(firstAddress(prefix), notes());
      const match = routing.prefix === null ? null : parsePrefix(routing.prefix);
      const holds = routing.announced === true && match?.ok === true && containsAddress(match.prefix, firstAddress(prefix));
      demand(holds, "/ip to report its first address as announced", () => String(routing.prefix));
      const [asn] = asns;
      if (asn === undefined) continue;
      const { announced } = asnRecord({ ...anyOf, asn }, notes());
      demand(announced === true, `/asn to report AS${asn} as announcing`, () => String(announced));
    }
  return asking.checked;
}

/** A VRP makes its own prefix and AS valid. Nothing is compared if the operator's exceptions have filters, which may have removed the VRP. */
function askValidity({ vrps }: Generation, samples: TableSamples, notes: Notes): number {
  const asking = new Asking("vrps");
  if (vrps === null || samples.slurm.some(({ exceptions }) => exceptions.filters.length > 0)) return 0;
  for (const { source, items } of samples.vrps)
    for (const { prefix, asn } of items.slice(0, recordsMax)) {
      if (asn === 0) continue;
      const { state } = validityRecord({ asn, prefix }, notes()).rpki;
      asking.of(source, `${formatPrefix(prefix)} AS${asn}`)(state === "valid", "/validity to report valid", () => String(state));
    }
  return asking.checked;
}

function askRegistrations({ allocations }: Generation, samples: TableSamples, notes: Notes): number {
  const asking = new Asking("allocations");
  if (allocations === null) return 0;
  for (const { source, items } of samples.delegated)
    for (const record of items.slice(0, recordsMax)) {
      if (record.kind === "asn") continue;
      const { allocation } = ipRecord(record.start, notes());
      const winner = allocations.recordsAt(record.start)[0];
      const registry = winner === undefined ? null : allocations.entry(winner).registry;
      const demand = asking.of(source, formatPrefix(hostPrefix(record.start)));
      demand(registry !== null && allocation?.registry === registry, `/ip to report the registry ${registry}`, () =>
        String(allocation?.registry),
      );
    }
  return asking.checked;
}

function askNames({ names }: Generation, samples: TableSamples, notes: Notes): number {
  const asking = new Asking("as_names");
  if (names === null) return 0;
  for (const [key, said] of samples.names.entries().slice(0, recordsMax)) {
    const last = said.at(-1);
    if (last === undefined) continue;
    const { name } = asnRecord({ ...anyOf, asn: Number(key) }, notes());
    asking.of(last.source, `the name of AS${key}`)(name === last.value, `/asn to report ${last.value}`, () => String(name));
  }
  return asking.checked;
}
