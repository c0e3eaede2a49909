/** Overrides of AS profiles that contain a text. There are few (`overridesMax`): a search reads them, some at a time. */

import { setImmediate as othersTurn } from "node:timers/promises";
import type { ProfileRecord, ProfileRepository } from "./profile-repository.ts";

export interface ProfileSearch {
  readonly limit: number;
  /** Behind this AS number. */
  readonly after?: number;
  /** In any case; absent: all. */
  readonly text?: string;
}

const pageSize = 250;

/** @returns in ascending order. Between its pages, the thread does what else waits. @throws StoreError */
export async function searchProfiles(
  profiles: Pick<ProfileRepository, "list">,
  { limit, after, text }: ProfileSearch,
): Promise<ProfileRecord[]> {
  if (text === undefined) return profiles.list(limit, after);
  const wanted = text.toLowerCase();
  const found: ProfileRecord[] = [];
  for (let place = after; ; ) {
    const page = await profiles.list(pageSize, place);
    found.push(...page.filter((record) => textsOf(record).some((each) => each.toLowerCase().includes(wanted))));
    if (page.length < pageSize || found.length >= limit) return found.slice(0, limit);
    place = page.at(-1)?.asn;
    await othersTurn();
  }
}

function textsOf({ asn, profile, source }: ProfileRecord): string[] {
  return [`AS${asn}`, source, ...Object.values(profile).flat().map(String)];
}
