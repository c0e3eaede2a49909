/** What the tokens of an rpki-client export mean: collects its VRPs, counts its ASPAs, knows its build time. */

import { parsePrefix } from "@netfacts/address";
import type { Vrp } from "@netfacts/rpki";
import type { JsonSink } from "./json-tokens.ts";
import { printable, SourceError, Tally } from "./reader-report.ts";
import { VrpList } from "./vrp-list.ts";

/** Members of the document that are read; all others are skipped. */
type Section = "metadata" | "roas" | "aspas" | "";

/** Members of the items that are read: undefined while absent, `nested` for objects and arrays. */
interface Item {
  asn: unknown;
  prefix: unknown;
  maxLength: unknown;
  ta: unknown;
  expires: unknown;
  customer_asid: unknown;
  /** True: an array of AS numbers so far. */
  providers: unknown;
}
type Field = keyof Item;

/** Stands for an object, or an array where none belongs: no field takes it. */
const nested = Symbol("nested");

const fieldsOf: Record<Section, readonly Field[]> = {
  metadata: [],
  roas: ["asn", "prefix", "maxLength", "ta", "expires"],
  aspas: ["customer_asid", "providers", "expires"],
  "": [],
};

const lettersMax = 64;
const numberMax = 0xffff_ffff;

/** Depths at which things stand: `{"roas": [{"asn": …}]}`. */
const memberDepth = 1;
const itemsDepth = 2;
const fieldDepth = 3;
const providersDepth = 4;

export class RpkiClientDocument implements JsonSink {
  readonly vrps = new VrpList();
  readonly tally = new Tally();
  readonly #file: string;
  readonly #seen = new Set<string>();
  readonly #notes: string[] = [];
  #depth = 0;
  #section: Section = "";
  #field: Field | null = null;
  #item: Item = emptyItem();
  #itemOffset = 0;
  /** Whether the next value is metadata's `buildtime`. */
  #isBuildTime = false;
  #buildTime: number | null = null;
  /** Expiry of each good ASPA, 0 = none told. */
  readonly #aspaExpiries: number[] = [];
  #badAspas = 0;
  #firstBadAspa = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** To be called once after the last token, with the document's length. Throws `SourceError` for a document that is no export. */
  finish(length: number): { asOf: number; aspas: number; notes: string[] } {
    if (!this.#seen.has("roas")) throw this.#refused(length, 'not an rpki-client export: it has no "roas"');
    const asOf = this.#buildTime;
    if (asOf === null)
      throw this.#refused(length, 'not an rpki-client export: it has no "metadata" with a "buildtime" such as 2026-01-05T09:31:33Z');
    this.vrps.dropExpired(asOf, (offset, text) => this.tally.leaveOut("expired at the build time", { offset }, text));
    const aspas = this.#aspaExpiries.filter((expiry) => expiry === 0 || expiry >= asOf).length;
    const expired = this.#aspaExpiries.length - aspas;
    if (this.#aspaExpiries.length > 0) this.#notes.push(`ASPAs, not kept by this version: ${aspas}; expired: ${expired}`);
    if (this.#badAspas > 0) this.#notes.push(`ASPAs that break a rule: ${this.#badAspas}, the first at byte ${this.#firstBadAspa}`);
    return { asOf, aspas, notes: this.#notes };
  }

  beginObject(offset: number): void {
    this.#depth++;
    if (this.#depth === itemsDepth) {
      if (this.#section === "roas") throw this.#refused(offset, '"roas" is not an array');
      // Older releases write aspas by address family: nothing of them is kept anyway.
      if (this.#section === "aspas") this.#skipSection('"aspas" is not an array and was skipped');
    } else if (this.#depth === fieldDepth && this.#section !== "metadata") {
      this.#item = emptyItem();
      this.#itemOffset = offset;
    } else if (this.#depth >= fieldDepth) this.#value(nested, offset);
  }

  endObject(_offset: number): void {
    if (this.#depth === fieldDepth) {
      if (this.#section === "roas") this.#endVrp();
      else if (this.#section === "aspas") this.#endAspa();
    }
    this.#depth--;
  }

  beginArray(offset: number): void {
    this.#depth++;
    if (this.#depth === memberDepth) throw this.#refused(offset, "not an rpki-client export: an array");
    if (this.#depth === itemsDepth && this.#section === "metadata") throw this.#refused(offset, '"metadata" is not an object');
    if (this.#depth === providersDepth && this.#field === "providers") this.#item.providers = true;
    else if (this.#depth >= fieldDepth) this.#value(nested, offset);
  }

  endArray(_offset: number): void {
    this.#depth--;
    if (this.#depth === fieldDepth) this.#field = null;
  }

  key(bytes: Uint8Array, start: number, end: number, plain: boolean, offset: number): void {
    if (this.#depth === memberDepth) {
      const name = text(bytes, start, end, plain);
      this.#section = name === "metadata" || name === "roas" || name === "aspas" ? name : "";
      if (this.#section === "") return;
      if (this.#seen.has(name)) throw this.#refused(offset, `"${name}" stands twice`);
      this.#seen.add(name);
    } else if (this.#depth === itemsDepth && this.#section === "metadata") {
      this.#isBuildTime = text(bytes, start, end, plain) === "buildtime";
    } else if (this.#depth === fieldDepth) {
      this.#field = plain
        ? knownField(this.#section, bytes, start, end)
        : (fieldsOf[this.#section].find((field) => field === text(bytes, start, end, false)) ?? null);
    }
  }

  string(bytes: Uint8Array, start: number, end: number, plain: boolean, offset: number): void {
    if (this.#depth === fieldDepth && this.#field === null) return;
    // What is skipped need not become text.
    this.#value(this.#section === "" ? null : text(bytes, start, end, plain), offset);
  }

  number(bytes: Uint8Array, start: number, end: number, offset: number): void {
    if (this.#depth === fieldDepth && this.#field === null) return;
    this.#value(numberOf(bytes, start, end), offset);
  }

  literal(value: true | false | null, offset: number): void {
    this.#value(value, offset);
  }

  /** A value, by where it stands. */
  #value(value: unknown, offset: number): void {
    // An object or array was entered before it is told: it stands one level above.
    const depth = value === nested ? this.#depth - 1 : this.#depth;
    if (depth === 0) throw this.#refused(offset, "not an rpki-client export: not an object");
    if (this.#section === "") return;
    if (depth === memberDepth) {
      if (this.#section === "aspas") this.#skipSection('"aspas" is not an array and was skipped');
      else throw this.#refused(offset, `"${this.#section}" is not ${this.#section === "roas" ? "an array" : "an object"}`);
    } else if (this.#section === "metadata") {
      if (depth === itemsDepth && this.#isBuildTime) this.#buildTime = secondsOf(value);
    } else if (depth === itemsDepth) this.#strayItem(offset);
    else if (depth === fieldDepth && this.#field !== null) this.#item[this.#field] = value;
    else if (depth === providersDepth && this.#field === "providers" && asNumber(value) === null) this.#item.providers = false;
  }

  /** Something in an array of objects that is none. */
  #strayItem(offset: number): void {
    if (this.#section === "roas") {
      this.tally.read++;
      this.tally.bad("not an object", { offset }, "an item of roas");
    } else if (this.#section === "aspas") this.#badAspa(offset);
  }

  #endVrp(): void {
    const place = { offset: this.#itemOffset };
    const vrp = readVrp(this.#item);
    this.tally.read++;
    if (typeof vrp === "string") this.tally.bad(vrp, place, shown(this.#item));
    else if (!this.#add(vrp)) this.tally.leaveOut("duplicate; the latest expiry was kept", place, shown(this.#item));
  }

  #add({ prefix, maxLength, asn, ta, expiresAt }: Vrp): boolean {
    try {
      return this.vrps.add(prefix, maxLength, asn, ta, expiresAt, this.#itemOffset);
    } catch (error) {
      throw this.#refused(this.#itemOffset, (error as Error).message);
    }
  }

  #endAspa(): void {
    const { customer_asid: customer, providers, expires = null } = this.#item;
    const good = asNumber(customer) !== null && providers === true && (expires === null || isWhole(expires, numberMax));
    if (good) this.#aspaExpiries.push((expires as number | null) ?? 0);
    else this.#badAspa(this.#itemOffset);
  }

  #badAspa(offset: number): void {
    if (this.#badAspas++ === 0) this.#firstBadAspa = offset;
  }

  #skipSection(note: string): void {
    this.#notes.push(note);
    this.#section = "";
  }

  #refused(offset: number, reason: string): SourceError {
    return new SourceError(this.#file, { offset }, reason);
  }
}

function emptyItem(): Item {
  return {
    asn: undefined,
    prefix: undefined,
    maxLength: undefined,
    ta: undefined,
    expires: undefined,
    customer_asid: undefined,
    providers: undefined,
  };
}

/** Answers what is wrong as text. */
function readVrp(item: Item): Vrp | string {
  const asn = asNumber(item.asn);
  if (asn === null) return "asn is not an AS number";
  const reading = typeof item.prefix === "string" ? parsePrefix(item.prefix) : null;
  if (reading?.ok !== true) return reading?.fault === "host-bits" ? "prefix has host bits set" : "prefix is not a prefix";
  const { prefix } = reading;
  const maxLength = item.maxLength ?? prefix.length;
  if (!isWhole(maxLength, prefix.version === 4 ? 32 : 128) || maxLength < prefix.length) return "maxLength does not fit the prefix";
  const expiresAt = item.expires ?? null;
  if (expiresAt !== null && !(isWhole(expiresAt, numberMax) && expiresAt > 0)) return "expires is not a time in seconds";
  const ta = item.ta ?? null;
  if (ta !== null && !(typeof ta === "string" && ta.length <= lettersMax)) return "ta is not the name of a trust anchor";
  return { asn, prefix, maxLength, ta: ta || null, expiresAt, loose: false };
}

/** The field of that name without making a string of it. */
function knownField(section: Section, bytes: Uint8Array, start: number, end: number): Field | null {
  fields: for (const field of fieldsOf[section]) {
    if (field.length !== end - start) continue;
    for (let index = 0; index < field.length; index++) if (bytes[start + index] !== field.charCodeAt(index)) continue fields;
    return field;
  }
  return null;
}

function text(bytes: Uint8Array, start: number, end: number, plain: boolean): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return plain ? buffer.toString("latin1") : (JSON.parse(`"${buffer.toString("utf8")}"`) as string);
}

function numberOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    // Signs, fractions, exponents and more digits than a double counts exactly: the slow, exact way.
    if (digit < 0 || digit > 9 || end - start > 15) return Number(text(bytes, start, end, true));
    value = value * 10 + digit;
  }
  return value;
}

function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}

/** rpki-client writes a number; others `"AS123"`. */
function asNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^(?:AS)?\d{1,10}$/i.test(value) ? Number(value.replace(/^AS/i, "")) : value;
  return isWhole(number, numberMax) ? number : null;
}

/** Unix seconds of a time such as `2026-01-05T09:31:33Z`. */
function secondsOf(value: unknown): number | null {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) return null;
  const milliseconds = Date.parse(value);
  return Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== value.replace("Z", ".000Z") ? null : milliseconds / 1000;
}

/** An item as its example shows it. */
function shown(item: Item): string {
  const members = Object.entries(item).filter(([, value]) => value !== undefined);
  return printable(members.map(([field, value]) => `${field} ${value === nested ? "…" : JSON.stringify(value)}`).join(", "));
}
