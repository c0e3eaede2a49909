/** Autonomous System Provider Authorization (draft-ietf-sidrops-aspa-profile): whom a customer AS names as its providers. */

export interface Aspa {
  readonly customer: number;
  /** AS numbers, ascending, each once; 0 alone says that the customer has no provider. */
  readonly providers: readonly number[];
  /** Trust anchor, as the validator names it; null where the source does not tell. */
  readonly ta: string | null;
  /** Unix seconds; null where the source does not tell. */
  readonly expiresAt: number | null;
}
