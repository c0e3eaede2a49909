/**
 * A copy of a service for tests: `copy-process.ts URL NAME MS SERVICE` answers each question with its name, after so many ms. After
 * the message "hold" it answers none. To any other message it answers with the questions that came since the message before.
 */

import { createNatsMessaging } from "../../src/nats/index.ts";
import { reply } from "../contract/items.ts";

const [servers = "", name = "", ms = "0", service = "pod"] = process.argv.slice(2);
const messaging = await createNatsMessaging({ servers, name });
let questions = 0;
let holds = false;
await messaging.serve(service, async ({ items }, answer) => {
  questions += items.length;
  if (holds) return new Promise<void>(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, Number(ms)));
  for (const index of items.keys()) answer(index, reply(name));
});
process.on("message", (message) => {
  if (message === "hold") {
    holds = true;
    return;
  }
  process.send?.(questions);
  questions = 0;
});
process.send?.("serves");
