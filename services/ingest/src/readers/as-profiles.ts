/** The facts that sources give about an AS besides its name, and how their fields are read. */

/** One AS in a source. Undefined: the source says nothing about it; null: it says that there is none. */
export interface ProfileRecord {
  readonly asn: number;
  readonly name?: string | null;
  readonly organisation?: string | null;
  /** PeeringDB's number of the organisation, whose name and website are in another file. */
  readonly orgId?: number;
  readonly website?: string | null;
  /** `also`: further types; absent if there are none. */
  readonly networkType?: { readonly type: string; readonly confidence: number; readonly also?: readonly string[] } | null;
}

/** The longest published names have about 140 letters. */
export const nameLettersMax = 256;
const websiteLettersMax = 255;

/** These marks change the direction of all text after them, also beyond the name. */
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * A name in one line, without marks of direction; null if the text cannot be a name. Half of a character, which JSON can contain (`"\ud83d"`), becomes
 * U+FFFD: sections are UTF-8, which cannot store it.
 */
export function readName(text: string): string | null {
  const name = text.toWellFormed().replace(directionMarks, "").replace(/\s+/g, " ").trim();
  return name.length > nameLettersMax || /\p{Cc}/u.test(name) ? null : name;
}

/** An http or https URL as written; null for anything else. */
export function readWebsite(text: string): string | null {
  const website = text.trim();
  if (website.length > websiteLettersMax || !/^https?:\/\/[^\s\p{Cc}\p{Cs}"<>\\]+$/iu.test(website)) return null;
  return URL.canParse(website) ? website : null;
}

/** A network type is one word of lowercase letters, digits and underscores. */
export function isNetworkType(text: string): boolean {
  return /^[a-z][a-z0-9_]{0,39}$/.test(text);
}
