/** What sources say of an AS beside its name, and how its fields are read. */

/** One AS as a source has it; undefined: it says nothing, null: it says that there is none. */
export interface ProfileRecord {
  readonly asn: number;
  readonly name?: string | null;
  readonly organisation?: string | null;
  /** PeeringDB's number of the organisation, whose name and website stand in another file. */
  readonly orgId?: number;
  readonly website?: string | null;
  /** `also`: further types; absent if there are none. */
  readonly networkType?: { readonly type: string; readonly confidence: number; readonly also?: readonly string[] } | null;
}

/** The longest published names have some 140 letters. */
export const nameLettersMax = 256;
const websiteLettersMax = 255;

/** They turn the direction of the text behind them, also of what is not part of the name. */
const directionMarks = /[\u202a-\u202e\u2066-\u2069]/g;

/** A name in one line, without marks of direction; text that is none as null. */
export function readName(text: string): string | null {
  const name = text.replace(directionMarks, "").replace(/\s+/g, " ").trim();
  return name.length > nameLettersMax || /\p{Cc}/u.test(name) ? null : name;
}

/** An http or https URL as it stands; null for anything else. */
export function readWebsite(text: string): string | null {
  const website = text.trim();
  if (website.length > websiteLettersMax || !/^https?:\/\/[^\s\p{Cc}"<>\\]+$/iu.test(website)) return null;
  return URL.canParse(website) ? website : null;
}

/** A network type is one word of small letters, digits and underscores. */
export function isNetworkType(text: string): boolean {
  return /^[a-z][a-z0-9_]{0,39}$/.test(text);
}
