/** A nameserver on loopback that names every address, and before each answer sends one that was not asked for. */

import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";

export interface Nameserver {
  /** `127.0.0.1:53000`. */
  readonly address: string;
  stop(): Promise<void>;
}

const headerBytes = 12;
/** Response, recursion desired and available, no error (RFC 1035, section 4.1.1). */
const flags = 0x8180;
const ttlSeconds = 300;

export async function startNameserver(): Promise<Nameserver> {
  const socket = createSocket("udp4");
  socket.on("message", (query: Buffer, { port, address }: RemoteInfo) => {
    const answer = answerTo(query);
    const forged = Buffer.from(answer);
    forged.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
    for (const message of [forged, answer]) socket.send(message, port, address, () => undefined);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  let isOpen = true;
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async stop() {
      if (!isOpen) return;
      isOpen = false;
      socket.close();
      await once(socket, "close");
    },
  };
}

/** One PTR record for the one question of the query, which has no name twice. */
function answerTo(query: Buffer): Buffer {
  let end = headerBytes;
  for (let length = query[end] ?? 0; length > 0; length = query[end] ?? 0) end += 1 + length;
  const question = query.subarray(headerBytes, end + 5);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 6);
  const name = Buffer.concat([..."host.example.net".split("."), ""].map((label) => Buffer.from([label.length, ...Buffer.from(label)])));
  // The name of the question, PTR, IN, TTL, length.
  const record = Buffer.from([0xc0, headerBytes, 0, 12, 0, 1, 0, 0, ttlSeconds >> 8, ttlSeconds & 0xff, 0, name.length]);
  return Buffer.concat([header, question, record, name]);
}
