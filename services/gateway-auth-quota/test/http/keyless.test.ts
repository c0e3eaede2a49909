/** Floods of requests without a key: bounded by address, held back, and nothing of theirs reaches the services or callers with a key. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { exampleReply, type GatewayOptions, type Harness, startGateway } from "../support/gateway.ts";
import { openSocket, readAnswers } from "../support/raw.ts";

let harness: Harness;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await harness.stop();
});

async function start(config: NonNullable<GatewayOptions["config"]>): Promise<string> {
  harness = await startGateway({ config });
  return harness.gateway.listen();
}

const ask = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

/** Sends these over and over on its own connection, as fast as they are answered; counts answers by status. */
function flood(url: string, path: string, headers = ""): Map<string, number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const counts = new Map<string, number>();
  socket.setEncoding("latin1").on("error", () => {});
  socket.on("connect", () => socket.write(ask(path, headers).repeat(8)));
  socket.on("data", (piece: string) => {
    for (const [, status = ""] of piece.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      socket.write(ask(path, headers));
    }
  });
  return counts;
}

test("keyless floods of one address get their bound a second, and a caller with a key at that address every answer", async () => {
  const url = await start({ KEYLESS_PER_SECOND_MAX: 10, DEFAULT_RATE_LIMIT: 1_000_000 });
  const counts = [
    flood(url, "/api/v1/status"),
    flood(url, "/api/v1/nowhere"),
    flood(url, "/api/v1/ip/193.0.6.139"),
    flood(url, "/api/v1/ip/193.0.6.139", "Authorization: Bearer nf_live_AAAAAAAA_x\r\n"),
  ];
  const key = await harness.key();
  const polite = await openSocket(url);
  sockets.push(polite);
  const statuses: string[] = [];
  const began = performance.now();
  const sum = (status: string) => counts.reduce((total, each) => total + (each.get(status) ?? 0), 0);
  // A busy machine takes longer to use up the burst.
  while (performance.now() - began < 2_000 || (sum("503") === 0 && performance.now() - began < 20_000)) {
    polite.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${key}\r\n`));
    const [piece] = (await once(polite, "data")) as [Buffer];
    statuses.push(piece.toString("latin1", 9, 12));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const seconds = (performance.now() - began) / 1_000;
  expect(new Set(statuses)).toEqual(new Set(["200"]));
  // A burst of two seconds, and ten a second; a 401 is charged once it is answered, and eight are asked at a time.
  expect(sum("200") + sum("404") + sum("401")).toBeLessThanOrEqual(20 + 10 * (seconds + 1) + 8);
  expect(sum("503")).toBeGreaterThan(0);
  expect(await harness.registry.text()).toMatch(/netfacts_shortages_total\{[^}]*resource="keyless",reason="share"[^}]*\} \d+/);
  expect(harness.log).toContainEqual(expect.objectContaining({ level: "warn", message: "requests without a key are held back" }));
});

test("a made-up key is no way around the bound, and a valid key that nobody has seen yet is only held for a moment", async () => {
  const url = await start({ KEYLESS_PER_SECOND_MAX: 10, DEFAULT_RATE_LIMIT: 1_000_000 });
  const madeUp = `Authorization: Bearer ${generateKeyText("live").text}\r\n`;
  const began = performance.now();
  const counts = [
    flood(url, "/api/v1/status", madeUp),
    flood(url, "/api/v1/nowhere", madeUp),
    flood(url, "/api/v1/status?key=x", madeUp),
    flood(url, "/openapi.json", "Authorization: Bearer nf_live_AAAAAAAA_x\r\n"),
  ];
  while (!harness.log.some(({ message }) => message === "requests without a key are held back")) {
    expect(performance.now() - began).toBeLessThan(20_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const valid = `Authorization: Bearer ${await harness.key()}\r\nConnection: close\r\n`;
  const newcomer = await openSocket(url);
  newcomer.write(ask("/api/v1/ip/193.0.6.139", valid));
  expect((await readAnswers(newcomer)).map(({ status }) => status)).toEqual([200]);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const seconds = (performance.now() - began) / 1_000;
  const sum = counts.reduce((total, each) => total + [...each.values()].reduce((some, count) => some + count, 0), 0);
  // A burst of two seconds and ten a second; of each connection eight at first, and eight that were held in each second.
  expect(sum).toBeLessThanOrEqual(20 + 10 * (seconds + 1) + 32 + 32 * (seconds + 1));
});

test("preflights take nothing from requests without a key, and are bounded by themselves", async () => {
  const allowed = "https://app.example.com";
  const url = await start({ KEYLESS_PER_SECOND_MAX: 1, CORS_ORIGINS: [allowed] });
  const preflight = (origin: string) =>
    `OPTIONS /api/v1/me HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: GET\r\n`;
  const statuses = async (text: string) => {
    const socket = await openSocket(url);
    socket.write(text);
    return (await readAnswers(socket)).map(({ status }) => status);
  };
  const last = "Connection: close\r\n";
  // A burst of two seconds at 20 a second; more would pass only if a second went by.
  const many = await statuses(`${`${preflight(allowed)}\r\n`.repeat(61)}${preflight(allowed)}${last}\r\n`);
  expect(many.slice(0, 40)).toEqual(new Array(40).fill(204));
  expect(many.at(-1)).toBe(503);
  // Whoever names another origin sends a request like any other.
  const other = `${preflight("https://evil.example")}${last}\r\n`;
  expect(await statuses(`${ask("/api/v1/status").repeat(2)}${other}`)).toEqual([200, 200, 503]);
});

test("texts that are no key count as requests without one", async () => {
  const url = await start({ KEYLESS_PER_SECOND_MAX: 10 });
  const began = performance.now();
  const counts = flood(url, "/api/v1/ip/193.0.6.139", "Authorization: Bearer nf_live_AAAAAAAA_x\r\n");
  while ((counts.get("503") ?? 0) === 0 && (counts.get("401") ?? 0) < 1_000) await new Promise((resolve) => setTimeout(resolve, 20));
  // A burst of two seconds, ten a second, and those that are asked at a time.
  expect(counts.get("401")).toBeLessThanOrEqual(20 + 10 * ((performance.now() - began) / 1_000 + 1) + 8);
});

test("one refused for its address is held for a moment, and the next second it is answered", async () => {
  const url = await start({ KEYLESS_PER_SECOND_MAX: 1 });
  const socket = await openSocket(url);
  socket.write(`${ask("/api/v1/status").repeat(2)}${ask("/api/v1/status", "X-Request-Id: mine\r\nConnection: close\r\n")}`);
  const answers = await readAnswers(socket);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 503]);
  expect(JSON.parse(answers[2]?.body ?? "")).toMatchObject({
    code: "temporarily_overloaded",
    retry_after_seconds: 1,
    instance: "/api/v1/status",
    request_id: "mine",
  });
  expect(answers[2]?.headers["x-request-id"]).toBe("mine");
  const later = await openSocket(url);
  later.write(ask("/api/v1/status", "Connection: close\r\n"));
  expect((await readAnswers(later)).map(({ status }) => status)).toEqual([200]);
});

test("/status asks its service at most once a second, and has the id of each request", async () => {
  await start({ STATUS_CACHE_MS: 1_000 });
  let asked = 0;
  harness.answers.set("status", () => {
    asked += 1;
    return exampleReply("status");
  });
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => harness.request("GET", "/api/v1/status", { "x-request-id": `status-${index}` })),
  );
  expect(answers.map(({ body }) => JSON.parse(body).meta.request_id)).toEqual(answers.map((_, index) => `status-${index}`));
  expect(asked).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await harness.request("GET", "/api/v1/status");
  expect(asked).toBe(2);
});

test("a status that could not be read is not kept", async () => {
  await start({ STATUS_CACHE_MS: 1_000 });
  harness.answers.set("status", () => {
    throw new Error("on purpose");
  });
  expect((await harness.request("GET", "/api/v1/status")).status).toBe(500);
  harness.answers.delete("status");
  expect((await harness.request("GET", "/api/v1/status")).status).toBe(200);
});
