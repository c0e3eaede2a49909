/** An RTR cache on loopback that does what a test says: well-behaved by default, and hostile where a test answers for it. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { parsePrefix } from "@netfacts/address";
import { encodePdu, type Pdu, RtrDecoder } from "@netfacts/rpki/rtr";

/** `192.0.2.0/24-24 64496`: prefix, max length, AS. */
export type VrpText = string;

/** Answers a query of a router instead of the cache. @returns "as usual" to leave it to the cache after all */
export type Answer = (query: Pdu, socket: Socket, cache: ScriptedCache) => unknown;

export interface ScriptedCache {
  readonly port: number;
  readonly url: string;
  sessionId: number;
  serial: number;
  intervals: { refresh: number; retry: number; expire: number };
  answer: Answer | null;
  /** What routers sent, in its order. */
  readonly heard: Pdu[];
  /** Connections so far, and those that are open. */
  readonly connections: number;
  readonly open: ReadonlySet<Socket>;
  /** Resolves when a PDU of this kind was heard after the first `after` PDUs. */
  hears(kind: Pdu["kind"], after?: number): Promise<Pdu>;
  /** Another set, with the next serial; `notify` tells every router. */
  set(vrps: readonly VrpText[], notify?: boolean): void;
  notify(): void;
  /** Ends every connection; new ones are refused until `listen`. */
  down(): Promise<void>;
  listen(): Promise<void>;
  stop(): Promise<void>;
}

export function vrpPdu(text: VrpText, announce = true, version = 1): Pdu {
  const [, prefixText = "", maxLength, asn] = /^(.+)-(\d+) (\d+)$/.exec(text) ?? [];
  const reading = parsePrefix(prefixText);
  if (!reading.ok) throw new Error(`no VRP: ${text}`);
  return { kind: "prefix", version, announce, prefix: reading.prefix, maxLength: Number(maxLength), asn: Number(asn) };
}

export const bytesOf = (...pdus: Pdu[]): Buffer => Buffer.concat(pdus.map(encodePdu));

export async function startScriptedCache(vrps: readonly VrpText[] = [], answer: Answer | null = null): Promise<ScriptedCache> {
  const history = new Map<number, ReadonlySet<VrpText>>();
  const open = new Set<Socket>();
  const heard: Pdu[] = [];
  const waiting = new Set<() => void>();
  let connections = 0;
  let server: Server | null = null;
  let port = 0;

  const reply = (query: Pdu, socket: Socket) => {
    const { version } = query;
    const now = history.get(cache.serial) ?? new Set();
    const known = query.kind === "serial-query" && query.sessionId === cache.sessionId ? history.get(query.serial) : undefined;
    const before = query.kind === "reset-query" ? new Set<VrpText>() : known;
    if (before === undefined) return void socket.write(bytesOf({ kind: "cache-reset", version }));
    const end = { sessionId: cache.sessionId, serial: cache.serial, intervals: version === 0 ? null : cache.intervals };
    socket.write(
      bytesOf(
        { kind: "cache-response", version, sessionId: cache.sessionId },
        ...[...before].filter((vrp) => !now.has(vrp)).map((vrp) => vrpPdu(vrp, false, version)),
        ...[...now].filter((vrp) => !before.has(vrp)).map((vrp) => vrpPdu(vrp, true, version)),
        { kind: "end-of-data", version, ...end },
      ),
    );
  };
  const accept = (socket: Socket) => {
    connections++;
    open.add(socket);
    const decoder = new RtrDecoder(1);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    socket.on("data", (bytes) => {
      decoder.feed(bytes);
      for (let pdu = decoder.next(); pdu !== null; pdu = decoder.next()) {
        heard.push(pdu);
        const isQuery = pdu.kind === "reset-query" || pdu.kind === "serial-query";
        const isAnswered = isQuery && cache.answer !== null && cache.answer(pdu, socket, cache) !== "as usual";
        if (isQuery && !isAnswered) reply(pdu, socket);
      }
      for (const look of waiting) look();
    });
  };
  const listen = async () => {
    server = createServer(accept);
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  };
  const down = async () => {
    const closing = server;
    server = null;
    const closed = closing === null ? null : new Promise((resolve) => closing.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  await listen();
  const cache: ScriptedCache = {
    port,
    url: `rtr://127.0.0.1:${port}`,
    sessionId: 4_711,
    serial: 1,
    intervals: { refresh: 3_600, retry: 600, expire: 7_200 },
    answer,
    heard,
    get connections() {
      return connections;
    },
    open,
    hears: (kind, after = 0) =>
      new Promise((resolve) => {
        const look = () => {
          const found = heard.slice(after).find((pdu) => pdu.kind === kind);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    set(next, notify = false) {
      cache.serial++;
      history.set(cache.serial, new Set(next));
      if (notify) cache.notify();
    },
    notify() {
      const pdu = bytesOf({ kind: "serial-notify", version: 1, sessionId: cache.sessionId, serial: cache.serial });
      for (const socket of open) socket.write(pdu);
    },
    down,
    listen,
    stop: down,
  };
  history.set(cache.serial, new Set(vrps));
  return cache;
}
