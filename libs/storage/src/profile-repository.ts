/** The operator's AS profiles, which override the data. */

/** `updatedAt`: Unix milliseconds. */
export interface ProfileRecord {
  /** 32-bit AS number. */
  readonly asn: number;
  /** The overridden fields, as JSON. */
  readonly profile: Readonly<Record<string, unknown>>;
  /** Its origin: the name of a file, or the id of a key. */
  readonly source: string;
  readonly updatedAt: number;
}

export interface ProfileRepository {
  /** Inserts, or replaces the profile of this AS. */
  put(record: ProfileRecord): Promise<void>;
  get(asn: number): Promise<ProfileRecord | null>;
  /** In ascending order, starting after the AS `after`. */
  list(limit: number, after?: number): Promise<ProfileRecord[]>;
  /** The number of profiles, and a text that differs after every change. Cheap enough for some calls per second. */
  state(): Promise<{ readonly count: number; readonly version: string }>;
  /** @returns whether there was a profile. */
  delete(asn: number): Promise<boolean>;
}
