/** Which reader reads which format, and how what it found joins the inputs; RIBs, which are too large for this, are read elsewhere. */

import type { ProfileBasis } from "@netfacts/dataset";
import type { Aspa, Vrp } from "@netfacts/rpki";
import type { DelegatedFile } from "../build/allocations.ts";
import type { ProfileSource } from "../build/profiles.ts";
import {
  type DelegationRecord,
  type NetworkTypeRecord,
  type Organisation,
  type ProfileRecord,
  type ReaderReport,
  readAutnums,
  readDelegated,
  readNameList,
  readNetworkTypesCsv,
  readOverridesCsv,
  readPeeringDbNet,
  readPeeringDbOrg,
  readRoutinatorCsv,
  readRoutinatorJson,
  readRoutinatorJsonExt,
  readRpkiClientJson,
  readRtr,
  readSlurm,
  type SlurmExceptions,
  type SourceContent,
  type VrpExport,
} from "../readers/index.ts";
import type { BuiltSection, SourceConfig } from "../sources/index.ts";

/** What all sections but the routes are built from, filled source by source. */
export class TableInputs {
  readonly delegated: DelegatedFile[] = [];
  readonly vrps: Iterable<Vrp>[] = [];
  /** Of the exports that have ASPAs. */
  readonly aspas: Iterable<Aspa>[] = [];
  readonly slurm: { readonly file: string; readonly exceptions: SlurmExceptions }[] = [];
  readonly names = new Map<number, string>();
  /** In the order of the file: of two that say something of an AS the later counts. */
  readonly profiles: ProfileSource[] = [];
  readonly organisations = new Map<number, Organisation>();
  readonly networkTypes: NetworkTypeRecord[] = [];
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
  readonly add: () => void;
  readonly side?: SideRecords;
}

export type TableFormat = Exclude<SourceConfig["format"], "mrt">;

export const tableReaders: Record<TableFormat, (content: SourceContent, inputs: TableInputs, section: BuiltSection) => Promise<Reading>> = {
  async delegated(content, inputs) {
    const records: DelegationRecord[] = [];
    const report = await readDelegated(content, (record) => records.push(record));
    return { report, add: () => inputs.delegated.push({ records, asOf: report.asOf }) };
  },

  async "rpki-client-json"(content, inputs) {
    return exported(await readRpkiClientJson(content), inputs);
  },

  async "routinator-json"(content, inputs) {
    return exported(await readRoutinatorJson(content), inputs);
  },

  async "routinator-jsonext"(content, inputs) {
    return exported(await readRoutinatorJsonExt(content), inputs);
  },

  async "routinator-csv"(content, inputs) {
    const { vrps, report } = await readRoutinatorCsv(content);
    return { report, add: () => inputs.vrps.push(vrps) };
  },

  async rtr(content, inputs) {
    const { vrps, report } = await readRtr(content);
    return { report, add: () => inputs.vrps.push(vrps) };
  },

  async slurm(content, inputs) {
    const { exceptions, report } = await readSlurm(content);
    return { report, add: () => inputs.slurm.push({ file: content.file, exceptions }) };
  },

  async "name-list"(content, inputs) {
    return readNames(readNameList, content, inputs);
  },

  async autnums(content, inputs) {
    return readNames(readAutnums, content, inputs);
  },

  async "peeringdb-net"(content, inputs, section) {
    const { networks, report } = await readPeeringDbNet(content);
    return { report, add: () => addProfiles(networks, "peeringdb:net.info_type", inputs, section) };
  },

  async "peeringdb-org"(content, inputs) {
    const { organisations, report } = await readPeeringDbOrg(content);
    const add = () => {
      for (const [id, organisation] of organisations) inputs.organisations.set(id, organisation);
    };
    return { report, add };
  },

  async "overrides-csv"(content, inputs, section) {
    const { overrides, report } = await readOverridesCsv(content);
    return { report, add: () => addProfiles(overrides, "operator:overrides", inputs, section) };
  },

  async "network-types-csv"(content, inputs) {
    const { types, report } = await readNetworkTypesCsv(content);
    return { report, add: () => inputs.networkTypes.push(...types) };
  },
};

/** The names of profiles, or all else that they say: one file may serve both sections. */
function addProfiles(records: ReadonlyMap<number, ProfileRecord>, basis: ProfileBasis, inputs: TableInputs, section: BuiltSection): void {
  if (section === "profiles") inputs.profiles.push({ basis, records });
  else
    for (const [asn, { name }] of records) {
      if (name === null) inputs.names.delete(asn);
      else if (name !== undefined) inputs.names.set(asn, name);
    }
}

function exported({ vrps, aspas, report }: VrpExport, inputs: TableInputs): Reading {
  if (aspas === null) return { report, add: () => inputs.vrps.push(vrps) };
  const { records, read } = aspas;
  const add = () => {
    inputs.vrps.push(vrps);
    inputs.aspas.push(records);
  };
  return { report, add, side: { section: "aspas", accepted: records.length, skipped: read - records.length } };
}

async function readNames(read: typeof readNameList, content: SourceContent, inputs: TableInputs): Promise<Reading> {
  const names = new Map<number, string>();
  const report = await read(content, ({ asn, name }) => names.set(asn, name));
  const add = () => {
    for (const [asn, name] of names) inputs.names.set(asn, name);
  };
  return { report, add };
}
