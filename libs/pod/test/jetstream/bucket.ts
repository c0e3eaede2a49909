/** A bucket of its own on a test's server, and ways to harm what is in it. */

import { type NatsConnection, nuid } from "@netfacts/messaging/nats-client";
import type { FolderStoreOptions } from "@netfacts/snapshot";
import type { NatsServer } from "../../../../test/support/nats-server.ts";
import { connect } from "../../../messaging/test/nats/plain-connection.ts";
import { type JetStreamSourceOptions, openJetStreamStore } from "../../src/jetstream/index.ts";

export interface TestBucket {
  readonly name: string;
  readonly nc: NatsConnection;
  /** What a loader's thread is given. */
  readonly source: JetStreamSourceOptions;
  open(options?: FolderStoreOptions): ReturnType<typeof openJetStreamStore>;
  /** Changes one byte of a stored object. */
  damage(object: string): Promise<void>;
  remove(object: string): Promise<void>;
  /** Puts this in the place of what describes an object. */
  describe(object: string, text: string): Promise<void>;
  /** Puts this in the place of the pointer. */
  point(text: string): Promise<void>;
  /** Makes a manifest unreadable. */
  damageManifest(id: string): Promise<void>;
  makeNewer(id: string): Promise<void>;
  objects(): Promise<string[]>;
  /** Subjects of all chunks. */
  chunkSubjects(): Promise<string[]>;
  close(): Promise<void>;
}

const reconnecting = { maxReconnectAttempts: -1, reconnectTimeWait: 50, reconnectJitter: 0 };

/** @param options  the name of a bucket that is to be shared, and who connects to a server that asks. */
export async function testBucket(server: NatsServer, options: { name?: string; user?: string; pass?: string } = {}): Promise<TestBucket> {
  const { name = `test-${nuid.next()}`, ...credentials } = options;
  const access = { NATS_USER: credentials.user, NATS_PASSWORD: credentials.pass };
  const nc = await connect({ servers: server.url, ...credentials, ...reconnecting });
  const jsm = await nc.jetstreamManager({ checkAPI: false });
  const bucket = () => nc.jetstream().views.os(name);
  const chunksOf = async (object: string) => {
    const info = await (await bucket()).info(object);
    return `$O.${name}.C.${info?.nuid}`;
  };
  return {
    name,
    nc,
    source: { connection: { servers: server.url, name: "loader", access }, bucket: name },
    open: (options) => openJetStreamStore(nc, { bucket: name, ...options }),
    async damage(object) {
      const subject = await chunksOf(object);
      const chunks: Uint8Array[] = [];
      for (let seq = 1; ; ) {
        const message = await jsm.streams.getMessage(`OBJ_${name}`, { seq, next_by_subj: subject } as { seq: number }).catch(() => null);
        if (message === null) break;
        chunks.push(message.data);
        seq = message.seq + 1;
      }
      const middle = chunks[chunks.length >> 1] as Uint8Array;
      middle[middle.length >> 1] = (middle[middle.length >> 1] as number) ^ 1;
      await jsm.streams.purge(`OBJ_${name}`, { filter: subject });
      for (const chunk of chunks) await nc.jetstream().publish(subject, chunk);
    },
    async makeNewer(id) {
      const subject = `$KV.${name}.manifest.${id}`;
      const stored = await jsm.streams.getMessage(`KV_${name}`, { last_by_subj: subject });
      await nc.jetstream().publish(subject, stored.string().replace('"format_version": 1', '"format_version": 2'));
    },
    async damageManifest(id) {
      await nc.jetstream().publish(`$KV.${name}.manifest.${id}`, "{}");
    },
    async describe(object, text) {
      const subject = `$O.${name}.M.${Buffer.from(object).toString("base64").replaceAll("+", "-").replaceAll("/", "_")}`;
      await nc.jetstream().publish(subject, text);
    },
    async point(text) {
      await nc.jetstream().publish(`$KV.${name}.current`, text);
    },
    async remove(object) {
      await (await bucket()).delete(object);
    },
    async objects() {
      return (await (await bucket()).list()).map((info) => info.name);
    },
    async chunkSubjects() {
      const { state } = await jsm.streams.info(`OBJ_${name}`, { subjects_filter: `$O.${name}.C.>` });
      return Object.keys(state.subjects ?? {});
    },
    async close() {
      for (const stream of [`OBJ_${name}`, `KV_${name}`]) await jsm.streams.delete(stream).catch(() => undefined);
      await nc.close();
    },
  };
}
