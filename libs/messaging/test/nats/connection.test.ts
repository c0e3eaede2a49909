/** The connection to NATS: waited for, lost under load, and back by itself; what is asked meanwhile fails soon and never hangs. */

import { afterEach, expect, test } from "@jest/globals";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import type { FrameHandler, Messaging } from "../../src/index.ts";
import { connect } from "../../src/nats/connect.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";
import { item, reply, textOf } from "../contract/items.ts";
import { pause, until } from "./support.ts";

const ends: { close?(): Promise<unknown>; stop?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await (end.close?.() ?? end.stop?.());
});

async function start(options: Parameters<typeof startNatsServer>[0] = {}): Promise<NatsServer> {
  const server = await startNatsServer({ own: true, ...options });
  ends.push(server);
  return server;
}

async function open(servers: string): Promise<Messaging> {
  const messaging = await createNatsMessaging({ servers, name: "test" });
  ends.push(messaging);
  return messaging;
}

const echo: FrameHandler = ({ items }, answer) => {
  for (const [index, { query }] of items.entries()) answer(index, reply(query));
};

test("a server that is not there yet is waited for", async () => {
  const { port, stop } = await startNatsServer({ own: true });
  await stop();
  const opening = createNatsMessaging({ servers: `nats://127.0.0.1:${port}`, name: "early" });
  await pause(700);
  await start({ port });
  const messaging = await opening;
  ends.push(messaging);
  await messaging.serve("echo", echo);
  expect(textOf(await messaging.request("echo", "single", item("q")))).toBe("q");
});

test("the credentials come with the URL", async () => {
  const server = await start({ config: 'authorization { users: [{ user: "ip-routing", password: "p@ss:word" }] }' });
  const url = server.url.replace("//", "//ip-routing:p%40ss%3Aword@");
  const connection = await connect({ servers: url, name: "a service" });
  ends.push(connection);
  await connection.flush();
  expect(connection.info?.client_id).toBeGreaterThan(0);
  await expect(connect({ servers: "nats://", name: "x" })).rejects.toThrow(TypeError);
});

test("whoever may not serve is told so at its start, and the log names the subject", async () => {
  const users = '{ user: "u", password: "p", permissions: { subscribe: ["_INBOX.>"] } }';
  const server = await start({ config: `authorization { users: [${users}] }` });
  const told: string[] = [];
  const messaging = await createNatsMessaging({
    servers: server.url,
    name: "test",
    access: { NATS_USER: "u", NATS_PASSWORD: "p" },
    onError: (what, cause) => told.push(`${what}: ${(cause as Error).message}`),
  });
  ends.push(messaging);
  await expect(messaging.serve("echo", echo)).rejects.toThrow("permissions");
  expect(told).toContainEqual(expect.stringContaining("NATS does not permit this user to subscribe to nf.f1.echo.single"));
});

test("while there is no connection, questions wait 250 ms and then fail, and nothing is sent later", async () => {
  const server = await start();
  const messaging = await open(server.url);
  const seen: string[] = [];
  await messaging.serve("echo", (frame, answer) => {
    seen.push(...frame.items.map(({ query }) => query));
    return echo(frame, answer);
  });
  const told: boolean[] = [];
  messaging.watchConnection((up) => told.push(up));
  await server.stop();
  await until(() => told.length === 2);

  const begun = performance.now();
  const ran = startRunningTime();
  await expect(messaging.request("echo", "single", item("down"))).rejects.toMatchObject({ code: "not_connected" });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(250);
  expect(ran()).toBeLessThan(2_500);
  messaging.publish("keys.changed", "lost");

  await start({ port: server.port });
  await until(() => told.length === 3);
  expect(told).toEqual([true, false, true]);
  expect(textOf(await messaging.request("echo", "single", item("up")))).toBe("up");
  expect(seen).toEqual(["up"]);
});

test("what still waits when the connection comes back is answered", async () => {
  const server = await start();
  const messaging = await open(server.url);
  await messaging.serve("echo", echo);
  let up = true;
  messaging.watchConnection((now) => {
    up = now;
  });
  await server.stop();
  await until(() => !up);
  let answered = 0;
  // Whatever is asked in the last 250 ms before it comes back.
  const asking = setInterval(async () => {
    if (!up)
      answered += await messaging
        .request("echo", "single", item("q"))
        .then(() => 1)
        .catch(() => 0);
  }, 20);
  await start({ port: server.port });
  await until(() => up);
  clearInterval(asking);
  await until(() => answered > 0);
});

test("a server that is stopped and started again under load: no wrong answer, none without end, and all is well afterwards", async () => {
  const server = await start();
  const pods = await Promise.all([open(server.url), open(server.url)]);
  for (const pod of pods) await pod.serve("echo", echo);
  const asker = await open(server.url);
  const outcomes: Record<string, number> = {};
  let longest = 0;
  let wrong = 0;
  let count = 0;
  const asked: Promise<void>[] = [];
  const ask = async (): Promise<string> => {
    const query = `${++count}`;
    const begun = performance.now();
    let outcome: string;
    try {
      const answer = await asker.request("echo", count % 3 === 0 ? "batch" : "single", item(query, { budgetMs: 1_500 }));
      outcome = "answered";
      if (textOf(answer) !== query) wrong += 1;
    } catch (error) {
      outcome = (error as { code: string }).code;
    }
    longest = Math.max(longest, performance.now() - begun);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    return outcome;
  };
  const load = setInterval(() => {
    for (let i = 0; i < 20; i++) asked.push(ask().then(() => {}));
  }, 5);
  // A machine that is busy otherwise asks less often.
  const has = (outcome: string) => until(() => (outcomes[outcome] ?? 0) > 100);
  await pause(300);
  await has("answered");
  await server.stop();
  await pause(800);
  await has("not_connected");
  await start({ port: server.port });
  await until(async () => (await ask()) === "answered");
  await pause(300);
  clearInterval(load);
  await Promise.all(asked);
  expect(wrong).toBe(0);
  expect(longest).toBeLessThan(6_000);
  expect(
    Object.keys(outcomes).every((code) => ["answered", "not_connected", "timeout", "no_responders", "overloaded"].includes(code)),
  ).toBe(true);
  const after = await Promise.all(Array.from({ length: 500 }, () => ask()));
  expect(after.every((outcome) => outcome === "answered")).toBe(true);
});

test("a responder that stops while there is no connection waits for no server, and closing does not either", async () => {
  const server = await start();
  const messaging = await createNatsMessaging({ servers: server.url, name: "test" });
  const subscription = await messaging.serve("echo", echo);
  let up = true;
  messaging.watchConnection((now) => {
    up = now;
  });
  await server.stop();
  await until(() => !up);
  const ran = startRunningTime();
  await subscription.stop();
  await messaging.close();
  // A wait for an answer of the server that is gone would take 2 s.
  expect(ran()).toBeLessThan(1_500);
});

test("a subscription that the server refuses and later permits comes back by itself", async () => {
  const config = (subjects: string) =>
    `authorization { users: [{ user: "u", password: "p", permissions: { subscribe: { allow: ["_INBOX.>"${subjects}] } } }] }`;
  const server = await start({ config: config(', "nf.>", "keys.changed"') });
  const told: string[] = [];
  const messaging = await createNatsMessaging({
    servers: server.url,
    name: "test",
    access: { NATS_USER: "u", NATS_PASSWORD: "p" },
    renewMs: 100,
    onError: (_what, cause) => told.push((cause as Error).message),
  });
  ends.push(messaging);
  await messaging.serve("echo", echo);
  let heard = 0;
  messaging.subscribe("keys.changed", () => {
    heard += 1;
  });
  const asked = () =>
    messaging.request("echo", "single", item("q", { budgetMs: 300 })).then(textOf, (error: { code: string }) => error.code);
  // On a busy machine 300 ms are not always enough.
  await until(async () => (await asked()) === "q");
  await server.reload(config(""));
  await until(async () => (await asked()) === "no_responders");
  await pause(500);
  const refusals = told.filter((text) => text.includes("nf.f1.echo.single"));
  // Once for the subject of the group, once for that of the copy, however often it was tried.
  expect(refusals.length).toBeLessThanOrEqual(2);
  await server.reload(config(', "nf.>", "keys.changed"'));
  await until(async () => (await asked()) === "q");
  messaging.publish("keys.changed", 1);
  await until(() => heard > 0);
});
