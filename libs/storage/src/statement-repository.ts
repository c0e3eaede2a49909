/** Statements of sources about ASes, from the last ingest runs: derived data, which the next runs build again. */

/** Sections of the snapshot whose sources describe ASes. Only append: the index of a section is part of keys in the store. */
export const statedSections = ["allocations", "as_names", "profiles"] as const;
export type StatedSection = (typeof statedSections)[number];

/** `text`: the statements of the section's sources about this AS (`statementsText`). */
export interface StatementRow {
  /** 32-bit AS number. */
  readonly asn: number;
  readonly text: string;
}

/** The import that the rows of a section come from. */
export interface StatedVersion {
  /** A different version means that rows may have changed. */
  readonly version: string;
  /** For each source the date of its data in RFC 3339; null: unknown. */
  readonly asOf: Readonly<Record<string, string | null>>;
}

export interface StatementRepository {
  /** In ascending order, starting after the AS `after`. */
  list(section: StatedSection, limit: number, after?: number): Promise<StatementRow[]>;
  /**
   * Inserts and replaces rows, and removes those whose text is null. Not atomic, and for a single writer: repeat it after a failure. At most 1,000
   * rows.
   */
  write(section: StatedSection, rows: readonly { readonly asn: number; readonly text: string | null }[]): Promise<void>;
  /** Null: no import of the section was stored completely yet. */
  version(section: StatedSection): Promise<StatedVersion | null>;
  setVersion(section: StatedSection, version: StatedVersion): Promise<void>;
}
