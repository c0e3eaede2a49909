/** Sockets that are replaced. */

import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { UdpChannel } from "../../src/dns/udp-channel.ts";

const listener = { question: {}, onMessage: () => null, onUnreachable: () => {} } as unknown as Parameters<UdpChannel["ask"]>[0];

test("a socket with two reasons to be replaced is replaced by one", async () => {
  const { address, family } = await lookup("localhost");
  const server = createSocket(family === 6 ? "udp6" : "udp4").bind(0, address);
  await once(server, "listening");
  let dropped = 0;
  const channel = new UdpChannel({
    server: { host: "localhost", port: server.address().port } as ConstructorParameters<typeof UdpChannel>[0]["server"],
    sockets: 1,
    counts: { asked: () => {}, dropped: () => (dropped += 1) } as never,
    prepare: () => Buffer.alloc(2),
  });
  /** Asks, and returns the port that the question came from. */
  const askedFrom = async (): Promise<number> => {
    const arrived = once(server, "message");
    channel.ask(listener);
    return (await arrived)[1].port;
  };
  try {
    await channel.open();
    const port = await askedFrom();
    for (let sent = 0; sent < 99; sent += 1) server.send("x", port, address);
    while (dropped < 99) await sleep(1);
    // These have ended before they are sent.
    for (let asked = 1; asked < 9_999; asked += 1) channel.ask(listener)?.cancel();
    server.send("x", port, address);
    // The new socket needs the address of the host, for which these are waited for: the last message comes before.
    const lookups = Promise.all(Array.from({ length: 100 }, () => lookup("localhost")));
    channel.ask(listener)?.cancel();
    await lookups;
    while (dropped < 100) await sleep(1);
    while ((await askedFrom()) === port) await sleep(1);
    await sleep(50);
    const ports = new Set<number>();
    for (let asked = 0; asked < 20; asked += 1) ports.add(await askedFrom());
    expect(ports.size).toBe(1);
    expect(ports.has(port)).toBe(false);
  } finally {
    await channel.close();
    server.close();
  }
});
