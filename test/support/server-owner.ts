/** Owns the servers that the test files of a run share: starts each at the first request for it, and stops all after the run. */

import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Mongodb, startMongodb } from "./mongodb.ts";
import { type NatsServer, startNatsServer } from "./nats-server.ts";
import type { SharedServer } from "./shared-server.ts";

/** Most requests for NATS in a run. Each gets a new account, with its own subjects, streams and buckets. */
const natsAccountsMax = 200;
const natsPassword = "shared";

let listener: Server | undefined;
let mongodb: Promise<Mongodb> | undefined;
let nats: Promise<NatsServer> | undefined;

/** Starts no server yet. @returns the URL that `askForServer` uses. */
export async function startServerOwner(): Promise<string> {
  let accounts = 0;
  const servers: Readonly<Record<string, () => Promise<SharedServer>>> = {
    "/mongodb": async () => {
      mongodb ??= startMongodb({ own: true });
      const { url, kind } = await mongodb;
      return { url, kind };
    },
    "/nats": async () => {
      nats ??= startNatsServer({ own: true, jetstream: true, config: natsAccounts() });
      const { port } = await nats;
      const number = accounts++;
      if (number >= natsAccountsMax) throw new Error(`the shared nats-server has accounts for ${natsAccountsMax} requests only`);
      return { url: `nats://${natsUser(number)}:${natsPassword}@127.0.0.1:${port}`, kind: "nats-server" };
    },
  };
  listener = createServer((request, response) => {
    const start = servers[request.url ?? ""];
    if (start === undefined) return send(response, 404, "there is no such server");
    start().then(
      (server) => send(response, 200, JSON.stringify(server)),
      (error: Error) => send(response, 500, error.message),
    );
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

/** Does nothing if nothing was started. */
export async function stopServerOwner(): Promise<void> {
  listener?.close();
  listener?.closeAllConnections();
  // Ignore servers that did not start.
  const running = await Promise.all([mongodb, nats].map((server) => server?.catch(() => undefined)));
  await Promise.all(running.map((server) => server?.stop()));
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status).end(text);
}

function natsUser(number: number): string {
  return `file${number}`;
}

function natsAccounts(): string {
  const accounts = Array.from({ length: natsAccountsMax }, (_, number) => {
    const user = natsUser(number);
    return `${user}: { jetstream: enabled, users: [{ user: ${user}, password: ${natsPassword} }] }`;
  });
  return `accounts {\n${accounts.join("\n")}\n}\n`;
}
