/** A proxy between a MongoDB client and its server: records all commands, and can lose replies. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { BSON, type Document } from "mongodb";

export interface MongodbProxy {
  readonly url: string;
  /** Commands sent so far (OP_MSG), oldest first, without heartbeats. */
  readonly commands: readonly Document[];
  /** From now on, commands reach the server, but the connection ends instead of a reply. */
  loseReplies(): void;
  /** Forwards replies again. */
  passReplies(): void;
  stop(): Promise<void>;
}

const opMsg = 2013;
const heartbeats = new Set(["hello", "ismaster", "isMaster"]);

/** @param target  port of the server on loopback. */
export async function startMongodbProxy(target: number): Promise<MongodbProxy> {
  const commands: Document[] = [];
  const sockets = new Set<Socket>();
  let losing = false;
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let pending = Buffer.alloc(0);
    client.on("data", (bytes) => {
      pending = note(Buffer.concat([pending, bytes]), commands);
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (losing) client.destroy();
      else client.write(bytes);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `mongodb://127.0.0.1:${port}`,
    commands,
    loseReplies() {
      losing = true;
    },
    passReplies() {
      losing = false;
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Records complete messages: length, request id, response to, operation (4 bytes each), flags, kind, document. @returns the rest. */
function note(bytes: Buffer, commands: Document[]): Buffer<ArrayBuffer> {
  let rest = bytes;
  while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
    const message = rest.subarray(0, rest.readInt32LE(0));
    rest = rest.subarray(message.length);
    if (message.readInt32LE(12) !== opMsg) continue;
    const size = message.readInt32LE(21);
    const command = BSON.deserialize(message.subarray(21, 21 + size));
    if (!heartbeats.has(Object.keys(command)[0] ?? "")) commands.push(command);
  }
  return Buffer.from(rest);
}
