/** What the operator says of autonomous systems, over what the data say. */

/** `updatedAt`: Unix milliseconds. */
export interface ProfileRecord {
  /** 32-bit AS number. */
  readonly asn: number;
  /** The fields that are overridden, as JSON. */
  readonly profile: Readonly<Record<string, unknown>>;
  /** Where it is from: a file's name, a key's id. */
  readonly source: string;
  readonly updatedAt: number;
}

export interface ProfileRepository {
  /** Inserts, or replaces what there was of this AS. */
  put(record: ProfileRecord): Promise<void>;
  get(asn: number): Promise<ProfileRecord | null>;
  /** In ascending order, from the AS after `after` on. */
  list(limit: number, after?: number): Promise<ProfileRecord[]>;
  /** How many there are, and a text that differs after every change. Cheap enough to be asked for some times a second. */
  state(): Promise<{ readonly count: number; readonly version: string }>;
  /** @returns whether there was one. */
  delete(asn: number): Promise<boolean>;
}
