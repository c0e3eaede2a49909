/** The holder and the origin of an address, and its RPKI state. */

import { NetfactsClient } from "@netfacts/client";

const netfacts = new NetfactsClient({ url: process.env.NETFACTS_URL ?? "http://127.0.0.1:8080", key: process.env.NETFACTS_KEY ?? "" });

const { allocation, routing, rpki } = await netfacts.ip(process.argv[2] ?? "193.0.6.139");
console.log(
  `${allocation?.registry ?? "nobody"} registered it, ${routing.prefix ?? "no prefix"} covers it, RPKI says ${rpki.state ?? "nothing"}`,
);
console.log(`${netfacts.limits?.month.remaining} requests are left this month`);
