/** Samples of the records that readers hand over, for all sources except RIBs, before anything is built from them. */

import { comparePrefixes } from "@netfacts/address";
import type { Aspa, Vrp } from "@netfacts/rpki";
import type { ProfileBasis } from "@netfacts/snapshot";
import type { ProfileRecord } from "../readers/as-profiles.ts";
import type { DelegationRecord } from "../readers/delegated.ts";
import type { Organisation } from "../readers/peeringdb.ts";
import type { SlurmExceptions } from "../readers/slurm.ts";
import { KeyedSample } from "./keyed-sample.ts";
import { Reservoir, randomOf } from "./reservoir.ts";
import type { Said } from "./sampled-records.ts";

/** Records of one source, as its reader returned them. */
export interface SourceSample<T> {
  readonly source: string;
  readonly items: readonly T[];
}

export interface DelegatedSample extends SourceSample<DelegationRecord> {
  /** Unix seconds of the date in the file; null: unknown. */
  readonly asOf: number | null;
  /** Registries that have records in the file. */
  readonly registries: ReadonlySet<string>;
}

export interface AspaSample extends SourceSample<Aspa> {
  /** Customers with several ASPAs in the export, which become one record. */
  readonly joined: ReadonlySet<number>;
}

export interface SaidOfProfile extends Said<ProfileRecord> {
  readonly basis: ProfileBasis;
}

/** Most records that are kept of each source; for names and profiles, of all sources of the section. */
const samplesMax = { vrps: 1_000, aspas: 250, delegated: 1_000, names: 1_000, profiles: 500 } as const;

/** Sources are added in the order in which they are read, which is that of `sources.yaml`. */
export class TableSamples {
  readonly vrps: SourceSample<Vrp>[] = [];
  readonly aspas: AspaSample[] = [];
  readonly slurm: { readonly source: string; readonly exceptions: SlurmExceptions }[] = [];
  readonly delegated: DelegatedSample[] = [];
  readonly names = new KeyedSample<Said<string | null>>(samplesMax.names, randomOf("as_names"));
  readonly profiles = new KeyedSample<SaidOfProfile>(samplesMax.profiles, randomOf("profiles"));
  /** All organisations, since any profile may refer to one. */
  readonly organisations = new Map<number, Organisation>();

  addVrps(source: string, vrps: Iterable<Vrp>): void {
    const kept = new Reservoir<Vrp>(samplesMax.vrps, randomOf(source));
    let least: Vrp | null = null;
    let greatest: Vrp | null = null;
    for (const vrp of vrps) {
      kept.add(vrp);
      if (least === null || compareVrps(vrp, least) < 0) least = vrp;
      if (greatest === null || compareVrps(vrp, greatest) > 0) greatest = vrp;
    }
    const edges = [least, greatest].filter((vrp) => vrp !== null);
    this.vrps.push({ source, items: [...new Set([...kept.items(), ...edges])] });
  }

  addAspas(source: string, aspas: Iterable<Aspa>): void {
    const joined = new Set<number>();
    const seen = new Set<number>();
    const kept = new Reservoir<Aspa>(samplesMax.aspas, randomOf(source));
    for (const aspa of aspas) {
      (seen.has(aspa.customer) ? joined : seen).add(aspa.customer);
      kept.add(aspa);
    }
    this.aspas.push({ source, joined, items: kept.items() });
  }

  addDelegated(source: string, records: readonly DelegationRecord[], asOf: number | null): void {
    const registries = new Set(records.map(({ registry }) => registry));
    this.delegated.push({ source, asOf, registries, items: sampleOf(source, records, samplesMax.delegated) });
  }

  /** @param name  null: the source says that there is none */
  addName(source: string, asn: number, name: string | null): void {
    this.names.add(asn, { source, value: name });
  }

  addProfiles(source: string, records: ReadonlyMap<number, ProfileRecord>, basis: ProfileBasis): void {
    for (const [asn, value] of records) this.profiles.add(asn, { source, value, basis });
  }
}

function sampleOf<T>(source: string, records: Iterable<T>, max: number): T[] {
  const kept = new Reservoir<T>(max, randomOf(source));
  for (const record of records) kept.add(record);
  return kept.items();
}

function compareVrps(a: Vrp, b: Vrp): number {
  return comparePrefixes(a.prefix, b.prefix) || a.maxLength - b.maxLength || a.asn - b.asn;
}
