/** Reads a validator's JSON export: its VRPs and ASPAs, in the form of that validator. */

import type { Aspa, Vrp } from "@netfacts/rpki";
import { isMembers, type JsonItemsForm, type JsonItemsSink, readJsonItems } from "./json-items.ts";
import { printable, type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";
import type { AspaFields, VrpFields } from "./vrp-fields.ts";
import { readAspa, readVrp } from "./vrp-fields.ts";
import { VrpList } from "./vrp-list.ts";

type Members = Readonly<Record<string, unknown>>;

/** The form of one validator's export: `roas` and `aspas` are arrays, `metadata` contains the time. */
export interface VrpExportForm {
  /** Name of the export in errors: "an rpki-client export". */
  readonly what: string;
  /** Names of the members that are read: in `metadata`, in a VRP and in an ASPA. */
  readonly fields: readonly string[];
  /** Unix seconds at which the export was made; null if `metadata` does not contain it. Returns text to say what is wrong. */
  asOf(metadata: Members | null): number | null | string;
  /** Numbers of VRPs and ASPAs that `metadata` claims, each once. Null: it claims none. */
  claimed(metadata: Members | null): { readonly vrps: number | null; readonly aspas: number | null };
  /** Members that exist only in another format, in `metadata` and in the items, with the name of that format. A file with one of them is refused. */
  readonly foreign: Readonly<Record<"metadata" | "roas" | "aspas", Readonly<Record<string, string>>>>;
  vrp(item: Members): VrpFields | string;
  aspa(item: Members): AspaFields | string;
}

/** The ASPAs of an export, and the counts of their reading. */
export interface AspaReading {
  readonly records: readonly Aspa[];
  readonly read: number;
  /** ASPAs that had expired at the time of the export. */
  readonly expired: number;
  readonly bad: number;
}

export interface VrpExport {
  /** Each (prefix, max length, AS) once, with its latest expiry; none had expired at the time of the export. */
  readonly vrps: VrpList;
  /** Null if the export has no `aspas`: it is then unknown which ASes have one. */
  readonly aspas: AspaReading | null;
  /** Report of the VRPs. */
  readonly report: ReaderReport;
}

/**
 * Reads one export, with its members in any order; unknown ones are skipped. VRPs are returned at the end, since only then it is known which stay: a
 * duplicate may expire later, and the time may come last.
 *
 * @throws SourceError with the byte if it is not JSON, is not such an export, has no VRPs, or more bad VRPs or ASPAs than allowed.
 *
 * Cost: 75 MB with 723,521 VRPs take about two seconds; 34 bytes of memory per VRP, and the current chunk.
 */
export async function readVrpExport(content: SourceContent, form: VrpExportForm): Promise<VrpExport> {
  const { file, badRecordsMax } = content;
  const reading = new ExportReading(file, form);
  const foreign = Object.values(form.foreign).flatMap((names) => Object.keys(names));
  const fields = [...new Set([...form.fields, ...foreign])];
  const items: JsonItemsForm = { what: form.what, fields, members: { metadata: "whole", roas: "items", aspas: "items" } };
  const { bytes, seconds, seen, byteOrderMark } = await readJsonItems(content, items, reading);
  const end = { offset: bytes };
  if (!seen.has("roas")) throw new SourceError(file, end, `not ${form.what}: it has no "roas"`);
  const asOf = form.asOf(reading.metadata);
  if (typeof asOf === "string") throw new SourceError(file, end, `not ${form.what}: ${asOf}`);
  const { vrps, tally } = reading;
  if (asOf !== null) vrps.dropExpired(asOf, (offset, text) => tally.leaveOut("expired at the build time", { offset }, text));
  tally.accepted = vrps.size;
  tally.judge(file, badRecordsMax, "VRPs", end);
  const claimed = form.claimed(reading.metadata);
  const aspas = seen.has("aspas") && !reading.aspasSkipped ? reading.aspasAt(asOf, badRecordsMax) : null;
  const notes = [
    ...reading.notes,
    ...claimNote("VRPs", claimed.vrps, tally.read - reading.duplicates),
    ...claimNote("ASPAs", claimed.aspas, aspas?.read ?? null),
  ];
  if (aspas !== null)
    notes.push(`ASPAs: ${aspas.records.length}; expired at the build time: ${aspas.expired}; invalid: ${aspas.bad}${reading.firstBad}`);
  if (byteOrderMark) notes.push("begins with a byte order mark");
  const { read, accepted } = tally;
  return { vrps, aspas, report: { bytes, seconds, read, accepted, skipped: tally.skipped(), asOf, notes, kinds: vrps.kinds() } };
}

/** A note on an export that has another number of records than it claims: it may be a part of one. Empty: it has that number, or one is unknown. */
function claimNote(what: string, claimed: number | null, has: number | null): string[] {
  if (claimed === null || has === null || claimed === has) return [];
  return [`"metadata" claims ${claimed} ${what}, and the export has ${has}: check that it is complete`];
}

class ExportReading implements JsonItemsSink {
  readonly vrps = new VrpList();
  readonly tally = new Tally();
  readonly notes: string[] = [];
  metadata: Members | null = null;
  /** Of VRPs. */
  duplicates = 0;
  aspasSkipped = false;
  readonly #file: string;
  readonly #form: VrpExportForm;
  readonly #aspas: Aspa[] = [];
  #aspasRead = 0;
  #firstBadAspa: { offset: number; reason: string } | null = null;

  constructor(file: string, form: VrpExportForm) {
    this.#file = file;
    this.#form = form;
  }

  whole(member: string, value: unknown, offset: number): void {
    if (!isMembers(value)) throw new SourceError(this.#file, { offset }, `"${member}" is not an object`);
    this.#refuseForeign("metadata", value, offset);
    this.metadata = value;
  }

  notItems(member: string, offset: number): void {
    if (member === "roas") throw new SourceError(this.#file, { offset }, '"roas" is not an array');
    // Releases of rpki-client before 8.5 wrote ASPAs by address family, which the current ASPA profile does not have.
    this.aspasSkipped = true;
    this.notes.push(`"${member}" is not an array and was skipped`);
  }

  item(member: string, value: unknown, offset: number, fault: string | null): void {
    if (isMembers(value)) this.#refuseForeign(member === "roas" ? "roas" : "aspas", value, offset);
    if (member === "roas") this.#vrp(value, offset, fault);
    else this.#aspa(value, offset, fault);
  }

  #refuseForeign(part: "metadata" | "roas" | "aspas", value: Members, offset: number): void {
    const { what, foreign } = this.#form;
    for (const [name, format] of Object.entries(foreign[part]))
      if (Object.hasOwn(value, name)) {
        const where = part === "metadata" ? '"metadata"' : `an item of "${part}"`;
        throw new SourceError(this.#file, { offset }, `not ${what}: ${where} has "${name}"; it looks like format ${format}`);
      }
  }

  #vrp(value: unknown, offset: number, fault: string | null): void {
    this.tally.read++;
    const fields = fault ?? (isMembers(value) ? this.#form.vrp(value) : "not an object");
    const vrp = typeof fields === "string" ? fields : readVrp(fields);
    if (typeof vrp === "string") this.tally.bad(vrp, { offset }, shown(value));
    else if (!this.#add(vrp, offset)) {
      this.duplicates++;
      this.tally.leaveOut("duplicate; the latest expiry was kept", { offset }, shown(value));
    }
  }

  #add({ prefix, maxLength, asn, ta, expiresAt }: Vrp, offset: number): boolean {
    try {
      return this.vrps.add(prefix, maxLength, asn, ta, expiresAt, offset);
    } catch (error) {
      throw new SourceError(this.#file, { offset }, (error as Error).message);
    }
  }

  #aspa(value: unknown, offset: number, fault: string | null): void {
    this.#aspasRead++;
    const fields = fault ?? (isMembers(value) ? this.#form.aspa(value) : "not an object");
    const aspa = typeof fields === "string" ? fields : readAspa(fields);
    if (typeof aspa !== "string") this.#aspas.push(aspa);
    else this.#firstBadAspa ??= { offset, reason: aspa };
  }

  /** Offset and fault of the first bad ASPA, for a note; empty if there is none. */
  get firstBad(): string {
    return this.#firstBadAspa === null ? "" : `, the first at byte ${this.#firstBadAspa.offset}: ${this.#firstBadAspa.reason}`;
  }

  /**
   * The ASPAs that had not expired at that time. There are few, so that the share of bad ones is taken of all records of the export, unless all ASPAs
   * are bad.
   */
  aspasAt(asOf: number | null, badRecordsMax: number): AspaReading {
    const bad = this.#aspasRead - this.#aspas.length;
    if (this.#firstBadAspa !== null && (bad === this.#aspasRead || bad > (this.tally.read + this.#aspasRead) * badRecordsMax)) {
      const { offset, reason } = this.#firstBadAspa;
      throw new SourceError(this.#file, { offset }, `${bad} of ${this.#aspasRead} ASPAs are invalid; the first: ${reason}`);
    }
    const records = this.#aspas.filter(({ expiresAt }) => asOf === null || expiresAt === null || expiresAt >= asOf);
    return { records, read: this.#aspasRead, expired: this.#aspas.length - records.length, bad };
  }
}

/** An item as examples show it. */
function shown(value: unknown): string {
  if (!isMembers(value)) return "an item of roas";
  return printable(
    Object.entries(value)
      .map(([field, inside]) => `${field} ${typeof inside === "object" && inside !== null ? "…" : JSON.stringify(inside)}`)
      .join(", "),
  );
}
