/** A copy of a service for tests: `copy-process.ts URL NAME MS SERVICE` answers each question with its name, after so many ms. */

import { createNatsMessaging } from "../../src/nats/index.ts";
import { reply } from "../contract/items.ts";

const [servers = "", name = "", ms = "0", service = "pod"] = process.argv.slice(2);
const messaging = await createNatsMessaging({ servers, name });
await messaging.serve(service, async ({ items }, answer) => {
  await new Promise((resolve) => setTimeout(resolve, Number(ms)));
  for (const index of items.keys()) answer(index, reply(name));
});
process.send?.("serves");
