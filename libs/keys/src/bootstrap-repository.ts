/** The marker that makes the first key of an installation happen once (docs/design/protocols.md#keys). */

export interface BootstrapClaim {
  /** The id that the first key has, or must get when it is missing. */
  readonly keyId: string;
  /** Whether this call wrote the marker. */
  readonly created: boolean;
}

export interface BootstrapRepository {
  /** Writes the marker with this key id, unless there is one already; unique over all processes. */
  claim(keyId: string): Promise<BootstrapClaim>;
  /** The key id of the marker; null before the first claim. */
  read(): Promise<string | null>;
}
