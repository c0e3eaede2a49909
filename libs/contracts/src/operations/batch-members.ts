/** Members that several kinds of batch questions share. */

import Type from "typebox";
import { member } from "../schema.ts";
import { listLimitMax } from "./list-limits.ts";

export const limitMember = Type.Optional(
  member(Type.Integer({ minimum: 1, maximum: listLimitMax }), "Maximum number of items of the lists that the route limits. Default: 100."),
);
export const addressMember = member(Type.String(), "An IPv4 or IPv6 address.");
export const asnMember = member(
  Type.Unsafe<string | number>({ type: ["string", "integer"] }),
  "AS number as `AS3333`, `3333`, asdot, or an integer.",
);
export const prefixMember = member(Type.String(), "A prefix in CIDR form, without host bits.");

/** @param list  the list that the member filters. */
export function familyMember(list: string) {
  return Type.Optional(member(Type.Unsafe<4 | 6>({ type: "integer", enum: [4, 6] }), `Returns only ${list} of this IP version.`));
}
