/** A slow, obvious reading of delegated statistics, written from their description and sharing nothing with the reader. */

import { isIPv4, isIPv6, SocketAddress } from "node:net";

export interface OracleReading {
  records: string[];
  read: number;
  bad: number;
  /** Whether the file can be trusted, given the share of bad records allowed. */
  trusted: boolean;
  asOf: string;
}

/** Records as `registry|country|kind|first|last|date|status|id`, ranges as decimal numbers. Null: no such file at all. */
export function obviousReading(bytes: Uint8Array, badMax: number, countErrorMax: number): OracleReading | null {
  // An order mark of UTF-8 may stand in front.
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replace(/^\u00ef\u00bb\u00bf/, "");
  const lines = text
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const header = /^2(?:\.\d+)?\|(afrinic|apnic|arin|iana|lacnic|ripencc|nro)\|([^|]*)\|(\d{1,10})\|[^|]*\|([^|]*)(?:\||$)/.exec(
    lines[0] ?? "",
  );
  if (header === null || Number(header[3]) > 4294967295) return null;
  const asOf = isDay(header[4] ?? "") ? (header[4] as string) : serialDay(header[2] ?? "");
  if (asOf === null) return null;
  const claims: [string, number][] = [];
  const counts: Record<string, number> = { ipv4: 0, ipv6: 0, asn: 0 };
  const fileDay = isDay(asOf)
    ? Date.UTC(Number(asOf.slice(0, 4)), Number(asOf.slice(4, 6)) - 1, Number(asOf.slice(6)))
    : Number(asOf.slice(0, 10)) * 1000;
  const latest = new Date(fileDay + 86_400_000).toISOString().slice(0, 10).replaceAll("-", "");
  const reading: OracleReading = { records: [], read: 0, bad: 0, trusted: true, asOf };
  for (const line of lines.slice(1)) {
    const fields = line.split("|");
    const [registry = "", country = "", kind = "", start = "", value = "", date = "", status = "", id = ""] = fields;
    const isKind = ["ipv4", "ipv6", "asn"].includes(kind);
    // A summary without a count is a record line like any other, and a bad one.
    if (isKind && date === "summary" && /^\d{1,10}$/.test(value) && Number(value) <= 4294967295) {
      claims.push([kind, Number(value)]);
      continue;
    }
    reading.read++;
    if (isKind) counts[kind] = (counts[kind] as number) + 1;
    const range = /^\d{1,10}$/.test(value) ? rangeOf(kind, start, BigInt(value)) : null;
    const good =
      fields.length >= 7 &&
      range !== null &&
      (registry === "iana" || canHave(kind, range)) &&
      (header[1] === "nro" || registry === header[1] || registry === "iana") &&
      ["afrinic", "apnic", "arin", "iana", "lacnic", "ripencc"].includes(registry) &&
      /^([A-Z][A-Z])?$/.test(country) &&
      (date === "" || date === "00000000" || (isDay(date) && Number(date) <= Number(latest))) &&
      ["allocated", "assigned", "available", "reserved"].includes(status) &&
      id.length <= 256 &&
      !/[^ -~]/.test(id);
    if (!good) reading.bad++;
    else
      reading.records.push(
        [registry, country === "ZZ" ? "" : country, kind, range[0], range[1], date === "00000000" ? "" : date, status, id].join("|"),
      );
  }
  const told = new Map(claims);
  const off = (has: number, count: number) => has < count * (1 - countErrorMax) || has > count * (1 + countErrorMax);
  const cut = [...told].some(([kind, count]) => off(counts[kind] as number, count)) || off(reading.read, Number(header[3]));
  const unended = !text.endsWith("\n");
  reading.trusted = reading.records.length > 0 && reading.bad <= reading.read * badMax && !cut && !unended;
  return reading;
}

function rangeOf(kind: string, start: string, count: bigint): [bigint, bigint] | null {
  if (kind === "asn") return /^\d{1,10}$/.test(start) && BigInt(start) < 2n ** 32n ? bounded(BigInt(start), count, 32n) : null;
  if (kind === "ipv4") return isIPv4(start) ? bounded(addressValue(start), count, 32n) : null;
  if (kind !== "ipv6" || !isIPv6(start) || start.includes("%") || count < 1n || count > 128n) return null;
  const first = addressValue(start);
  const size = 2n ** (128n - count);
  return first % size === 0n ? [first, first + size - 1n] : null;
}

/** What a registry can have at most, as decimal numbers. */
function canHave(kind: string, [first, last]: [bigint, bigint]): boolean {
  const size = last - first + 1n;
  if (kind === "asn") return size <= 65_536n;
  const meets = (from: bigint, to: bigint) => first <= to && from <= last;
  const eighth = 2n ** 24n;
  if (kind === "ipv4")
    return size <= 2n ** 25n && ![0n, 10n, 127n].some((n) => meets(n * eighth, (n + 1n) * eighth - 1n)) && last < 224n * eighth;
  return first >= 2n ** 125n && last < 2n ** 126n && size <= 2n ** 117n;
}

function bounded(first: bigint, count: bigint, bits: bigint): [bigint, bigint] | null {
  return count > 0n && first + count <= 2n ** bits ? [first, first + count - 1n] : null;
}

function addressValue(text: string): bigint {
  if (isIPv4(text)) return text.split(".").reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  const { address } = new SocketAddress({ address: text, family: "ipv6" });
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const whole = dotted === null ? address : `${dotted[1]}${hexPair(dotted[2] as string)}`;
  const [left = "", right] = whole.split("::");
  const head = left.split(":").filter((group) => group !== "");
  const tail = (right ?? "").split(":").filter((group) => group !== "");
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n);
}

function hexPair(dotted: string): string {
  const value = addressValue(dotted);
  return `${(value >> 16n).toString(16)}:${(value & 65535n).toString(16)}`;
}

/** Of the same few thousand days most files have tens of thousands of records. */
const days = new Map<string, boolean>();

function isDay(text: string): boolean {
  const known = days.get(text);
  if (known !== undefined) return known;
  const is = readsAsDay(text);
  days.set(text, is);
  return is;
}

function readsAsDay(text: string): boolean {
  const match = /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  if (match === null || Number(match[1]) < 1900) return false;
  const iso = `${match[1]}-${match[2]}-${match[3]}`;
  const time = Date.parse(`${iso}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso);
}

function serialDay(serial: string): string | null {
  if (/^\d{8}$/.test(serial)) return isDay(serial) ? serial : null;
  return /^(\d{10}|\d{13})$/.test(serial) ? serial : null;
}
