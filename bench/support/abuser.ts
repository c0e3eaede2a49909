/**
 * One caller who does his worst, as a process of its own, so that the measuring one is not held up by his load:
 * `node abuser.ts ABUSE SECONDS KEY URL…`. Loopback only; it ends by itself.
 */

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { generateKeyText } from "@netfacts/keys";

const [abuse = "", secondsText = "", key = "", ...urls] = process.argv.slice(2);
const endsAt = performance.now() + Number(secondsText) * 1_000;
const isOver = () => performance.now() >= endsAt;
const urlOf = (index: number): string => urls[index % urls.length] as string;
const sockets: Socket[] = [];
const authorization = `authorization: Bearer ${key}\r\n`;

/** Requests one after the other on each of so many connections, whatever they are answered with. */
async function ask(connections: number, of: (index: number) => { path: string; key?: string; body?: string }): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let next = 0;
  const one = async (worker: number) => {
    while (!isOver()) {
      const { path, key, body } = of(next++);
      await new Promise<void>((resolve) => {
        const headers = { ...(key && { authorization: `Bearer ${key}` }), ...(body && { "content-type": "application/json" }) };
        const sent = request(urlOf(worker) + path, { agent, headers, method: body === undefined ? "GET" : "POST" }, (response) => {
          response.resume();
          response.once("close", resolve);
        });
        sent.once("error", () => setTimeout(resolve, 10));
        sent.end(body);
      });
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, worker) => one(worker)));
  agent.destroy();
}

/** Connections that are opened anew when they end; `speak` sends on each until it ends. */
async function hold(connections: number, speak: (socket: Socket, isOpen: () => boolean) => Promise<void>): Promise<void> {
  const one = async (worker: number) => {
    while (!isOver()) {
      const { hostname, port } = new URL(urlOf(worker));
      const socket = connect({ host: hostname, port: Number(port) });
      sockets.push(socket);
      let open = true;
      socket.on("error", () => {});
      socket.once("close", () => {
        open = false;
      });
      await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => {});
      await speak(socket, () => open && !isOver());
      socket.destroy();
      await sleep(50);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, worker) => one(worker)));
}

const streamHead = (more = "") =>
  `POST /api/v1/batch HTTP/1.1\r\nhost: x\r\n${authorization}content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n${more}\r\n`;
const chunkOf = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);

const costlyItems = Array.from({ length: 400 }, (_, index) => ({ kind: "prefix", value: `${index % 224}.0.0.0/8`, limit: 1000 }));

const abuses: Readonly<Record<string, () => Promise<void>>> = {
  /** The most expensive questions, one at a time on 16 connections. */
  "costly questions": () => ask(16, () => ({ path: "/api/v1/prefix/0.0.0.0/0?limit=1000", key })),
  "costly batches": () => ask(4, () => ({ path: "/api/v1/batch", key, body: JSON.stringify({ questions: costlyItems }) })),
  /** As many batches as there are places, a blank now and then. */
  "held batches": () =>
    hold(64, async (socket, isOpen) => {
      socket.write(streamHead());
      while (isOpen()) {
        socket.write("1\r\n \r\n");
        await sleep(1_000);
      }
    }),
  /** Small bodies that unpack to millions of faults. */
  "invalid lines": () => {
    const packed = gzipSync(Buffer.alloc(20_000_000, "x\n"));
    return hold(4, async (socket, isOpen) => {
      socket.on("data", () => {});
      socket.write(streamHead("content-encoding: gzip\r\n"));
      socket.write(chunkOf(packed));
      socket.write("0\r\n\r\n");
      while (isOpen()) await sleep(50);
    });
  },
  /** Long answers asked for by the hundred, and never read. */
  "unread answers": () =>
    hold(100, async (socket, isOpen) => {
      socket.pause();
      const one = `GET /api/v1/asn/AS16509?limit=1000 HTTP/1.1\r\nhost: x\r\n${authorization}\r\n`;
      socket.write(one.repeat(100));
      while (isOpen()) await sleep(200);
    }),
  "requests without a key": () => ask(64, (index) => ({ path: ["/api/v1/status", "/nowhere", "/api/v1/ip/8.8.8.8"][index % 3] as string })),
  "wrong keys": () => ask(64, () => ({ path: "/api/v1/ip/8.8.8.8", key: generateKeyText("live").text })),
};

const run = abuses[abuse];
if (run === undefined) {
  console.log(Object.keys(abuses).join("\n"));
  process.exit(abuse === "" ? 0 : 1);
}
const end = setTimeout(() => process.exit(0), Number(secondsText) * 1_000 + 2_000);
await run();
for (const socket of sockets) socket.destroy();
clearTimeout(end);
process.exit(0);
