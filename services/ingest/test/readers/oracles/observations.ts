/** A slow, obvious reading of observations, a JSON object in each line. */

import { linesSlowly } from "../../support/slow-text.ts";
import { placeOf, prefixOf } from "./geofeed.ts";
import { doubled } from "./json.ts";
import { fieldsOf } from "./lists.ts";

/** Unix seconds: later observations are of the future. */
export const obviousLatest = Date.parse("2030-01-01T00:00:00Z") / 1000;

const known = ["ip", "prefix", "lat", "lon", "accuracy_km", "country", "region", "city", "observed_at", "method"];

/** An observation as one line. */
export function obviousText(one: Readonly<Record<string, unknown>>): string {
  const { prefix, country, region, city, latitude, longitude, accuracyKm, observedAt } = one;
  const degrees = (value: unknown) => (typeof value === "number" ? String(Math.round(value * 1e4) / 1e4) : "-");
  return [prefix, country, region, city, degrees(latitude), degrees(longitude), accuracyKm, observedAt].join(" | ");
}

export function timeOf(text: unknown): number | null {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text)) return null;
  const day = text.slice(0, 10);
  if (Number(day.slice(0, 4)) < 1900 || new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) !== true) return null;
  const seconds = Date.parse(text.toUpperCase().replace(/\.\d+/, "")) / 1000;
  return Number.isNaN(seconds) || seconds < 0 || seconds > obviousLatest ? null : seconds;
}

function isNumber(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && value >= least && value <= most;
}

/** Null: a bad line. */
function observationOfJson(line: string): string | null {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    return null;
  }
  if (doubled(Buffer.from(line)).length > 0) return null;
  return observationOf(row as Record<string, unknown>);
}

function observationOf(row: Record<string, unknown>): string | null {
  if (row === null || typeof row !== "object" || Array.isArray(row) || Object.keys(row).some((name) => !known.includes(name))) return null;
  const told = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
  const { ip, prefix, lat, lon, accuracy_km: accuracy, country = "", region = "", city = "", method } = told;
  if ((ip === undefined) === (prefix === undefined) || (typeof ip === "string" && ip.includes("/"))) return null;
  const resource = ip ?? prefix;
  const of = typeof resource === "string" ? prefixOf(resource) : null;
  if (of === null || ![country, region, city].every((name) => typeof name === "string")) return null;
  const place = placeOf(["", country as string, region as string, city as string]);
  if (place === undefined) return null;
  const names = JSON.parse(place) ?? { country: null, region: null, city: null };
  const placed = lat !== undefined || lon !== undefined;
  if (placed && (!isNumber(lat, -90, 90) || !isNumber(lon, -180, 180) || (lat === 0 && lon === 0))) return null;
  if (!placed && names.country === null) return null;
  if (accuracy !== undefined && !isNumber(accuracy, 0, 20_038)) return null;
  if (method !== undefined && !(typeof method === "string" && /^[a-z][a-z0-9_-]{0,39}$/.test(method))) return null;
  const observedAt = timeOf(told.observed_at);
  if (observedAt === null) return null;
  const accuracyKm = accuracy === undefined ? null : Math.round((accuracy as number) * 10) / 10;
  return obviousText({ ...names, prefix: of, latitude: lat, longitude: lon, accuracyKm, observedAt });
}

/** In the order of their lines; undefined: not to be trusted. */
export function obviousObservations(bytes: Uint8Array, badMax: number): string[] | undefined {
  const read = linesSlowly(bytes)
    .filter((line) => line.trim() !== "")
    .map(observationOfJson);
  return trusted(read, bytes, badMax);
}

function trusted(read: readonly (string | null)[], bytes: Uint8Array, badMax: number): string[] | undefined {
  const good = read.filter((one) => one !== null);
  if (good.length === 0 || read.length - good.length > read.length * badMax || bytes.at(-1) !== 10) return undefined;
  return good;
}

/** As `obviousObservations`, of CSV. */
export function obviousObservationsCsv(bytes: Uint8Array, badMax: number): string[] | undefined {
  const [first, ...lines] = linesSlowly(bytes).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const header = first === undefined ? null : (fieldsOf(first)?.map((name) => name.toLowerCase()) ?? null);
  if (header === null || !header.includes("observed_at") || new Set(header).size < header.length) return undefined;
  if (header.some((name) => !known.includes(name))) return undefined;
  const read = lines.map((line) => {
    const fields = fieldsOf(line);
    if (fields === null || fields.length !== header.length) return null;
    const row: Record<string, unknown> = {};
    for (const [index, name] of header.entries()) {
      const text = fields[index] as string;
      const [whole = "", part = "0", ...more] = text.replace(/^-/, "").split(".");
      const isNumber =
        ["lat", "lon", "accuracy_km"].includes(name) && more.length === 0 && [whole, part].every((digits) => /^[0-9]+$/.test(digits));
      row[name] = text === "" ? null : isNumber ? Number(text) : text;
    }
    return observationOf(row);
  });
  return trusted(read, bytes, badMax);
}
