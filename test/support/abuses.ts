/** What a caller can do to others, one way after the other: for the fairness benchmark, which does each as hard as it can, and the soak, which mixes them. */

import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { generateKeyText } from "@netfacts/keys";

export interface Abuser {
  /** Of gateways of one installation, which know the key. */
  readonly urls: readonly string[];
  readonly key: string;
  /** Address of this machine to come from; absent: as the system chooses. */
  readonly from?: string;
  /** Share of the connections of one who does his worst, from 0 to 1. */
  readonly share: number;
  /** Between two requests of a connection, and between two connections. */
  readonly pauseMs: number;
  /** Between two bytes of what is held open. */
  readonly dripMs: number;
  isOver(): boolean;
  /** Each answer by its status; `closed`: a connection that ended without one; `left`: one that the abuser ended. */
  tell(outcome: string): void;
}

interface Sent {
  readonly path: string;
  readonly key?: string;
  readonly body?: string;
}

/** Requests one after the other on each of so many connections, whatever they are answered with. */
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

/** Connections that are opened anew when they end; `speak` sends on each until it ends. */
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
/** Requests that are sent at once: more than a connection may have unanswered. */
const pipelined = 100;

/** Longer than the time in which a client must take some of an answer that waits for it (`WRITE_STALL_MS`). */
const unreadMs = 45_000;

/** By their names. Each resolves once the abuser says that it is over. */
export const abuses: Readonly<Record<string, (abuser: Abuser) => Promise<void>>> = {
  /** The most expensive questions, one at a time on each connection. */
  "costly questions": (abuser) => ask(abuser, 16, () => ({ path: "/api/v1/prefix/0.0.0.0/0?limit=1000", key: abuser.key })),
  "costly batches": (abuser) =>
    ask(abuser, 4, () => ({ path: "/api/v1/batch", key: abuser.key, body: JSON.stringify({ questions: costlyItems }) })),
  /** As many batches as there are places, a blank now and then. */
  "held batches": (abuser) =>
    hold(abuser, 64, async (socket, isOpen) => {
      socket.resume();
      socket.write(streamHead(abuser));
      while (isOpen()) {
        socket.write("1\r\n \r\n");
        await sleep(abuser.dripMs);
      }
    }),
  /** Batches of hundreds, whose client goes away while they are answered. */
  "aborted batches": (abuser) =>
    hold(abuser, 8, async (socket) => {
      const lines = Array.from({ length: 500 }, (_, index) => `{"kind":"ip","value":"193.0.${index % 256}.${index % 251}"}\n`).join("");
      socket.write(batchHead(abuser, `content-length: ${lines.length}\r\n`) + lines);
      await sleep(Math.random() * 50);
    }),
  /** Small bodies that unpack to millions of faults. */
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
  /** Long answers asked for by the hundred, and never read. */
  "unread answers": (abuser) =>
    hold(abuser, 100, async (socket, isOpen) => {
      socket.pause();
      socket.write(question(abuser, "/api/v1/asn/AS16509?limit=1000").repeat(pipelined));
      // Who does not read does not see the end of the connection either.
      for (const since = performance.now(); isOpen() && performance.now() - since < unreadMs; ) await sleep(200);
      abuser.tell("left");
    }),
  /** More unanswered requests than a connection may have, over and over. */
  pipelining: (abuser) =>
    hold(abuser, 16, async (socket, isOpen) => {
      socket.resume();
      socket.write(question(abuser, "/api/v1/ip/193.0.6.139").repeat(pipelined));
      while (isOpen()) await sleep(20);
    }),
  "requests without a key": (abuser) => ask(abuser, 64, (index) => ({ path: keylessPaths[index % keylessPaths.length] as string })),
  "wrong keys": (abuser) => ask(abuser, 64, () => ({ path: "/api/v1/ip/8.8.8.8", key: generateKeyText("live").text })),
  /** Requests of a valid key that are all refused. */
  "refused requests": (abuser) =>
    ask(abuser, 64, (index) => ({ path: index % 2 === 0 ? "/api/v1/nowhere" : "/api/v1/ip/nonsense", key: abuser.key })),
  /** Connections on which nothing comes, or a header without end. */
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
