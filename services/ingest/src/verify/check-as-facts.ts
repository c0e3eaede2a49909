/** Compares sections `as_names` and `profiles` with samples: if several sources have a value, the later one counts (README of `sources`). */

import type { Generation } from "@netfacts/snapshot";
import type { SaidOfProfile, TableSamples } from "./table-samples.ts";
import { Asking } from "./wrong-answer.ts";

/** @returns the number of records that were compared @throws WrongAnswerError */
export function checkNames({ names }: Generation, samples: TableSamples): number {
  const asking = new Asking("as_names");
  if (names === null) return 0;
  for (const [asn, said] of samples.names.entries()) {
    const last = said.at(-1);
    if (last === undefined) continue;
    const found = names.lookupName(Number(asn));
    asking.of(last.source, `the name of AS${asn}`)(found === last.value, String(last.value), () => String(found));
  }
  return asking.checked;
}

/** @returns the number of records that were compared @throws WrongAnswerError */
export function checkProfiles({ profiles }: Generation, samples: TableSamples): number {
  const asking = new Asking("profiles");
  if (profiles === null) return 0;
  for (const [asn, said] of samples.profiles.entries()) {
    const found = profiles.lookupProfile(Number(asn));
    const expected = expectedProfile(said, samples);
    const source = said.at(-1)?.source ?? "";
    for (const [member, value] of Object.entries(expected)) {
      const own = found?.[member as keyof typeof expected] ?? null;
      const [want, got] = [JSON.stringify(value), JSON.stringify(own)];
      asking.of(source, `${member} of AS${asn}`)(want === got, want, () => got);
    }
  }
  return asking.checked;
}

/** For each member, the last source that says anything about it counts; a network's own website takes precedence over that of its organisation. */
function expectedProfile(said: readonly SaidOfProfile[], { organisations }: TableSamples) {
  const last = <T>(of: (one: SaidOfProfile) => T | null | undefined): T | null =>
    said
      .toReversed()
      .map(of)
      .find((value) => value !== undefined) ?? null;
  const organisationOf = ({ value }: SaidOfProfile) => (value.orgId === undefined ? undefined : organisations.get(value.orgId));
  const named = said.findLast((one) => one.value.organisation !== undefined || organisationOf(one) !== undefined);
  const type = said.findLast(({ value }) => value.networkType !== undefined);
  const told = type?.value.networkType;
  return {
    organisation: last((one) => (one.value.organisation === undefined ? organisationOf(one)?.name : one.value.organisation)) || null,
    website: last((one) => (one.value.website === undefined ? (organisationOf(one)?.website ?? undefined) : one.value.website)) || null,
    country: named === undefined || named.value.organisation !== undefined ? null : (organisationOf(named)?.country ?? null),
    networkType:
      type === undefined || told == null
        ? null
        : {
            type: told.type,
            basis: type.basis,
            confidence: Math.round(told.confidence * 100) / 100,
            ...(told.also !== undefined && { also: told.also }),
          },
  };
}
