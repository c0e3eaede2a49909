/** The whois listener of a gateway: single requests, bulks, bounds, clients that behave badly, and the end. */

import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { decodeQuery, operations } from "@netfacts/contracts";
import { until } from "../../../../test/support/http.ts";
import type { GatewayConfig } from "../../src/app.ts";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";

let harness: Harness;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await harness.stop();
});

async function start(config: Partial<GatewayConfig> = {}): Promise<number> {
  harness = await startGateway({ config: { WHOIS_PORT: 0, ...config } });
  await harness.gateway.listen();
  const url = harness.log.find(({ message }) => message === "whois listener started")?.fields.whois_url as string;
  expect(url).toMatch(/^whois:\/\/127\.0\.0\.1:\d+$/);
  return Number(new URL(url).port);
}

interface Client {
  readonly socket: Socket;
  received(): string;
  readonly closed: Promise<string>;
}

/** @param end  whether the client closes its side behind the text, as netcat does. */
function send(port: number, text: string, { end = false, from = "127.0.0.1" } = {}): Client {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from, allowHalfOpen: true });
  sockets.push(socket);
  let received = "";
  socket.setEncoding("utf8").on("data", (data) => {
    received += data;
  });
  socket.on("error", () => {});
  socket.once("end", () => socket.end());
  if (end) socket.end(text);
  else socket.write(text);
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  return { socket, received: () => received, closed };
}

const ask = (port: number, text: string, options = {}) => send(port, text, options).closed;
const title = "AS      | IP               | AS Name\n";
const line = "3333    | 193.0.6.139      | RIPE-NCC-AS\n";

test("is off by default", async () => {
  harness = await startGateway();
  await harness.gateway.listen();
  expect(harness.log.some(({ message }) => message === "whois listener started")).toBe(false);
});

test("answers a single request and closes, whoever closes first", async () => {
  const port = await start();
  expect(await ask(port, "193.0.6.139\r\n")).toBe(title + line);
  expect(await ask(port, "193.0.6.139\r\n", { end: true })).toBe(title + line);
  // Without the end of its line.
  expect(await ask(port, "-f 193.0.6.139", { end: true })).toBe(line);
  expect(await ask(port, "-v 193.0.0.0/21\n")).toMatch(
    /^AS .*\n3333 {4}\| 193\.0\.0\.0\/21 {5}\| 193\.0\.0\.0\/21 {8}\| NL \| ripencc {2}\| 1993-09-01 \| RIPE-NCC-AS\n$/,
  );
  expect(await ask(port, "-v AS3333\n")).toMatch(/^AS {6}\| CC \|.*\n3333 {4}\| NL \| ripencc/);
  expect(await ask(port, "help\n")).toContain("Netfacts whois\n");
  expect(await ask(port, "example.net\n")).toBe("Error: no ASN or IP match on line 1.\n");
  expect(await ask(port, "fe80::1%eth0\n")).toBe("Error: no ASN or IP match on line 1. Did you mean fe80::1?\n");
  expect(await ask(port, "", { end: true })).toBe("");
  expect(await harness.registry.text()).toMatch(/netfacts_whois_requests_total\{[^}]*kind="ip",outcome="answered"[^}]*\} 3/);
});

test("answers a bulk in its order, with the columns that it asks for", async () => {
  const port = await start();
  harness.answers.set("ip", async ({ query }) => {
    // The first one last.
    const { w0 } = decodeQuery("ip", query).question.ip;
    await sleep(w0 % 2 === 0 ? 30 : 0);
    return exampleReply("ip");
  });
  const lines = Array.from({ length: 200 }, (_, index) => `192.0.2.${index % 250}`);
  const text = await ask(port, `begin\nverbose\n${lines.join("\n")}\nnothing\nAS3333\nend\n`);
  const [head, ...answers] = text.trimEnd().split("\n");
  expect(head).toMatch(/^Bulk mode; Netfacts \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000\]$/);
  expect(answers.slice(0, 200).map((answer) => answer.split("|")[1]?.trim())).toEqual(lines);
  expect(answers[0]).toBe("3333    | 192.0.2.0        | 193.0.0.0/21        | NL | ripencc  | 1993-09-01 | RIPE-NCC-AS");
  expect(answers.slice(200)).toEqual(["Error: no ASN or IP match on line 203.", expect.stringMatching(/^3333 {4}\| NL/)]);
});

test("answers each line of a bulk when it comes, and titles where they are asked for", async () => {
  const port = await start();
  const client = send(port, "begin\nheader\n193.0.6.139\n");
  await until(() => client.received().endsWith(title + line));
  client.socket.write("193.0.6.139\n");
  await until(() => client.received().endsWith(title + line + line));
  client.socket.end();
  expect(await client.closed).toMatch(/^Bulk mode/);
});

test("one address asks as often as it may: single requests are refused, bulks wait, others are not affected", async () => {
  const port = await start({ WHOIS_PER_SECOND_MAX: 20 });
  const startedAt = performance.now();
  const bulk = await ask(port, `begin\n${"193.0.6.139\n".repeat(50)}end\n`);
  expect(bulk.split("\n").filter((text) => text.startsWith("3333")).length).toBe(50);
  // A burst of 40, then 20 a second.
  expect(performance.now() - startedAt).toBeGreaterThan(450);
  // Again where the machine is so busy that the units come back meanwhile.
  await until(async () => {
    const single = await Promise.all(Array.from({ length: 30 }, () => ask(port, "193.0.6.139\n")));
    return single.includes("Error: too many requests; try again in 1 s.\n");
  });
  expect(await ask(port, "193.0.6.139\n", { from: "127.0.0.2" })).toBe(title + line);
  // A short prefix costs more, as it is more work.
  expect(operations.prefix.units({ prefix: { version: 4, w0: 0, w1: 0, w2: 0, w3: 0, length: 0 }, limit: 1 })).toBe(3);
  const costlyAt = performance.now();
  expect(await ask(port, `begin\n${"0.0.0.0/0\n".repeat(16)}end\n`, { from: "127.0.0.3" })).toMatch(/^Bulk mode/);
  // 48 units, of which eight come after the burst.
  expect(performance.now() - costlyAt).toBeGreaterThan(350);
});

test("each address is sure of a quarter of the connections, in place of the latest of who has the most", async () => {
  const port = await start({ WHOIS_CONNECTIONS_MAX: 8 });
  const refused = /netfacts_shortages_total\{[^}]*resource="whois_connections",reason="full"[^}]*\} (\d)/;
  // From 0, so that a rate sees the first one.
  expect(refused.exec(await harness.registry.text())?.[1]).toBe("0");
  const held = [];
  for (let index = 0; index < 8; index++) {
    const client = send(port, "begin\n", { from: index < 5 ? "127.0.0.1" : "127.0.0.9" });
    await until(() => client.received().startsWith("Bulk mode"));
    held.push(client);
  }
  expect(await ask(port, "193.0.6.139\n")).toBe("Error: too many connections.\n");
  // Two others have all places, and a third one still comes in.
  const third = send(port, "begin\n193.0.6.139\n", { from: "127.0.0.2" });
  await until(() => third.received().endsWith(line));
  await held[4]?.closed;
  expect(held.filter(({ socket }) => socket.destroyed).length).toBe(1);
  expect(refused.exec(await harness.registry.text())?.[1]).toBe("1");
  third.socket.destroy();
  await until(async () => /netfacts_places_used\{[^}]*resource="whois_connections"[^}]*\} 7/.test(await harness.registry.text()));
  expect(await ask(port, "193.0.6.139\n")).toBe(title + line);
});

test("a client that sends nothing, half a line for too long, or a line without end is disconnected", async () => {
  const port = await start({ WHOIS_IDLE_MS: 400 });
  const startedAt = performance.now();
  const dripping = [send(port, "1"), send(port, "begin\n")] as const;
  const drip = setInterval(() => {
    for (const { socket } of dripping) socket.write("1");
  }, 50);
  expect(await Promise.all([ask(port, ""), ask(port, "begin\n"), dripping[0].closed, dripping[1].closed])).toEqual([
    "",
    expect.stringMatching(/^Bulk mode.*\n$/),
    "",
    // Not at its 512th byte.
    expect.stringMatching(/^Bulk mode.*\n$/),
  ]);
  clearInterval(drip);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  const tooLong = (number: number) => `Error: line ${number} is longer than 512 bytes. Nothing after it is answered.\n`;
  expect(await ask(port, "1".repeat(100_000))).toBe(tooLong(1));
  expect(await ask(port, `193.0.6.139 ${"1".repeat(600)}\n`)).toBe(tooLong(1));
  const bulk = await ask(port, `begin\n193.0.6.139\n193.0.6.139 ${"1".repeat(600)}\n193.0.6.139\nend\n`);
  expect(bulk.slice(bulk.indexOf("\n") + 1)).toBe(line + tooLong(3));
});

test("lines that ask nothing cost as much as others, and a bulk of them ends", async () => {
  const port = await start({ WHOIS_PER_SECOND_MAX: 20, WHOIS_IDLE_MS: 500 });
  const startedAt = performance.now();
  const client = send(port, `begin\n${"x\n".repeat(50_000)}`);
  await until(() => client.received().includes("on line 30."));
  expect(await client.closed).toMatch(/^Bulk mode/);
  // A burst of 40, then 20 a second until it has asked nothing for too long.
  expect(client.received().split("\n").length).toBeLessThan(45 + (20 * (performance.now() - startedAt)) / 1_000);
});

test("a costly line waits for its turn beside a flood of cheap ones of its address, longer than a client may be idle", async () => {
  const port = await start({ WHOIS_PER_SECOND_MAX: 10, WHOIS_IDLE_MS: 300 });
  const flood = send(port, `begin\n${"193.0.6.139\n".repeat(200)}`);
  await until(() => flood.received().split("\n").length > 20);
  const costly = send(port, "begin\n0.0.0.0/0\nend\n");
  await until(() => costly.received().includes("0.0.0.0/0"), { timeoutMs: 10_000 });
});

test("lines of clients that left take nothing from those behind them", async () => {
  const port = await start({ WHOIS_PER_SECOND_MAX: 10 });
  // The burst of 20, so that all lines after it wait.
  await ask(port, `begin\n${"193.0.6.139\n".repeat(20)}end\n`);
  // Each line alone would wait for 300 ms.
  for (let index = 0; index < 100; index++) {
    const leaving = send(port, "begin\n0.0.0.0/0\n");
    await until(() => leaving.received().startsWith("Bulk mode"));
    leaving.socket.resetAndDestroy();
    await leaving.closed;
  }
  const startedAt = performance.now();
  expect(await ask(port, "begin\n193.0.6.139\nend\n")).toMatch(/^Bulk mode.*\n3333/);
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

test("a service that fails is told in the line, and the bulk goes on", async () => {
  const port = await start();
  harness.answers.set("asn", () => {
    throw new Error("secret cause");
  });
  const text = await ask(port, "begin\nAS1\n193.0.6.139\nend\n");
  expect(text.split("\n").slice(1)).toEqual([expect.stringMatching(/^Error: /), line.trimEnd(), ""]);
  expect(text).not.toContain("secret");
});

test("a stop answers what was asked, and ends clients that wait", async () => {
  const port = await start();
  let asked = 0;
  harness.answers.set("ip", async () => {
    asked += 1;
    await sleep(300);
    return exampleReply("ip");
  });
  const [single, bulk, idle] = [send(port, "193.0.6.139\n"), send(port, "begin\n193.0.6.139\n"), send(port, "begin\n")];
  await until(() => asked === 2 && idle.received() !== "");
  const startedAt = performance.now();
  await harness.gateway.stop();
  expect(await single.closed).toBe(title + line);
  expect(await bulk.closed).toMatch(new RegExp(`^Bulk mode.*\n${line.replaceAll("|", "\\|")}$`));
  await idle.closed;
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
