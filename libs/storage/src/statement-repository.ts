/** What sources say of autonomous systems, as the last runs of ingest read it: derived data, which the next runs make again. */

/** Sections of the snapshot whose sources describe ASes. Only appended to: the place of a section is part of keys in the store. */
export const statedSections = ["allocations", "as_names", "profiles"] as const;
export type StatedSection = (typeof statedSections)[number];

/** `text`: what the sources of the section say of this AS (`statementsText`). */
export interface StatementRow {
  /** 32-bit AS number. */
  readonly asn: number;
  readonly text: string;
}

/** Which import the rows of a section are from. */
export interface StatedVersion {
  /** Another one says that rows may have changed. */
  readonly version: string;
  /** By source: the date of its data in RFC 3339; null: unknown. */
  readonly asOf: Readonly<Record<string, string | null>>;
}

export interface StatementRepository {
  /** In ascending order, from the AS after `after` on. */
  list(section: StatedSection, limit: number, after?: number): Promise<StatementRow[]>;
  /** Inserts, replaces, and removes rows whose text is null. Not atomic, and for one writer: repeat it where it failed. At most 1,000 rows. */
  write(section: StatedSection, rows: readonly { readonly asn: number; readonly text: string | null }[]): Promise<void>;
  /** Null: nothing of the section was ever stored whole. */
  version(section: StatedSection): Promise<StatedVersion | null>;
  setVersion(section: StatedSection, version: StatedVersion): Promise<void>;
}
