/** Which reader reads which format, and how what it found joins the inputs; RIBs, which are too large for this, are read elsewhere. */

import { formatPrefix } from "@netfacts/address";
import type { Aspa, Vrp } from "@netfacts/rpki";
import type { NetworkTypeRecord, NetworkTypeStatement, ProfileBasis } from "@netfacts/snapshot";
import type { ObservationList } from "../assembly/observation-list.ts";
import type { ProfileSource } from "../assembly/profiles.ts";
import { refuseOverlap, type SlurmFile } from "../assembly/slurm.ts";
import { readAutnums, readNameList } from "../readers/as-names.ts";
import type { ProfileRecord } from "../readers/as-profiles.ts";
import { type DelegationRecord, readDelegated } from "../readers/delegated.ts";
import { readGeofeed } from "../readers/geofeed.ts";
import { readObservations, readObservationsCsv } from "../readers/observations.ts";
import { readNetworkTypesCsv, readOverridesCsv } from "../readers/operator-csv.ts";
import { readPeeringDbNet, readPeeringDbOrg } from "../readers/peeringdb.ts";
import { readPrefixList, readTorExits } from "../readers/prefix-list.ts";
import { readAwsRanges, readAzureTags, readGoogleRanges, readOracleRanges } from "../readers/provider-ranges.ts";
import type { ListedRange, RangeDetail } from "../readers/range-list.ts";
import type { ReaderReport, SourceContent } from "../readers/reader-report.ts";
import { readReferredGeofeeds } from "../readers/referred-geofeeds.ts";
import { readRoutinatorCsv } from "../readers/routinator-csv.ts";
import { readRoutinatorJson, readRoutinatorJsonExt } from "../readers/routinator-json.ts";
import { readRpkiClientJson } from "../readers/rpki-client-json.ts";
import { readRtr } from "../readers/rtr.ts";
import { readSlurm, slurmAnchor } from "../readers/slurm.ts";
import type { VrpExport } from "../readers/vrp-export.ts";
import type { BuiltFormat, BuiltSection, RangeType, SourceConfig } from "../sources/index.ts";
import type { NameSource, OrganisationSource, RegistrySource } from "../statements/stated.ts";
import type { ObservedSample } from "../verify/check-locations.ts";
import { SampledRecords } from "../verify/sampled-records.ts";
import { TableSamples } from "../verify/table-samples.ts";
import { BoundedNames } from "./bounded-names.ts";

/** What all sections but the routes are built from, filled source by source. */
export class TableInputs {
  readonly delegated: RegistrySource[] = [];
  readonly vrps: Iterable<Vrp>[] = [];
  /** Of the exports that have ASPAs. */
  readonly aspas: Iterable<Aspa>[] = [];
  readonly slurm: SlurmFile[] = [];
  /** Of VRPs and ASPAs. */
  readonly anchors = new BoundedNames("trust anchors", [slurmAnchor]);
  readonly names = new Map<number, string>();
  /** The same by source, in the order of the file. */
  readonly namesBySource: NameSource[] = [];
  /** Whether the operator's corrections of names were read, also if there is none of them. */
  hasOverriddenNames = false;
  /** In the order of the file: of two that say something of an AS the later counts. */
  readonly profiles: ProfileSource[] = [];
  readonly profileTypes = new BoundedNames("network types");
  /** By PeeringDB's number. */
  readonly organisations = new Map<number, OrganisationSource>();
  readonly networkTypes = new SampledRecords("network_types", (record) => ("asn" in record ? record.asn : formatPrefix(record.prefix)));
  readonly listedTypes = new BoundedNames("network types");
  /** Of geofeeds. */
  readonly locations = new SampledRecords("locations", ({ prefix }) => formatPrefix(prefix));
  readonly observations: ObservationList[] = [];
  /** Of the observations, once the section is built. */
  readonly observed: { readonly samples: readonly ObservedSample[]; readonly oldest: number }[] = [];
  /** What the snapshot is asked for when it was built, of the sections whose inputs have no sample of their own. */
  readonly samples = new TableSamples();
}

/** What a source says for another section than its own: how many records, and how many were left out. */
export interface SideRecords {
  readonly section: "aspas";
  readonly accepted: number;
  readonly skipped: number;
}

/** What a reader found, and how it joins the inputs once it is known to be good. */
export interface Reading {
  readonly report: ReaderReport;
  /** Throws `SourceError` for what does not go together with what joined before, and adds nothing then. */
  readonly add: (source: string) => void;
  readonly side?: SideRecords;
}

export type TableFormat = Exclude<BuiltFormat, "mrt">;

/** What a reader knows of its source. */
export type ReadSource = Pick<SourceConfig, "name" | "location" | "rangeType" | "feeds"> & { readonly section: BuiltSection };

export const tableReaders: Record<TableFormat, (content: SourceContent, inputs: TableInputs, source: ReadSource) => Promise<Reading>> = {
  async delegated(content, inputs) {
    const records: DelegationRecord[] = [];
    const report = await readDelegated(content, (record) => records.push(record));
    const add = (source: string) => {
      inputs.samples.addDelegated(source, records, report.asOf);
      inputs.delegated.push({ source, records, asOf: report.asOf });
    };
    return { report, add };
  },

  async "rpki-client-json"(content, inputs) {
    return exported(await readRpkiClientJson(content), inputs, content.file);
  },

  async "routinator-json"(content, inputs) {
    return exported(await readRoutinatorJson(content), inputs, content.file);
  },

  async "routinator-jsonext"(content, inputs) {
    return exported(await readRoutinatorJsonExt(content), inputs, content.file);
  },

  async "routinator-csv"(content, inputs) {
    return exported({ ...(await readRoutinatorCsv(content)), aspas: null }, inputs, content.file);
  },

  async rtr(content, inputs) {
    const { vrps, report } = await readRtr(content);
    return { report, add: (source) => addVrps(vrps, inputs, source) };
  },

  async slurm(content, inputs) {
    const { exceptions, report } = await readSlurm(content);
    const file = { file: content.file, exceptions };
    const add = (source: string) => {
      refuseOverlap(file, inputs.slurm);
      inputs.samples.slurm.push({ source, exceptions });
      inputs.slurm.push(file);
    };
    return { report, add };
  },

  async "name-list"(content, inputs) {
    return readNames(readNameList, content, inputs);
  },

  async autnums(content, inputs) {
    return readNames(readAutnums, content, inputs);
  },

  async "peeringdb-net"(content, inputs, of) {
    const { networks, report } = await readPeeringDbNet(content);
    return { report, add: () => addProfiles(networks, "peeringdb:net.info_type", { inputs, of }) };
  },

  async "peeringdb-org"(content, inputs) {
    const { organisations, report } = await readPeeringDbOrg(content);
    const add = (source: string) => {
      for (const [id, organisation] of organisations) {
        inputs.samples.organisations.set(id, organisation);
        inputs.organisations.set(id, { source, organisation });
      }
    };
    return { report, add };
  },

  async "overrides-csv"(content, inputs, of) {
    const { overrides, report } = await readOverridesCsv(content);
    const add = () => {
      if (of.section === "as_names") inputs.hasOverriddenNames = true;
      addProfiles(overrides, "operator:overrides", { inputs, of });
    };
    return { report, add };
  },

  async "network-types-csv"(content, inputs, source) {
    const { types, report } = await readNetworkTypesCsv(content);
    return { report, add: () => addNetworkTypes(types, inputs, source) };
  },

  async "aws-ip-ranges"(content, inputs, source) {
    return ranges(await readAwsRanges(content), inputs, source);
  },

  async "azure-service-tags"(content, inputs, source) {
    return ranges(await readAzureTags(content), inputs, source);
  },

  async "google-ip-ranges"(content, inputs, source) {
    return ranges(await readGoogleRanges(content), inputs, source);
  },

  async "oracle-ip-ranges"(content, inputs, source) {
    return ranges(await readOracleRanges(content), inputs, source);
  },

  async "tor-exit-list"(content, inputs, source) {
    return ranges(await readTorExits(content), inputs, source);
  },

  async "prefix-list"(content, inputs, source) {
    return ranges(await readPrefixList(content), inputs, source);
  },

  async geofeed(content, inputs, source) {
    const { records, report } = await readGeofeed(content);
    // A provider's geofeed lists its ranges: one file may serve both sections.
    if (source.section === "network_types")
      return ranges({ ranges: records.map(({ prefix }) => ({ prefix, detail: noDetail })), report }, inputs, source);
    return { report, add: (source) => inputs.locations.add(source, records) };
  },

  async "rpsl-geofeeds"(content, inputs, { feeds = [] }) {
    const { records, report } = await readReferredGeofeeds(content, feeds);
    return { report, add: (source) => inputs.locations.add(source, records) };
  },

  async observations(content, inputs) {
    const { observations, report } = await readObservations(content);
    return { report, add: () => inputs.observations.push(observations) };
  },

  async "observations-csv"(content, inputs) {
    const { observations, report } = await readObservationsCsv(content);
    return { report, add: () => inputs.observations.push(observations) };
  },
};

const noDetail: RangeDetail = { region: null, services: [] };

/** Makes one statement of each detail, with what the source says of all its ranges. */
function ranges(
  { ranges: found, report }: { readonly ranges: readonly ListedRange[]; readonly report: ReaderReport },
  inputs: TableInputs,
  source: ReadSource,
): Reading {
  const { name, rangeType } = source;
  // `readSources` refuses a list of ranges without a type.
  const { type, provider, confidence } = rangeType as RangeType;
  const statements = new Map<RangeDetail, NetworkTypeStatement>();
  const statementOf = (detail: RangeDetail): NetworkTypeStatement => {
    const { region, services } = detail;
    const known = statements.get(detail) ?? { types: [type], confidence, basis: `range-list:${name}`, provider, region, services };
    statements.set(detail, known);
    return known;
  };
  return {
    report,
    add: () =>
      addNetworkTypes(
        found.map(({ prefix, detail }) => ({ prefix, statement: statementOf(detail) })),
        inputs,
        source,
      ),
  };
}

function addNetworkTypes(records: readonly NetworkTypeRecord[], inputs: TableInputs, { name, location }: ReadSource): void {
  const statements = new Set(records.map(({ statement }) => statement));
  inputs.listedTypes.join(
    location,
    [...statements].flatMap(({ types }) => types),
  );
  inputs.networkTypes.add(name, records);
}

/** The names of profiles, or all else that they say: one file may serve both sections. */
function addProfiles(
  records: ReadonlyMap<number, ProfileRecord>,
  basis: ProfileBasis,
  { inputs, of: { name: source, location, section } }: { readonly inputs: TableInputs; readonly of: ReadSource },
): void {
  if (section === "profiles") {
    const types = [...records.values()].flatMap(({ networkType }) => networkType ?? []);
    inputs.profileTypes.join(
      location,
      types.flatMap(({ type, also = [] }) => [type, ...also]),
    );
    inputs.samples.addProfiles(source, records, basis);
    inputs.profiles.push({ source, basis, records });
    return;
  }
  addNames(new Map([...records].flatMap(([asn, { name }]) => (name === undefined ? [] : [[asn, name] as const]))), inputs, source);
}

function addNames(names: ReadonlyMap<number, string | null>, inputs: TableInputs, source: string): void {
  for (const [asn, name] of names) {
    inputs.samples.addName(source, asn, name);
    if (name === null) inputs.names.delete(asn);
    else inputs.names.set(asn, name);
  }
  inputs.namesBySource.push({ source, names });
}

function addVrps(vrps: Iterable<Vrp>, inputs: TableInputs, source: string): void {
  inputs.samples.addVrps(source, vrps);
  inputs.vrps.push(vrps);
}

function exported({ vrps, aspas, report }: VrpExport, inputs: TableInputs, file: string): Reading {
  const add = (source: string) => {
    inputs.anchors.join(file, [...vrps.anchors, ...(aspas?.records ?? []).flatMap(({ ta }) => ta ?? [])]);
    addVrps(vrps, inputs, source);
    if (aspas === null) return;
    inputs.samples.addAspas(source, aspas.records);
    inputs.aspas.push(aspas.records);
  };
  if (aspas === null) return { report, add };
  const { records, read } = aspas;
  return { report, add, side: { section: "aspas", accepted: records.length, skipped: read - records.length } };
}

async function readNames(read: typeof readNameList, content: SourceContent, inputs: TableInputs): Promise<Reading> {
  const names = new Map<number, string>();
  const report = await read(content, ({ asn, name }) => names.set(asn, name));
  return { report, add: (source) => addNames(names, inputs, source) };
}
