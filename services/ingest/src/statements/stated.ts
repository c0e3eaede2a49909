/** The statements of sources about ASes, source by source, in order of precedence: the later statement of a field wins. */

import type { ProfileField, Statement } from "@netfacts/storage";
import { asnClaims, type DelegatedFile } from "../assembly/allocations.ts";
import type { ProfileSource } from "../assembly/profiles.ts";
import type { DelegationRecord } from "../readers/delegated.ts";
import type { Organisation } from "../readers/peeringdb.ts";

/** A registry's file, with the name of its source. */
export interface RegistrySource extends DelegatedFile {
  readonly source: string;
}

export interface StatedAs {
  readonly asn: number;
  readonly statements: readonly Statement[];
}

export interface NameSource {
  readonly source: string;
  /** Null: the source says that there is none. */
  readonly names: ReadonlyMap<number, string | null>;
}

/** An organisation of PeeringDB, with its source. */
export interface OrganisationSource {
  readonly source: string;
  readonly organisation: Organisation;
}

/** Whether a source is the operator's overrides; the control store has these already. */
export function isOverrides(source: string): boolean {
  return source.startsWith("overrides:");
}

/** Statements by AS number, as all functions below. */
export function* statedNames(sources: readonly NameSource[]): Generator<StatedAs, void> {
  const told = sources.filter(({ source }) => !isOverrides(source));
  for (const asn of ascending(told.map(({ names }) => names))) {
    const statements = told.flatMap(({ source, names }): Statement[] => {
      const value = names.get(asn);
      return value === undefined ? [] : [{ field: "name", source, value }];
    });
    yield { asn, statements };
  }
}

/** Joins records in the same way as `buildProfiles`. */
export function* statedProfiles(
  sources: readonly ProfileSource[],
  organisations: ReadonlyMap<number, OrganisationSource>,
): Generator<StatedAs, void> {
  const told = sources.filter(({ source }) => !isOverrides(source));
  for (const asn of ascending(told.map(({ records }) => records))) {
    const statements: Statement[] = [];
    for (const { source, records } of told) {
      const record = records.get(asn);
      if (record === undefined) continue;
      const of = record.orgId === undefined ? undefined : organisations.get(record.orgId);
      const say = (field: ProfileField, by: string, value: string | null | undefined) => {
        if (value !== undefined) statements.push({ field, source: by, value });
      };
      if (of !== undefined) {
        say("organisation", of.source, of.organisation.name);
        say("website", of.source, of.organisation.website ?? undefined);
      }
      say("organisation", source, record.organisation);
      say("website", source, record.website);
      if (record.organisation !== undefined) {
        // The country of another organisation is unknown.
        if (statements.some(({ field }) => field === "organisation_country")) say("organisation_country", source, null);
      } else if (of !== undefined) {
        const isReplaced = statements.some(({ field }) => field === "organisation_country");
        say("organisation_country", of.source, of.organisation.country ?? (isReplaced ? null : undefined));
      }
      const { networkType } = record;
      say("network_types", source, networkType && [networkType.type, ...(networkType.also ?? [])].join(" "));
    }
    if (statements.length > 0) yield { asn, statements };
  }
}

/** Only for delegated AS numbers. */
export function* statedRegistrations(files: readonly RegistrySource[]): Generator<StatedAs, void> {
  for (const { asn, claims } of asnClaims(files)) {
    // Fields that the winning record leaves open are unknown, even if the others have them.
    const withNulls = claims.length > 1;
    yield {
      asn,
      statements: claims.toReversed().flatMap(({ file, record }) => registration(files[file]?.source ?? "", record, withNulls)),
    };
  }
}

function registration(source: string, { registry, country, status, date }: DelegationRecord, withNulls: boolean): Statement[] {
  const day = date === null ? null : String(date).replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3");
  const said: Readonly<Partial<Record<ProfileField, string | null>>> = {
    registry,
    registration_country: country,
    status,
    allocated_on: day,
  };
  return Object.entries(said).flatMap(([field, value]) =>
    value === null && !withNulls ? [] : [{ field: field as ProfileField, source, value }],
  );
}

/** Every key once, in ascending order. */
function ascending(maps: readonly ReadonlyMap<number, unknown>[]): Uint32Array {
  return Uint32Array.from(new Set(maps.flatMap((map) => [...map.keys()]))).sort();
}
