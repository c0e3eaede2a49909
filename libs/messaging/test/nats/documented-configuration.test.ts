/** The files of nats-server as docs/operations/nats.md shows them, with passwords that look like numbers. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { connect } from "../../src/nats/connect.ts";
import { natsUsers } from "../../src/nats/rights.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/operations/nats.md"), "utf8");
const files = [...page.matchAll(/^```\n(.*?)^```$/gms)].map(([, text]) => text as string);
const jetstream = 'jetstream { store_dir: "/data" }\n';

let server: NatsServer | null = null;
afterEach(() => server?.stop());

test("a server takes them, with any password, and a password that was replaced after a reload", async () => {
  const [passwords = "", main = ""] = files;
  expect(main).toContain("include passwords.conf\n");
  expect(main).toContain(jetstream);
  // In one file, with the store of the test.
  const withPassword = (password: string) =>
    main.replace("include passwords.conf\n", passwords.replaceAll("…", password)).replace(jetstream, "");
  server = await startNatsServer({ own: true, jetstream: true, config: withPassword("2e59") });
  const { url } = server;
  const login = (user: string, password: string) =>
    connect({ servers: url, name: user, access: { NATS_USER: user, NATS_PASSWORD: password } });
  for (const user of natsUsers) await (await login(user, "2e59")).close();
  await server.reload(withPassword("1234567890"));
  for (const user of natsUsers) await (await login(user, "1234567890")).close();
}, 60_000);
