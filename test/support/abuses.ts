/** Ways in which a caller can harm others. The fairness benchmark runs each at full strength, and the soak runs all together. */

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { generateKeyText } from "@netfacts/keys";

export interface Abuser {
  /** URLs of gateways of one installation, which accept the key. */
  readonly urls: readonly string[];
  readonly key: string;
  /** Local address of the connections; absent: the system chooses one. */
  readonly from?: string;
  /** Share of the most connections that each abuse opens, from 0 to 1. */
  readonly share: number;
  /** Pause between two requests on a connection, and between two connections. */
  readonly pauseMs: number;
  /** Pause between two bytes of a request that is held open. */
  readonly dripMs: number;
  isOver(): boolean;
  /** Called for each answer with its status; `closed`: a connection ended without one; `left`: the abuser ended one. */
  tell(outcome: string): void;
}

interface Sent {
  readonly path: string;
  readonly key?: string;
  readonly body?: string;
}

/** Sends requests one after the other on each connection, whatever the answers are. */
async function ask(abuser: Abuser, connections: number, of: (index: number) => Sent): Promise<void> {
  const { urls, from, pauseMs, isOver, tell } = abuser;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let next = 0;
  const one = async (worker: number) => {
    while (!isOver()) {
      const { path, key, body } = of(next++);
      const outcome = await new Promise<string>((resolve) => {
        const headers = { ...(key && { authorization: `Bearer ${key}` }), ...(body && { "content-type": "application/json" }) };
        const options = { agent, headers, method: body === undefined ? "GET" : "POST", ...(from && { localAddress: from }) };
        const sent = request(`${urls[worker % urls.length]}${path}`, options, (response) => {
          response.resume();
          response.once("close", () => resolve(`${response.statusCode}`));
        });
        sent.once("error", () => setTimeout(() => resolve("closed"), 10));
        sent.end(body);
      });
      tell(outcome);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: connectionsOf(abuser, connections) }, (_, worker) => one(worker)));
  agent.destroy();
}

/** Opens connections, again when they end; `speak` sends on each until it ends. */
async function hold(
  abuser: Abuser,
  connections: number,
  speak: (socket: Socket, isOpen: () => boolean) => Promise<void>,
  pauseMs = Math.max(50, abuser.pauseMs),
): Promise<void> {
  const { urls, from, isOver, tell } = abuser;
  const one = async (worker: number) => {
    while (!isOver()) {
      const { hostname, port } = new URL(urls[worker % urls.length] as string);
      const socket = connect({ host: hostname, port: Number(port), ...(from && { localAddress: from }) });
      let open = true;
      let isAnswered = false;
      socket.on("error", () => {});
      socket.once("close", () => {
        open = false;
        if (!isAnswered && !isOver()) tell("closed");
      });
      socket.once("data", (head) => {
        isAnswered = true;
        tell(head.toString("latin1", 9, 12));
      });
      await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => {});
      await speak(socket, () => open && !isOver());
      socket.destroy();
      await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: connectionsOf(abuser, connections) }, (_, worker) => one(worker)));
}

function connectionsOf({ share, urls }: Abuser, connections: number): number {
  return Math.max(urls.length, Math.round(connections * share));
}

const chunkOf = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
const question = ({ key }: Abuser, path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`;
const batchHead = ({ key }: Abuser, more: string) =>
  `POST /api/v1/batch HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/x-ndjson\r\n${more}\r\n`;
const streamHead = (abuser: Abuser, more = "") => batchHead(abuser, `transfer-encoding: chunked\r\n${more}`);

const costlyItems = Array.from({ length: 400 }, (_, index) => ({ kind: "prefix", value: `${index % 224}.0.0.0/8`, limit: 1000 }));
const keylessPaths = ["/api/v1/status", "/nowhere", "/api/v1/ip/8.8.8.8"];
/** Requests that are sent at once: more than the limit of unanswered ones on a connection. */
const pipelined = 100;

/** Longer than the time in which a client must read a part of a waiting answer (`WRITE_STALL_MS`). */
const unreadMs = 45_000;

/** The abuses by name. Each resolves when `isOver` returns true. */
export const abuses: Readonly<Record<string, (abuser: Abuser) => Promise<void>>> = {
  /** The most expensive requests, one at a time on each connection. */
  "costly questions": (abuser) => ask(abuser, 16, () => ({ path: "/api/v1/prefix/0.0.0.0/0?limit=1000", key: abuser.key })),
  "costly batches": (abuser) =>
    ask(abuser, 4, () => ({ path: "/api/v1/batch", key: abuser.key, body: JSON.stringify({ questions: costlyItems }) })),
  /** As many batches as the gateway accepts, which send only a blank at intervals. */
  "held batches": (abuser) =>
    hold(abuser, 64, async (socket, isOpen) => {
      socket.resume();
      socket.write(streamHead(abuser));
      while (isOpen()) {
        socket.write("1\r\n \r\n");
        await sleep(abuser.dripMs);
      }
    }),
  /** Batches of hundreds of items, whose client disconnects while they are answered. */
  "aborted batches": (abuser) =>
    hold(abuser, 8, async (socket) => {
      const lines = Array.from({ length: 500 }, (_, index) => `{"kind":"ip","value":"193.0.${index % 256}.${index % 251}"}\n`).join("");
      socket.write(batchHead(abuser, `content-length: ${lines.length}\r\n`) + lines);
      await sleep(Math.random() * 50);
    }),
  /** Small compressed bodies with millions of invalid lines. */
  "invalid lines": (abuser) => {
    const packed = gzipSync(Buffer.alloc(20_000_000, "x\n"));
    return hold(abuser, 4, async (socket, isOpen) => {
      socket.on("data", () => {});
      socket.write(streamHead(abuser, "content-encoding: gzip\r\n"));
      socket.write(chunkOf(packed));
      socket.write("0\r\n\r\n");
      while (isOpen()) await sleep(50);
    });
  },
  /** Hundreds of requests for long answers, which are never read. */
  "unread answers": (abuser) =>
    hold(abuser, 100, async (socket, isOpen) => {
      socket.pause();
      socket.write(question(abuser, "/api/v1/asn/AS16509?limit=1000").repeat(pipelined));
      // A client that does not read does not notice the end of the connection.
      for (const since = performance.now(); isOpen() && performance.now() - since < unreadMs; ) await sleep(200);
      abuser.tell("left");
    }),
  /** More unanswered requests than a connection may have, again and again. */
  pipelining: (abuser) =>
    hold(abuser, 16, async (socket, isOpen) => {
      socket.resume();
      socket.write(question(abuser, "/api/v1/ip/193.0.6.139").repeat(pipelined));
      while (isOpen()) await sleep(20);
    }),
  "requests without a key": (abuser) => ask(abuser, 64, (index) => ({ path: keylessPaths[index % keylessPaths.length] as string })),
  "wrong keys": (abuser) => ask(abuser, 64, () => ({ path: "/api/v1/ip/8.8.8.8", key: generateKeyText("live").text })),
  /** Requests with a valid key that are all refused. */
  "refused requests": (abuser) =>
    ask(abuser, 64, (index) => ({ path: index % 2 === 0 ? "/api/v1/nowhere" : "/api/v1/ip/nonsense", key: abuser.key })),
  /** Connections that send nothing, or an endless header. */
  "silent connections": (abuser) => {
    let opened = 0;
    return hold(abuser, 100, async (socket, isOpen) => {
      socket.resume();
      const isHalf = opened++ % 2 === 0;
      if (isHalf) socket.write("GET /api/v1/status HTTP/1.1\r\nhost: x\r\na: ");
      while (isOpen()) {
        await sleep(abuser.dripMs);
        if (isHalf && isOpen()) socket.write("a");
      }
    });
  },
};
