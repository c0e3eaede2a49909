/** The marker that makes sure that an installation gets its first key only once (docs/design/protocols.md#keys). */

export interface BootstrapClaim {
  /** The id of the first key; if that key is missing, it must be created with this id. */
  readonly keyId: string;
  /** Whether this call wrote the marker. */
  readonly created: boolean;
}

export interface BootstrapRepository {
  /** Writes the marker with this key id, unless there is one already; atomic over all processes. */
  claim(keyId: string): Promise<BootstrapClaim>;
  /** The key id of the marker; null before the first claim. */
  read(): Promise<string | null>;
}
