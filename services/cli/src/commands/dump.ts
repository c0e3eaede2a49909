/** `netfacts dump`: whole sections as tab-separated lines, in the order of the snapshot. */

import { formatAddress, formatPrefix } from "@netfacts/address";
import { timestamp } from "@netfacts/contracts";
import { validationState } from "@netfacts/records";
import type { VrpSet } from "@netfacts/rpki";
import type { AllocationTable, Generation, RouteTable } from "@netfacts/snapshot";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import type { RegisterCommand } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { loadNamed } from "../named-snapshot.ts";
import { writeMany } from "../record-text.ts";
import { snapshotOption, snapshotPath } from "../snapshot-option.ts";

/** Text for an unknown value. */
const none = "-";

export const dump: RegisterCommand = (program, context) => {
  const group = program.command("dump").description("print a section of a snapshot as tab-separated lines, in the snapshot's order");
  const section = (name: string, description: string, lines: (generation: Generation) => Iterable<string> | null): void => {
    group
      .command(name)
      .description(description)
      .addOption(snapshotOption())
      .action(async (_options: unknown, command: Command) => {
        const found = lines(await loadNamed(command));
        if (found === null) throw new CliError(exitCodes.notFound, `${snapshotPath(command)}: the snapshot has no section ${name}`);
        await writeMany(context.stdout, found);
      });
  };
  section("routes", "prefix, origin or {a,b}, full-feed peers, all peers, RPKI state", (generation) =>
    generation.routes === null ? null : routeLines(generation, generation.routes),
  );
  section("vrps", "prefix, max length, AS number, trust anchor, expiry, loose or tight", ({ vrps, manifest }) =>
    vrps === null ? null : vrpLines(vrps, manifest.sections.vrps?.counts.loose !== undefined),
  );
  section("allocations", "registry, country, kind, first, last, date, status, holder id", ({ allocations }) =>
    allocations === null ? null : allocationLines(allocations),
  );
};

function* routeLines(generation: Generation, routes: RouteTable): Generator<string> {
  const { size } = routes.prefixes.base;
  for (let entry = 0; entry < size; entry++) {
    const prefix = routes.prefixes.prefixAt(entry);
    const text = formatPrefix(prefix);
    for (const { asn, asSet, full, partial } of routes.origins(entry)) {
      const origin = asSet !== null ? `{${asSet.join(",")}}` : String(asn ?? none);
      const { state } = validationState(generation, prefix, asn);
      yield `${text}\t${origin}\t${full}\t${full + partial}\t${state ?? none}\n`;
    }
  }
}

/** @param isLooseKnown  whether the section was built with routes, which show whether a VRP is loose. */
function* vrpLines(vrps: VrpSet, isLooseKnown: boolean): Generator<string> {
  for (let index = 0; index < vrps.size; index++) {
    const { prefix, maxLength, asn, ta, expiresAt, loose } = vrps.vrpAt(index);
    yield `${formatPrefix(prefix)}\t${maxLength}\t${asn}\t${ta ?? none}\t${expiresAt === null ? none : timestamp(expiresAt * 1000)}\t${isLooseKnown ? (loose ? "loose" : "tight") : none}\n`;
  }
}

function* allocationLines(allocations: AllocationTable): Generator<string> {
  const holderId = (holder: number | null) => (holder === null ? none : allocations.holder(holder).id);
  for (let record = 0; record < allocations.size; record++) {
    const { registry, country, start, end, date, status, holder } = allocations.entry(record);
    yield `${registry}\t${country ?? none}\tipv${start.version}\t${formatAddress(start)}\t${formatAddress(end)}\t${date ?? none}\t${status}\t${holderId(holder)}\n`;
  }
  for (const { first, last, registry, country, date, status, holder } of allocations.asnRuns())
    yield `${registry}\t${country ?? none}\tasn\t${first}\t${last}\t${date ?? none}\t${status}\t${holderId(holder)}\n`;
}
