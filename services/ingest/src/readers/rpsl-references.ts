/** Reader of registry dumps in RPSL (RFC 2622): finds the address ranges that refer to a geofeed (RFC 9632 §3). */

import { type Address, firstAddress, lastAddress, parseAddress, parsePrefix } from "@netfacts/address";
import { addressNumber } from "../assembly/referred-ranges.ts";
import { boundedContent, type ContentMeter } from "./bounded-content.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { type SourceContent, SourceError, Tally } from "./reader-report.ts";
import { isTimestamp, readTimestamp } from "./timestamp.ts";

/** An inetnum or inet6num object that refers to a geofeed. The range is inclusive. */
export interface GeofeedReference {
  readonly start: Address;
  readonly end: Address;
  /** An https URL without credentials. */
  readonly url: string;
  /** Unix seconds of `last-modified`; 0: unknown. */
  readonly lastModified: number;
}

export interface ReferencesReading {
  readonly references: GeofeedReference[];
  /** Number of objects by class, whether they refer to a geofeed or not. */
  readonly objects: { readonly ipv4: number; readonly ipv6: number };
  /** Number of references that are not followed, by reason. */
  readonly refused: ReadonlyMap<string, number>;
  readonly meter: ContentMeter;
}

/** All registries together had about 50,000 in 2025. Each takes about 300 bytes. */
const referencesMax = 1_000_000;
const urlLettersMax = 2_048;
/** No network has more than a /8, or a /12 of IPv6: a larger range is a placeholder of the registry. */
const sizeMax = { 4: 1n << 24n, 6: 1n << 116n } as const;

/**
 * Streams the dump; memory grows only with the references. Objects of other classes are ignored, and lines that are too long to be relevant.
 * `geofeed:` takes precedence over `remarks: Geofeed URL`; if several are of one kind, the first counts. A value can go on in continuation lines (RFC
 * 2622 §2).
 *
 * @throws SourceError for a file without inetnum and inet6num objects, with more unreadable ranges than allowed, with more than a million references,
 * or truncated within its last line.
 */
export async function readGeofeedReferences(content: SourceContent): Promise<ReferencesReading> {
  const { file, badRecordsMax } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const references: GeofeedReference[] = [];
  const refused = new Map<string, number>();
  const objects = { ipv4: 0, ipv6: 0 };
  let object: RpslObject | null = null;
  let isWithin = false;
  let lastLine = 0;

  const end = (line: number) => {
    isWithin = false;
    if (object === null) return;
    closeAttribute(object);
    const { range, isIpv6, geofeed, remark, lastModified } = object;
    object = null;
    tally.read++;
    const found = isIpv6 ? prefixRange(range, 6) : ipv4Range(range);
    if (found === null) return tally.bad("has no valid address range", { line }, range);
    tally.accepted++;
    objects[isIpv6 ? "ipv6" : "ipv4"]++;
    const text = geofeed ?? remark;
    if (text === null) return;
    const url = feedUrl(text);
    const why =
      url === null ? "the geofeed is no https URL" : sizeOf(found) > sizeMax[found.start.version] ? "the range is too large" : null;
    if (why !== null) return void refused.set(why, (refused.get(why) ?? 0) + 1);
    if (references.length === referencesMax) throw new SourceError(file, { line }, `has more than ${referencesMax} references to geofeeds`);
    references.push({ ...found, url: url as string, lastModified: isTimestamp(lastModified) ? (readTimestamp(lastModified) ?? 0) : 0 });
  };

  const { lines, ended } = await forEachLine(
    file,
    chunks,
    (bytes, lineStart, stop, line) => {
      const start = line === 1 && hasByteOrderMark(bytes, lineStart) ? lineStart + 3 : lineStart;
      // A line that is too long is skipped: only its number shows that it was there.
      const isNext = line === lastLine + 1;
      lastLine = line;
      if (start === stop) return end(line);
      if (isWithin && object === null) return;
      const first = bytes[start] as number;
      if (object !== null && !isNext) closeAttribute(object);
      if (object !== null && isContinuation(first)) {
        if (object.open !== null) continueAttribute(object.open, textOf(bytes, start + 1, stop));
        return;
      }
      if (first === hash || first === percent) return;
      if (object !== null) {
        closeAttribute(object);
        if (!begunBy.includes(first | 0x20)) return;
      }
      const [attribute, value] = attributeOf(textOf(bytes, start, stop));
      const isIpv6 = attribute === "inet6num";
      if (object !== null) object.open = { attribute, value };
      else if (isIpv6 || attribute === "inetnum") {
        const open = { attribute: "range", value };
        object = { range: "", isIpv6, geofeed: null, remark: null, lastModified: "", open };
      }
      isWithin = true;
    },
    "skip",
  );
  if (!ended) throw cutLine(file, lines);
  end(lines);
  tally.judge(file, badRecordsMax, "inetnum or inet6num objects", { line: Math.max(1, lines) });
  return { references, objects, refused, meter };
}

interface Attribute {
  readonly attribute: string;
  value: string;
}

interface RpslObject {
  range: string;
  readonly isIpv6: boolean;
  geofeed: string | null;
  remark: string | null;
  lastModified: string;
  /** The attribute that was read last: further lines may belong to it. Null: continuation lines are ignored. */
  open: Attribute | null;
}

const hash = 0x23;
const percent = 0x25;
/** First letters of relevant attributes: geofeed, remarks, last-modified. */
const begunBy = [0x67, 0x72, 0x6c];

function textOf(bytes: Uint8Array, start: number, stop: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, stop - start).toString("latin1");
}

function hasByteOrderMark(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
}

/** A space, a tab or a plus instead of a name (RFC 2622 §2). */
function isContinuation(first: number): boolean {
  return first === 0x20 || first === 0x09 || first === 0x2b;
}

/** Name in lower case, and value without its comment; both are empty for a line that is not an attribute. */
function attributeOf(text: string): [string, string] {
  const [, name = "", value = ""] = /^([a-z0-9-]+):(.*)$/is.exec(text) ?? [];
  return [name.toLowerCase(), withoutComment(value)];
}

/** A comment begins with a hash after white space: a URL may contain a hash. */
function withoutComment(value: string): string {
  return value.replace(/\s#.*$/s, "").trim();
}

/** Appends a line to a value. A value that is already longer than any URL stays as it is, since it is refused anyway. */
function continueAttribute(open: Attribute, text: string): void {
  const more = withoutComment(` ${text}`);
  if (more !== "" && open.value.length <= 2 * urlLettersMax) open.value = open.value === "" ? more : `${open.value} ${more}`;
}

function closeAttribute(object: RpslObject): void {
  const { open } = object;
  object.open = null;
  if (open?.attribute === "range") object.range = open.value;
  // An attribute without a value refers to nothing.
  else if (open?.attribute === "geofeed") object.geofeed ??= open.value || null;
  else if (open?.attribute === "remarks") object.remark ??= /^Geofeed\s+(\S+)/.exec(open.value)?.[1] ?? null;
  else if (open?.attribute === "last-modified") object.lastModified = open.value;
}

type AddressRange = Pick<GeofeedReference, "start" | "end">;

/** Two addresses; or a prefix as LACNIC writes it: `200.160.0.0/20`, or without its last zeros, `200.160/20`. */
function ipv4Range(text: string): AddressRange | null {
  const [, network, length] = /^(\d+(?:\.\d+){0,3})\/(\d+)$/.exec(text) ?? [];
  if (network !== undefined) return prefixRange(`${network}${".0".repeat(4 - network.split(".").length)}/${length}`, 4);
  const [first = "", last = "", ...more] = text.split("-").map((part) => part.trim());
  const [start, end] = [parseAddress(first), parseAddress(last)];
  if (more.length > 0 || start?.version !== 4 || end?.version !== 4 || start.w0 > end.w0) return null;
  return { start, end };
}

function prefixRange(text: string, version: 4 | 6): AddressRange | null {
  const reading = parsePrefix(text);
  return reading.ok && reading.prefix.version === version
    ? { start: firstAddress(reading.prefix), end: lastAddress(reading.prefix) }
    : null;
}

function sizeOf({ start, end }: AddressRange): bigint {
  return addressNumber(end) - addressNumber(start) + 1n;
}

/** The URL to fetch; null if it is not https, or has credentials. */
function feedUrl(text: string): string | null {
  const url = text.length > urlLettersMax || /\s/.test(text) ? null : URL.parse(text);
  if (url === null || url.protocol !== "https:" || url.hostname === "" || url.username !== "" || url.password !== "") return null;
  url.hash = "";
  return url.href;
}
