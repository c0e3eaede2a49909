/** The form of the IPv4 index of routes, and the setting of every process that loads snapshots. */

import Type from "typebox";

/** See `PrefixTrieOptions`. "auto": direct if there are enough prefixes to be worth its memory. */
const ipv4IndexForms = ["auto", "direct", "compact"] as const;
export type Ipv4IndexForm = (typeof ipv4IndexForms)[number];

export const ipv4IndexConfig = {
  IPV4_INDEX: Type.Unsafe<Ipv4IndexForm>({
    type: "string",
    enum: [...ipv4IndexForms],
    default: "auto",
    description:
      "Index of IPv4 routes: direct (64 MiB), compact (256 KiB, slower), or auto: direct for a full table, compact for a small one",
  }),
};
