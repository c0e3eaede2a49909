/** A nameserver on loopback, over UDP and TCP, that answers as a test tells it to: honestly, late, cut, wrongly or not at all. */

import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket as TcpSocket } from "node:net";
import dnsPacket from "dns-packet";

export interface Query {
  /** In lower case. */
  readonly name: string;
  /** As it was asked. */
  readonly askedName: string;
  /** The DNS cookie of the query; null without one. */
  readonly cookie: Buffer | null;
  /** `PTR`, `A`, … */
  readonly type: string;
  /** CD: the answer is wanted also where it fails validation. */
  readonly checkingDisabled: boolean;
  readonly transport: "udp" | "tcp";
  readonly edns: boolean;
  /** Questions for this name and type before, over either transport. */
  readonly earlier: number;
  readonly bytes: Buffer;
}

/** What comes back; several are sent one after the other. */
export interface Reaction {
  readonly rcode?: number;
  readonly answers?: dnsPacket.Answer[];
  readonly authorities?: dnsPacket.Answer[];
  readonly additionals?: dnsPacket.Answer[];
  readonly truncated?: boolean;
  readonly authoritative?: boolean;
  /** AD: it was validated. */
  readonly authentic?: boolean;
  readonly delayMs?: number;
  /** Sent when this is resolved. */
  readonly when?: Promise<void>;
  /** Added to the id. */
  readonly idOffset?: number;
  /** Given in the OPT record of the answer. */
  readonly cookie?: Buffer;
  /** Upper bits of the code. */
  readonly extendedRcode?: number;
  /** Echoed in place of the question. */
  readonly echo?: string;
  /** Leaves the question out. */
  readonly noQuestion?: boolean;
  /** Sent from another port of the same address. */
  readonly fromElsewhere?: boolean;
  /** Sent as it is, under the question's id. */
  readonly raw?: (query: Query) => Buffer;
}

/** Null: no answer. */
export type Behaviour = (query: Query) => Reaction | readonly Reaction[] | null;

export interface DnsServer {
  readonly port: number;
  /** `host:port` for the setting RESOLVERS. */
  readonly address: string;
  /** Every question but those about the root, in order. */
  readonly queries: Query[];
  /** Ports that questions came from. */
  readonly sources: Set<number>;
  behave(behaviour: Behaviour): void;
  /** Nothing the second time. */
  stop(): Promise<void>;
}

export const ptr = (name: string, data: string, ttl = 3600): dnsPacket.Answer => ({ type: "PTR", class: "IN", name, data, ttl });
export const cname = (name: string, data: string, ttl = 3600): dnsPacket.Answer => ({ type: "CNAME", class: "IN", name, data, ttl });
export const address = (name: string, data: string, ttl = 3600): dnsPacket.Answer => ({
  type: data.includes(":") ? "AAAA" : "A",
  name,
  data,
  ttl,
});
export const soa = (name: string, ttl: number, minimum: number): dnsPacket.Answer => ({
  type: "SOA",
  name,
  ttl,
  data: { mname: `ns.${name}`, rname: `host.${name}`, serial: 1, refresh: 7200, retry: 900, expire: 86_400, minimum },
});

/** Answers each question with one name made of it: `10.2.0.192.in-addr.arpa` → `host-10-2-0-192.example`. */
export const honest: Behaviour = ({ name }) => ({ answers: [ptr(name, nameOf(name))] });

export function nameOf(name: string): string {
  const labels = name.replace(/\.(in-addr|ip6)\.arpa$/, "").split(".");
  return `host-${labels.join(labels.length > 4 ? "" : "-")}.example`;
}

export interface DnsServerOptions {
  /** 0: any free one. */
  readonly port?: number;
  readonly host?: "127.0.0.1" | "::1";
  /** Refuse connections. */
  readonly noTcp?: boolean;
  /** What it says about the root, which shows whether it validates; default: refused. */
  readonly root?: Reaction | null;
  /** What it says the first time that it is asked about the root, if not the same. */
  readonly rootAtFirst?: Reaction | null;
}

export async function startDnsServer(
  initial: Behaviour,
  { port = 0, host = "127.0.0.1", noTcp = false, root = { rcode: 5 }, rootAtFirst = root }: DnsServerOptions = {},
): Promise<DnsServer> {
  let behaviour = initial;
  const queries: Query[] = [];
  const asked = new Map<string, number>();
  const sources = new Set<number>();
  let rootQuestions = 0;
  const timers = new Set<NodeJS.Timeout>();
  const connections = new Set<TcpSocket>();
  const type = host === "::1" ? "udp6" : "udp4";
  const { udp, tcp } = await bind(type, host, port);
  const bound = udp.address().port;
  const elsewhere = createSocket(type);
  await new Promise<void>((resolve) => elsewhere.bind(0, host, resolve));

  const react = (query: Query, send: (reply: Buffer, fromElsewhere: boolean) => void) => {
    const isRoot = query.name === "." || query.name === "";
    if (isRoot) rootQuestions += 1;
    else queries.push(query);
    const aboutRoot = rootQuestions === 1 ? rootAtFirst : root;
    const reaction = isRoot ? aboutRoot : behaviour(query);
    for (const one of reaction === null ? [] : [reaction].flat()) {
      const reply = encode(query, one);
      const deliver = () => send(reply, one.fromElsewhere === true);
      if (one.when !== undefined) {
        void one.when.then(deliver);
        continue;
      }
      if (one.delayMs === undefined) {
        deliver();
        continue;
      }
      const timer = setTimeout(() => {
        timers.delete(timer);
        deliver();
      }, one.delayMs);
      timers.add(timer);
    }
  };

  udp.on("message", (bytes: Buffer, from: RemoteInfo) => {
    sources.add(from.port);
    const query = read(bytes, "udp", asked);
    react(query, (reply, fromElsewhere) => (fromElsewhere ? elsewhere : udp).send(reply, from.port, from.address));
  });
  tcp.on("connection", (socket) => {
    connections.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => connections.delete(socket));
    socket.on("data", (bytes) => {
      const query = read(bytes.subarray(2), "tcp", asked);
      // In two pieces, as a network may.
      react(query, (reply) => {
        const length = Buffer.alloc(2);
        length.writeUInt16BE(reply.length);
        socket.write(length.subarray(0, 1));
        setImmediate(() => socket.write(Buffer.concat([length.subarray(1), reply])));
      });
    });
  });
  if (noTcp) await new Promise((resolve) => tcp.close(resolve));

  const close = async (): Promise<void> => {
    for (const timer of timers) clearTimeout(timer);
    for (const socket of connections) socket.destroy();
    const closed = [udp, elsewhere].map((socket) => once(socket, "close"));
    udp.close();
    elsewhere.close();
    await Promise.all([...closed, noTcp ? null : new Promise((resolve) => tcp.close(resolve))]);
  };
  let closing: Promise<void> | undefined;

  return {
    port: bound,
    address: host === "::1" ? `[::1]:${bound}` : `${host}:${bound}`,
    queries,
    sources,
    behave(next) {
      behaviour = next;
    },
    stop() {
      closing ??= close();
      return closing;
    },
  };
}

/** The same port for both transports: one that is free for UDP may be taken for TCP. */
async function bind(type: "udp4" | "udp6", host: string, port: number): Promise<{ udp: Socket; tcp: ReturnType<typeof createServer> }> {
  for (let attempt = 0; ; attempt += 1) {
    const tcp = createServer();
    tcp.listen(port, host);
    await once(tcp, "listening");
    const udp = createSocket(type);
    try {
      udp.bind((tcp.address() as AddressInfo).port, host);
      await once(udp, "listening");
      return { udp, tcp };
    } catch (cause) {
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
      if (port !== 0 || attempt === 5) throw cause;
    }
  }
}

function read(bytes: Buffer, transport: "udp" | "tcp", asked: Map<string, number>): Query {
  const packet = dnsPacket.decode(bytes);
  const { name: askedName = "", type = "" } = packet.questions?.[0] ?? {};
  const name = askedName.toLowerCase();
  const checkingDisabled = packet.flag_cd;
  const edns = packet.additionals?.some((one) => one.type === "OPT") ?? false;
  const key = `${type} ${name}`;
  const earlier = asked.get(key) ?? 0;
  asked.set(key, earlier + 1);
  const options = packet.additionals?.flatMap((one) => (one.type === "OPT" ? (one.options as { code: number; data: Buffer }[]) : []));
  const cookie = options?.find(({ code }) => code === cookieCode)?.data ?? null;
  return { name, askedName, cookie, type, checkingDisabled, transport, edns, earlier, bytes: Buffer.from(bytes) };
}

function encode(query: Query, reaction: Reaction): Buffer {
  const id = (query.bytes.readUInt16BE(0) + (reaction.idOffset ?? 0)) & 0xffff;
  if (reaction.raw !== undefined) {
    const raw = reaction.raw(query);
    if (raw.length >= 2) raw.writeUInt16BE(id, 0);
    return raw;
  }
  const flags =
    dnsPacket.RECURSION_DESIRED |
    dnsPacket.RECURSION_AVAILABLE |
    (reaction.rcode ?? 0) |
    (reaction.truncated ? dnsPacket.TRUNCATED_RESPONSE : 0) |
    (reaction.authoritative ? dnsPacket.AUTHORITATIVE_ANSWER : 0) |
    (reaction.authentic ? dnsPacket.AUTHENTIC_DATA : 0);
  return dnsPacket.encode({
    type: "response",
    id,
    flags,
    questions: reaction.noQuestion ? [] : [{ type: query.type as "PTR", class: "IN", name: reaction.echo ?? query.askedName }],
    answers: reaction.answers ?? [],
    authorities: reaction.authorities ?? [],
    additionals: [...(reaction.additionals ?? []), ...opt(reaction)],
  });
}

const cookieCode = 10;

/** Offset behind the question of a query. */
export function questionEnd(query: Buffer): number {
  let offset = 12;
  for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) offset += length + 1;
  return offset + 5;
}

function opt({ cookie, extendedRcode = 0 }: Reaction): dnsPacket.Answer[] {
  if (cookie === undefined && extendedRcode === 0) return [];
  const options = cookie === undefined ? [] : [{ code: cookieCode, data: cookie }];
  return [
    { type: "OPT", name: ".", udpPayloadSize: 1232, extendedRcode, ednsVersion: 0, flags: 0, flag_do: false, options } as dnsPacket.Answer,
  ];
}
