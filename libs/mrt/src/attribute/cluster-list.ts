/** CLUSTER_LIST (RFC 4456 §8; malformed ones RFC 7606 §7.10). */

import type { Address } from "@netfacts/address";
import type { Attribute } from "./attribute.ts";

export const clusterList: Attribute = {
  type: 10,
  name: "CLUSTER_LIST",
  malformed: "discard",
  read(value, into) {
    const clusters: Address[] = [];
    while (value.left > 0) clusters.push(value.address(4));
    into.clusterList = clusters;
  },
};
