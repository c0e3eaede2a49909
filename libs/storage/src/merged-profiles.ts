/** Profiles as answers have them: the statements of sources about an AS, under the overrides of operators. */

import { setImmediate as othersTurn } from "node:timers/promises";
import type { ProfileRecord } from "./profile-repository.ts";
import { type StatedSection, type StatementRow, statedSections } from "./statement-repository.ts";
import { type ProfileField, profileFields, readStatements } from "./statements.ts";
import type { Store } from "./store.ts";

/** The name of overrides among sources. No source of a list may have this name. */
export const overrideSource = "override";

export interface SaidValue {
  /** Null: the source says that there is none. Several network types are one text, separated by spaces. */
  readonly value: string | null;
  /** Name of a source, or `override`. */
  readonly source: string;
  /** For a source the date of its data, for an override the time of the change: RFC 3339; null: unknown. */
  readonly asOf: string | null;
}

export interface MergedField extends SaidValue {
  readonly field: ProfileField;
  /** Other values that were given for it; the one that would apply next comes first. */
  readonly others: readonly SaidValue[];
}

export interface MergedProfile {
  readonly asn: number;
  readonly fields: readonly MergedField[];
  readonly override: ProfileRecord | null;
}

export interface MergedSearch {
  readonly limit: number;
  /** Only ASes after this AS number. */
  readonly after?: number;
  /** Case-insensitive text to find in the AS number, a value, a source, or the author of an override. */
  readonly text?: string;
  /** Only profiles with a value of this source, even an overridden one; with `field`: a value of that field. */
  readonly source?: string;
  /** Only profiles that have this field. */
  readonly field?: ProfileField;
}

export interface MergedPage {
  readonly profiles: readonly MergedProfile[];
  /** The next page begins after this AS; null: this is the last page. A page may have fewer profiles than asked for although there is a next one. */
  readonly next: number | null;
}

type Stores = Pick<Store, "profiles" | "statements">;
type Versions = ReadonlyMap<StatedSection, Readonly<Record<string, string | null>>>;

const pageSize = 250;
/** ASes that one page examines: a search for a rare text takes several pages, but no longer for each. */
const lookedAtMax = 10_000;

/** @returns null if no source and no operator describes the AS. @throws StoreError */
export async function mergedProfile(stores: Stores, asn: number): Promise<MergedProfile | null> {
  const [override, versions, ...rows] = await Promise.all([
    stores.profiles.get(asn),
    versionsOf(stores),
    ...statedSections.map((section) => stores.statements.list(section, 1, asn - 1)),
  ]);
  const own = rows.flatMap(([row], at) => (row?.asn === asn ? [[statedSections[at] as StatedSection, row.text] as const] : []));
  return override === null && own.length === 0 ? null : merged(asn, own, override, versions);
}

/** Searches in the order of AS numbers. Gives the thread to other work between its steps. @throws StoreError */
export async function searchMerged(stores: Stores, search: MergedSearch): Promise<MergedPage> {
  const { limit } = search;
  const versions = await versionsOf(stores);
  const found: MergedProfile[] = [];
  let after = search.after ?? -1;
  for (let lookedAt = 0; lookedAt < lookedAtMax; ) {
    const { profiles, isLast } =
      search.source === overrideSource ? await overriddenAfter(stores, after, versions) : await allAfter(stores, after, versions);
    for (const profile of profiles) {
      if (isWanted(profile, search)) found.push(profile);
      if (found.length > limit) return { profiles: found.slice(0, limit), next: found[limit - 1]?.asn ?? null };
    }
    if (isLast) return { profiles: found, next: null };
    after = profiles.at(-1)?.asn ?? after;
    lookedAt += profiles.length;
    await othersTurn();
  }
  return { profiles: found, next: after };
}

interface Step {
  readonly profiles: readonly MergedProfile[];
  readonly isLast: boolean;
}

async function allAfter({ profiles, statements }: Stores, after: number, versions: Versions): Promise<Step> {
  const [overrides, ...sections] = await Promise.all([
    profiles.list(pageSize, after),
    ...statedSections.map((section) => statements.list(section, pageSize, after)),
  ]);
  const lists: readonly (readonly { readonly asn: number }[])[] = [overrides, ...sections];
  // If a list is a full page, it may have more after its end.
  const ends = lists.flatMap((list) => (list.length < pageSize ? [] : [list.at(-1)?.asn as number]));
  const end = Math.min(...ends);
  const asns = [...new Set(lists.flat().map(({ asn }) => asn))].filter((asn) => asn <= end).sort((a, b) => a - b);
  const overrideOf = new Map(overrides.map((record) => [record.asn, record]));
  const textOf = sections.map((rows: readonly StatementRow[]) => new Map(rows.map(({ asn, text }) => [asn, text])));
  const found = asns.map((asn) => {
    const own = textOf.flatMap((texts, at) => {
      const text = texts.get(asn);
      return text === undefined ? [] : [[statedSections[at] as StatedSection, text] as const];
    });
    return merged(asn, own, overrideOf.get(asn) ?? null, versions);
  });
  return { profiles: found, isLast: ends.length === 0 };
}

/** A step over overrides only: they are few, and may be far apart. */
async function overriddenAfter(stores: Stores, after: number, versions: Versions): Promise<Step> {
  const overrides = await stores.profiles.list(pageSize, after);
  const found: MergedProfile[] = [];
  for (const override of overrides) {
    const rows = await Promise.all(statedSections.map((section) => stores.statements.list(section, 1, override.asn - 1)));
    const own = rows.flatMap(([row], at) => (row?.asn === override.asn ? [[statedSections[at] as StatedSection, row.text] as const] : []));
    found.push(merged(override.asn, own, override, versions));
  }
  return { profiles: found, isLast: overrides.length < pageSize };
}

async function versionsOf({ statements }: Stores): Promise<Versions> {
  const versions = await Promise.all(statedSections.map((section) => statements.version(section)));
  return new Map(statedSections.map((section, at) => [section, versions[at]?.asOf ?? {}]));
}

function merged(
  asn: number,
  rows: readonly (readonly [StatedSection, string])[],
  override: ProfileRecord | null,
  versions: Versions,
): MergedProfile {
  const said = new Map<ProfileField, SaidValue[]>(profileFields.map((field) => [field, []]));
  for (const [section, text] of rows)
    for (const { field, source, value } of readStatements(text))
      said.get(field)?.unshift({ value, source, asOf: versions.get(section)?.[source] ?? null });
  if (override !== null) {
    const asOf = new Date(override.updatedAt).toISOString();
    for (const [field, value] of Object.entries(override.profile)) {
      const text = Array.isArray(value) ? value.join(" ") : (value as string | null);
      said.get(field as ProfileField)?.unshift({ value: text, source: overrideSource, asOf });
    }
    // If the organisation is overridden, its country in the data does not apply: answers have none.
    const country = said.get("organisation_country");
    if (override.profile.organisation !== undefined && country !== undefined && country.length > 0)
      country.unshift({ value: null, source: overrideSource, asOf });
  }
  const fields = [...said].flatMap(([field, [first, ...others]]) => (first === undefined ? [] : [{ field, ...first, others }]));
  return { asn, fields, override };
}

function isWanted({ asn, fields, override }: MergedProfile, { text, source, field }: MergedSearch): boolean {
  const own = field === undefined ? fields : fields.filter((each) => each.field === field);
  if (field !== undefined && own.length === 0) return false;
  const said = own.flatMap((each) => [each, ...each.others]);
  if (source !== undefined && !said.some((each) => each.source === source)) return false;
  if (text === undefined) return true;
  const texts = [
    `AS${asn}`,
    override?.source,
    ...fields.flatMap((each) => [each, ...each.others]).flatMap((each) => [each.value, each.source]),
  ];
  const wanted = text.toLowerCase();
  return texts.some((each) => each?.toLowerCase().includes(wanted));
}
