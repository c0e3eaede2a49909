/** A slow, obvious reading of PeeringDB's answers. */

import { isCountry } from "@netfacts/records";
import { mendedSlowly } from "../../support/slow-text.ts";
import { asNumber } from "./exports.ts";
import { doubled, isObject, isTorn, isWhole, type Members, parsed } from "./json.ts";
import { isName, oneLine, websiteOf } from "./lists.ts";

export interface AnswerReading {
  /** JSON of each record with its key, in the order of first appearance. */
  records: string[];
  asOf: number | null;
}

/** Members of which no record may have two. */
const names = {
  net: ["asn", "name", "org_id", "website", "info_type", "info_types", "status", "generated"],
  org: ["id", "asn", "name", "website", "country", "status", "generated", "org_id", "net_id", "ix_id", "ixlan_id", "fac_id"],
};

export function obviousAnswer(bytes: Uint8Array, kind: "net" | "org", badMax: number): AnswerReading | undefined {
  const document = parsed(bytes);
  if (!isObject(document)) return undefined;
  const twice = doubled(bytes);
  if (twice.some((pointer) => pointer === "/data" || pointer === "/meta")) return undefined;
  if (isTorn(twice, "/meta", names[kind])) return undefined;
  const { data, meta } = document;
  if (!Array.isArray(data)) return undefined;
  const records = new Map<number, string>();
  let bad = 0;
  for (const [at, item] of (data as unknown[]).entries()) {
    if (isObject(item) && typeof item.status === "string" && item.status !== "ok") continue;
    const found =
      isObject(item) && !isTorn(twice, `/data/${at}`, names[kind]) ? (kind === "net" ? networkOf(item) : organisationOf(item)) : null;
    if (found === null) bad++;
    else records.set(found.key, JSON.stringify(found));
  }
  if (records.size === 0 || bad > data.length * badMax) return undefined;
  const generated = isObject(meta) && typeof meta.generated === "number" ? Math.floor(meta.generated) : null;
  return { records: [...records.values()], asOf: isWhole(generated) ? generated : null };
}

const isTextOrNothing = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === "string";

function networkOf({ asn, name, org_id, website, info_type, info_types }: Members) {
  const key = asNumber(asn);
  const several = info_types ?? [];
  if (key === null || (org_id !== undefined && org_id !== null && !isWhole(org_id))) return null;
  if (!isTextOrNothing(name) || !isTextOrNothing(website) || !isTextOrNothing(info_type)) return null;
  if (!Array.isArray(several) || several.some((word) => typeof word !== "string")) return null;
  const text = oneLine(wholeLetters(mendedSlowly(name ?? "")));
  if (!isName(text)) return null;
  const words = [...new Set([info_type ?? "", ...(several as string[])].map(wordOf))].filter(
    (word) => word !== "" && word !== "not_disclosed",
  );
  return {
    key,
    name: text === "" ? null : text,
    org: typeof org_id === "number" ? org_id + 0 : null,
    website: websiteOf(mendedSlowly(website ?? "")),
    type: words.length === 0 ? null : `${words.slice(0, 8).join(" ")} ${words.length === 1 ? 0.8 : 0.5}`,
  };
}

function organisationOf({ id, asn, name, website, country }: Members) {
  if (asn !== undefined || !isWhole(id) || !isTextOrNothing(name) || !isTextOrNothing(website)) return null;
  const text = oneLine(wholeLetters(mendedSlowly(name ?? "")));
  if (text === "" || !isName(text)) return null;
  const code = typeof country === "string" ? country.toUpperCase() : "";
  return { key: id + 0, name: text, website: websiteOf(mendedSlowly(website ?? "")), ...(isCountry(code) && { country: code }) };
}

/** Each half of a character, which no UTF-8 can contain, as U+FFFD. */
const wholeLetters = (text: string): string => [...text].map((letter) => (/^[\ud800-\udfff]$/.test(letter) ? "\ufffd" : letter)).join("");

/** Runs of small letters and digits joined by underscores, from the first letter on, at most 40. */
function wordOf(type: string): string {
  const runs = type.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return runs
    .join("_")
    .replace(/^[0-9_]+/, "")
    .slice(0, 40);
}
