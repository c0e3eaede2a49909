/** A user of NATS whose rights are of an older release: what it may not do fails at once, and everything else works. */

import { expect, test } from "@jest/globals";
import { startNatsServer } from "../../../../test/support/nats-server.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";
import { echo, item } from "../contract/items.ts";

test.each([
  ["publish", 'publish: { deny: ["nf.f1.newer.>", "nf.c1.newer"] }'],
  ["subscribe", 'subscribe: { deny: ["nf.f1.newer.>", "nf.c1.newer"] }'],
])("may not %s for a service that it does not know", async (what, permission) => {
  const users = `{ user: "u", password: "p", permissions: { ${permission} } }, { user: "all", password: "p" }`;
  const server = await startNatsServer({ own: true, config: `authorization { users: [${users}] }` });
  const open = (user: string) => createNatsMessaging({ servers: server.url, name: user, access: { NATS_USER: user, NATS_PASSWORD: "p" } });
  const [older, newer] = [await open("u"), await open("all")];
  try {
    await older.serve("known", echo);
    if (what === "subscribe") await expect(older.serve("newer", echo)).rejects.toThrow("does not allow this connection to serve newer");
    else await newer.serve("newer", echo);
    const asker = what === "subscribe" ? newer : older;
    const ask = (service: string) => asker.request(service, "single", item("192.0.2.1", { budgetMs: 60_000 }));
    const begun = performance.now();
    await expect(ask("newer")).rejects.toMatchObject({ code: "no_responders" });
    // Not by the retry at half the budget.
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect((await ask("known")).status).toBe(200);
  } finally {
    await older.close();
    await newer.close();
    await server.stop();
  }
});
