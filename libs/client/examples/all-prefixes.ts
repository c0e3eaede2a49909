/** Every prefix of an AS, over any number of pages. */

import { NetfactsClient } from "@netfacts/client";

const netfacts = new NetfactsClient({ url: process.env.NETFACTS_URL ?? "http://127.0.0.1:8080", key: process.env.NETFACTS_KEY ?? "" });

for await (const { prefix, rpki_state } of netfacts.asnPrefixes(process.argv[2] ?? "AS3333", { limit: 1_000 }))
  console.log(prefix, rpki_state);
