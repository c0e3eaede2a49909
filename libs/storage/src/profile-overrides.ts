/** Operators' overrides of AS profiles, from any source: checks, audits and stores them. The caller checks permissions. */

import type { AuditAction } from "@netfacts/contracts";
import { KeySpecError, type Operator, type SpecFault, specFault } from "@netfacts/keys";
import type { ProfileRecord } from "./profile-repository.ts";
import type { Store } from "./store.ts";

/** Absent: not overridden; null: there is none, whatever the data say. */
export interface ProfileOverride {
  readonly name?: string | null;
  readonly organisation?: string | null;
  readonly website?: string | null;
  /** Best match first. */
  readonly network_types?: readonly string[] | null;
}

/** Limit of one installation: each run reads all overrides. */
export const overridesMax = 10_000;
/** The limits of the readers of sources: what is stored here must be readable there. */
const nameLettersMax = 256;
const websiteLettersMax = 255;
const typesMax = 8;

export class ProfileOverrides {
  readonly #store: Pick<Store, "profiles" | "audit">;
  readonly #now: () => number;

  constructor(store: Pick<Store, "profiles" | "audit">, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Replaces the override of the AS. The audit is written first.
   *
   * @throws KeySpecError for an override that says nothing or something impossible, or that exceeds the limit; StoreError.
   */
  async put(by: Operator, asn: number, override: ProfileOverride): Promise<ProfileRecord> {
    const faults = overrideFaults(override);
    if (faults.length > 0) throw new KeySpecError(faults);
    const { profiles } = this.#store;
    const before = await profiles.get(asn);
    if (before === null && (await profiles.state()).count >= overridesMax)
      throw new KeySpecError([specFault("asn", `cannot be overridden: ${overridesMax} ASes are, which is the limit; delete one first`)]);
    // Later than before even if the clock was set back: readers look for the latest time.
    const updatedAt = Math.max(this.#now(), (before?.updatedAt ?? 0) + 1);
    const record: ProfileRecord = { asn, profile: { ...override }, source: by.actor, updatedAt };
    await this.#note(by, "profile.put", asn, { from: before?.profile ?? null, to: record.profile });
    await profiles.put(record);
    return record;
  }

  /** @returns whether there was an override. @throws StoreError */
  async delete(by: Operator, asn: number): Promise<boolean> {
    const before = await this.#store.profiles.get(asn);
    if (before === null) return false;
    await this.#note(by, "profile.delete", asn, { from: before.profile, to: null });
    return this.#store.profiles.delete(asn);
  }

  async #note({ actor, address, keyId }: Operator, action: AuditAction, asn: number, details: object): Promise<void> {
    await this.#store.audit.append({ at: this.#now(), actor, action, target: `AS${asn}`, address, keyId, details });
  }
}

/** The faults of an override; empty if there are none. */
export function overrideFaults({ name, organisation, website, network_types }: ProfileOverride): SpecFault[] {
  const said = Object.entries({ name, organisation, website, network_types }).filter(([, value]) => value !== undefined);
  if (said.length === 0) return [specFault("profile", "says nothing: give a name, an organisation, a website or network types")];
  const faults: SpecFault[] = [];
  for (const [field, text] of Object.entries({ name, organisation }))
    if (text != null && !isName(text)) faults.push(specFault(field, `must be one line of 1 to ${nameLettersMax} letters, and not "-"`));
  if (website != null && !isWebsite(website))
    faults.push(specFault("website", `must be an http or https URL of at most ${websiteLettersMax} letters`));
  if (network_types != null && !areTypes(network_types))
    faults.push(specFault("network_types", `must be 1 to ${typesMax} different words of lowercase letters, digits and underscores`));
  return faults;
}

/** Readers remove marks of direction: something else must remain. */
function isName(text: string): boolean {
  return (
    text.trim() === text &&
    /[^\s\u202a-\u202e\u2066-\u2069]/.test(text) &&
    text.length <= nameLettersMax &&
    text !== "-" &&
    !/[\p{Cc}\p{Cs}]/u.test(text)
  );
}

function isWebsite(text: string): boolean {
  return text.length <= websiteLettersMax && /^https?:\/\/[^\s\p{Cc}\p{Cs}"<>\\]+$/iu.test(text) && URL.canParse(text);
}

function areTypes(words: readonly string[]): boolean {
  const isType = (word: string) => /^[a-z][a-z0-9_]{0,39}$/.test(word);
  return words.length >= 1 && words.length <= typesMax && new Set(words).size === words.length && words.every(isType);
}
