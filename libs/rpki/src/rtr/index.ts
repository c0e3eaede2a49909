/** Public names of @netfacts/rpki/rtr: the router's side of the RPKI to Router protocol. */

export { defaultIntervals } from "./intervals.ts";
export {
  type Pdu,
  pduBytesMax,
  pduTypes,
  type RtrErrorCode,
  type RtrIntervals,
  type RtrVersion,
  rtrErrors,
} from "./pdu.ts";
export { RtrDecoder, RtrPduError } from "./pdu-decoder.ts";
export { encodePdu } from "./pdu-encoder.ts";
export { RtrSession } from "./session.ts";
export { type RtrAction, type RtrFailure, type RtrSessionSettings, rtrSessionDefaults } from "./session-actions.ts";
export { type VrpChange, type VrpDelta, type VrpRecords, VrpTable, vrpsOf } from "./vrp-table.ts";
