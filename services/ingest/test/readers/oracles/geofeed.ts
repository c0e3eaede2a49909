/** A slow, obvious reading of geofeeds (RFC 8805). */

import { formatPrefix, parseAddress, parsePrefix } from "@netfacts/address";
import { isCountry } from "@netfacts/records";
import { linesSlowly } from "../../support/slow-text.ts";
import { fieldsOf, isName, oneLine } from "./lists.ts";

export interface ObviousGeofeed {
  readonly asOf: number | null;
  readonly records: string[];
}

/** The prefix as text; null: a bad one. */
export function prefixOf(text: string): string | null {
  const address = parseAddress(text);
  const reading = parsePrefix(address === null ? text : `${text}/${address.version === 4 ? 32 : 128}`);
  if (!reading.ok) return null;
  const { version, length } = reading.prefix;
  return length < (version === 4 ? 8 : 12) ? null : formatPrefix(reading.prefix);
}

/** The place as JSON; undefined: a bad one. */
export function placeOf(fields: readonly string[]): string | undefined {
  const [country = "", region = ""] = fields.slice(1).map((field) => field.toUpperCase());
  const city = oneLine((fields[3] ?? "").replace(/[\u202a-\u202e\u2066-\u2069]/g, ""));
  if (!isName(city)) return undefined;
  if (country === "ZZ") return region === "" && city === "" ? "null" : undefined;
  if (country !== "" && !isCountry(country)) return undefined;
  const [first = "", second = "", ...more] = region.split("-");
  if (region !== "") {
    const isCode =
      second.length >= 1 && second.length <= 3 && second.split("").every((one) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".includes(one));
    if (more.length > 0 || !isCountry(first) || !isCode || (country !== "" && country !== first)) return undefined;
  }
  if (country === "" && region === "" && city === "") return "null";
  return JSON.stringify({ country: country || first || null, region: region || null, city: city || null });
}

/** The first time behind `lastupdated`, if that is a word; there may be one other sign in its middle. */
function timeOf(line: string): number | null {
  const isLetter = (one: string | undefined) => one !== undefined && /[A-Za-z0-9_]/.test(one);
  const text = line.toLowerCase();
  for (let at = text.indexOf("last"); at >= 0; at = text.indexOf("last", at + 1)) {
    const middle = [" ", "_", "-"].includes(text[at + 4] as string) ? 1 : 0;
    const end = at + middle + "lastupdated".length;
    if (text.slice(at + 4 + middle, end) !== "updated") continue;
    if (isLetter(line[at - 1]) || isLetter(line[end])) continue;
    const words = line.slice(end).split(/\s/);
    const time = words.find((word) => /^\d\d\d\d-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(word));
    const ms = time === undefined ? Number.NaN : Date.parse(time.toUpperCase().replace(/\.\d+/, ""));
    const day = time?.slice(0, 10) ?? "";
    const exists = Number(day.slice(0, 4)) >= 1900 && new Date(Date.parse(`${day}T00:00:00Z`)).toJSON()?.startsWith(day);
    return Number.isNaN(ms) || exists !== true ? null : ms / 1000;
  }
  return null;
}

/** Records in the order of first appearance; undefined: not to be trusted. */
export function obviousGeofeed(bytes: Uint8Array, badMax: number): ObviousGeofeed | undefined {
  const found = new Map<string, string>();
  let asOf: number | null = null;
  let read = 0;
  let bad = 0;
  for (const whole of linesSlowly(bytes)) {
    const line = /^(?:[^"#]|"[^"]*(?:"|$))*/.exec(whole)?.[0] ?? "";
    if (line.trim() === "" && read === 0 && asOf === null) asOf = timeOf(whole);
    if (line.trim() === "") continue;
    read++;
    const fields = fieldsOf(line);
    const prefix = fields === null ? null : prefixOf(fields[0] as string);
    const place = fields === null || prefix === null ? undefined : placeOf(fields);
    if (prefix === null || place === undefined) bad++;
    else if (!found.has(prefix)) found.set(prefix, place);
    else if (found.get(prefix) !== place) bad++;
  }
  if (found.size === 0 || bad > read * badMax || (bytes.length > 0 && bytes.at(-1) !== 10)) return undefined;
  return { asOf, records: [...found].map(([prefix, place]) => `${prefix} ${place}`) };
}
