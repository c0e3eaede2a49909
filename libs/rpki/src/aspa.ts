/** Autonomous System Provider Authorization (draft-ietf-sidrops-aspa-profile): the providers that a customer AS authorises. */

export interface Aspa {
  readonly customer: number;
  /** AS numbers, ascending, each once; only 0: the customer has no provider. */
  readonly providers: readonly number[];
  /** Trust anchor, with the validator's name for it; null: not given. */
  readonly ta: string | null;
  /** Unix seconds; null: not given. */
  readonly expiresAt: number | null;
}
