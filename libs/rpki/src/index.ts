/** Public names of @netfacts/rpki. */

export type { Aspa } from "./aspa.ts";
export { type AspaColumns, AspaSet, type EncodedAspas, encodeAspaColumns } from "./aspa-set.ts";
export { type InvalidReason, type OriginState, originStates, type StateWords, stateWords, type ValidityState } from "./origin-state.ts";
export { type Validity, validateOrigin } from "./validate-origin.ts";
export type { Vrp } from "./vrp.ts";
export { type EncodedVrps, encodeVrpColumns, type VrpColumns } from "./vrp-columns.ts";
export { type VrpRange, VrpSet } from "./vrp-set.ts";
