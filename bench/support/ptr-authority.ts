/**
 * A nameserver in a process of its own that has a name for every reverse name, as fast as one UDP socket of Node goes. It writes its port to
 * standard output and ends with its parent.
 */

import { createSocket } from "node:dgram";

const headerBytes = 12;
const target = Buffer.concat([Buffer.from([4]), Buffer.from("host"), Buffer.from([7]), Buffer.from("example"), Buffer.from([0])]);

/** PTR, IN, one hour, length; the owner is a pointer to the question. */
const record = Buffer.concat([Buffer.from([0xc0, headerBytes, 0, 12, 0, 1, 0, 0, 14, 16, 0, target.length]), target]);

const socket = createSocket({ type: "udp4", recvBufferSize: 1 << 22, sendBufferSize: 1 << 22 });
socket.on("message", (query, from) => {
  let end = headerBytes;
  while (query[end] !== 0) end += (query[end] as number) + 1;
  end += 5;
  const reply = Buffer.allocUnsafe(end + record.length);
  query.copy(reply, 0, 0, end);
  reply.writeUInt16BE(0x8580, 2);
  reply.writeUInt16BE(1, 6);
  reply.writeUInt32BE(0, 8);
  record.copy(reply, end);
  socket.send(reply, from.port, from.address);
});
socket.bind(0, "127.0.0.1", () => process.stdout.write(`${socket.address().port}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
