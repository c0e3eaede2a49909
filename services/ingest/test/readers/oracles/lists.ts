/** Slow, obvious readings of lists that have a record in each line: names, and what operators write. */

import { formatPrefix, parseAddress, parseAsn, parsePrefix } from "@netfacts/address";
import { linesSlowly } from "../../support/slow-text.ts";

export const oneLine = (text: string): string =>
  text
    .split(/\s/)
    .filter((word) => word !== "")
    .join(" ");

export const isName = (text: string): boolean =>
  text.length <= 256 && !text.split("").some((letter) => letter < " " || (letter >= "\x7f" && letter <= "\x9f"));

export function websiteOf(text: string): string | null {
  const url = text.trim();
  const scheme = /^https?:\/\//i.exec(url)?.[0];
  if (scheme === undefined || url.length === scheme.length || url.length > 255) return null;
  if ([...url].some((letter) => '"<>\\'.includes(letter) || /^[\ud800-\udfff]$/.test(letter) || /\s/.test(letter) || !isName(letter)))
    return null;
  try {
    return new URL(url) && url;
  } catch {
    return null;
  }
}

/** Fields of a line of comma-separated values, letter by letter; null where its quotes are wrong. */
export function fieldsOf(line: string): string[] | null {
  const fields: string[] = [];
  for (let at = 0; ; at++) {
    let start = at;
    while (line[start] === " " || line[start] === "\t") start++;
    let field = "";
    if (line[start] === '"') {
      at = start + 1;
      for (; at < line.length && !(line[at] === '"' && line[at + 1] !== '"'); at++) {
        field += line[at];
        if (line[at] === '"') at++;
      }
      if (at >= line.length) return null;
      for (at++; line[at] === " " || line[at] === "\t"; ) at++;
      if (at < line.length && line[at] !== ",") return null;
    } else {
      for (; at < line.length && line[at] !== ","; at++) field += line[at];
      if (field.includes('"')) return null;
      field = field.trim();
    }
    fields.push(field);
    if (at >= line.length) return fields;
  }
}

/** Records by key in the order of first appearance; undefined: not to be trusted. `read` answers null for a bad one, "" for one left out. */
function records<T>(rows: readonly T[], badMax: number, read: (row: T) => { key: string; text: string } | null | ""): string[] | undefined {
  const found = new Map<string, string>();
  let bad = 0;
  for (const row of rows) {
    const record = read(row);
    if (record === null) bad++;
    else if (record !== "") found.set(record.key, record.text);
  }
  return found.size === 0 || bad > rows.length * badMax ? undefined : [...found.values()];
}

const isCut = (bytes: Uint8Array) => bytes.length > 0 && bytes[bytes.length - 1] !== 10;

const isContent = (line: string) => line.trim() !== "" && !line.startsWith("#");

/** No fraction: `13335.0` is none of the numbers that anybody has in asdot. */
function listedAsn(text: string): number | null {
  const [high, low] = text.replace(/^as/i, "").split(".");
  return low === "0" && Number(high) >= 64 && Number(high) <= 64_085 ? null : parseAsn(text);
}

/** `asn name country`, in the order of first appearance. */
export function obviousNames(bytes: Uint8Array, kind: "name-list" | "autnums", badMax: number): string[] | undefined {
  const names = new Map<number, string>();
  const good = records(linesSlowly(bytes).filter(isContent), badMax, (line) => {
    const at = kind === "name-list" ? line.indexOf("\t") : line.search(/[ \t]/);
    if (at < 0 || (kind === "autnums" && (!/^(AS)?\d[\d.]*$/.test(line.slice(0, at)) || /[\r\n\u2028\u2029]/.test(line)))) return null;
    const asn = listedAsn(line.slice(0, at).trim());
    const name = oneLine(line.slice(at + 1));
    if (asn === null || !isName(name)) return null;
    if (kind === "name-list" && line.slice(at).trim().includes("\t")) return null;
    const bare = name.replace(/, ?[A-Z]{2}$/i, "");
    const isPlaceholder = [name, bare].some(
      (text) => text.toUpperCase() === `AS${asn}` || (text.length > 1 && text.startsWith("-") && text.endsWith("-")),
    );
    if (name === "" || isPlaceholder) return "";
    names.set(asn, name);
    return { key: String(asn), text: "" };
  });
  // Potaroo's list ends with a placeholder and no line break.
  const last = linesSlowly(bytes).at(-1) ?? "";
  const ends = kind === "autnums" && last.endsWith("-") && [" -", "\t-"].some((begin) => last.slice(0, -1).includes(begin));
  if (good === undefined || (isCut(bytes) && !ends)) return undefined;
  const numbers = [...names.values()].filter((name) => [...name].every((letter) => "0123456789.,".includes(letter))).length;
  if (2 * numbers > names.size) return undefined;
  const countries = [...names.values()].filter((name) => /\S, ?[A-Z]{2}$/.test(name)).length;
  return [...names].map(([asn, name]) => {
    const end = countries >= names.size * 0.9 ? /^(.*\S), ?([A-Z]{2})$/.exec(name) : null;
    return `${asn} ${end?.[1] ?? name} ${end === null || end[2] === "ZZ" ? null : end[2]}`;
  });
}

/** Rows by the names of the first line; null: a row that has another number of fields. Undefined: no such first line. */
function rowsOf(lines: readonly string[], needed: string[], known: string[]): (Record<string, string> | null)[] | undefined {
  const [first, ...rest] = lines;
  const header = first === undefined ? null : (fieldsOf(first)?.map((name) => name.toLowerCase()) ?? null);
  if (header === null || !needed.every((name) => header.includes(name)) || header.some((name) => !known.includes(name))) return undefined;
  if (new Set(header).size < header.length) return undefined;
  return rest.map((line) => {
    const fields = fieldsOf(line);
    return fields?.length !== header.length ? null : Object.fromEntries(header.map((name, index) => [name, fields[index] as string]));
  });
}

/** Different words, at most eight; null for anything else. */
function typesOf(text: string): string | null {
  const words = text
    .trim()
    .split(" ")
    .filter((word, at, all) => word !== "" && all.indexOf(word) === at);
  return words.length >= 1 && words.length <= 8 && words.every((word) => /^[a-z][a-z0-9_]{0,39}$/.test(word)) ? words.join(" ") : null;
}

/** JSON of each override: undefined members say nothing, null that there is none. */
export function obviousOverrides(bytes: Uint8Array, badMax: number): string[] | undefined {
  const lines = linesSlowly(bytes).filter(isContent);
  const rows = rowsOf(lines, ["asn"], ["asn", "name", "organisation", "website", "network_type"]);
  if (isCut(bytes)) return undefined;
  // The first line stays when the last correction is removed.
  if (rows?.length === 0) return [];
  return (
    rows &&
    records(rows, badMax, (row) => {
      const asn = row === null ? null : listedAsn(row.asn ?? "");
      if (row === null || asn === null) return null;
      const told: Record<string, unknown> = { asn };
      for (const name of ["name", "organisation", "website", "network_type"]) {
        const text = (row[name] ?? "").trim();
        if (text === "") continue;
        const value = name === "website" ? websiteOf(text) : name === "network_type" ? typesOf(text) : oneLine(text);
        if (text !== "-" && (value === null || !isName(value))) return null;
        told[name] = text === "-" ? null : value;
      }
      return { key: String(asn), text: JSON.stringify(told) };
    })
  );
}

/** `resource type confidence`. */
export function obviousTypes(bytes: Uint8Array, badMax: number): string[] | undefined {
  const lines = linesSlowly(bytes).filter(isContent);
  const rows = rowsOf(lines, ["resource", "network_type"], ["resource", "network_type", "confidence"]);
  if (isCut(bytes)) return undefined;
  if (rows?.length === 0) return [];
  return (
    rows &&
    records(rows, badMax, (row) => {
      const types = row === null ? null : typesOf(row.network_type ?? "");
      if (row === null || types === null) return null;
      const text = row.resource ?? "";
      const reading = parsePrefix(text);
      const address = parseAddress(text);
      const asn = listedAsn(text);
      const key = reading.ok
        ? formatPrefix(reading.prefix)
        : address !== null
          ? formatPrefix({ ...address, length: address.version === 4 ? 32 : 128 })
          : reading.fault !== "host-bits" && asn !== null
            ? `AS${asn}`
            : null;
      const told = row.confidence ?? "";
      const share = told === "" ? 1 : /^\d{1,3}(\.\d{1,6})?%?$/.test(told) ? Number.parseFloat(told) / (told.endsWith("%") ? 100 : 1) : 2;
      return key === null || share > 1 ? null : { key, text: `${key} ${types} ${share}` };
    })
  );
}

/** `prefix-maxLength AS ta expiry`, in the order of first appearance. */
export function obviousVrpCsv(bytes: Uint8Array, badMax: number): string[] | undefined {
  const lines = Buffer.from(bytes)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line.trim() !== "");
  const anything = fieldsOf(lines[0] ?? "")?.map((name) => name.toLowerCase()) ?? [];
  const rows = rowsOf(lines, ["asn", "ip prefix", "max length", "trust anchor"], anything);
  if (rows === undefined || isCut(bytes)) return undefined;
  const kept = new Map<string, { text: string; expires: number }>();
  let bad = 0;
  for (const row of rows) {
    const vrp = row === null ? null : vrpOf(row);
    if (vrp === null) bad++;
    else if (vrp.expires > (kept.get(vrp.key)?.expires ?? -1)) kept.set(vrp.key, vrp);
  }
  return kept.size === 0 || bad > rows.length * badMax ? undefined : [...kept.values()].map(({ text }) => text);
}

function vrpOf(row: Record<string, string>): { key: string; text: string; expires: number } | null {
  const asn = /^(as)?\d{1,10}$/i.test(row.asn ?? "") ? Number((row.asn ?? "").replace(/^as/i, "")) : -1;
  const reading = parsePrefix(row["ip prefix"] ?? "");
  if (asn < 0 || asn > 0xffff_ffff || !reading.ok) return null;
  const { prefix } = reading;
  const whole = (text: string, otherwise: number) => (text === "" ? otherwise : /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN);
  const most = whole(row["max length"] ?? "", Number.NaN);
  const expires = row.expires === "0" ? Number.NaN : whole(row.expires ?? "", 0);
  const ta = row["trust anchor"] ?? "";
  if (!(most >= prefix.length && most <= (prefix.version === 4 ? 32 : 128)) || !(expires >= 0 && expires <= 0xffff_ffff)) return null;
  // "00" is a zero too.
  if ((expires === 0 && (row.expires ?? "") !== "") || ta.length > 64 || /\p{Cc}/u.test(ta)) return null;
  const key = `${formatPrefix(prefix)}-${most} ${asn}`;
  return { key, text: `${key} ${ta === "" || ta === "N/A" ? null : ta} ${expires === 0 ? null : expires}`, expires };
}
