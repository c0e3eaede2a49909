/** The shared store in JetStream: one stream that keeps the last message of each subject. */

import { sharedAnswersStream, sharedAnswersSubject } from "@netfacts/contracts";
import {
  type ConnectOptions,
  connect,
  DiscardPolicy,
  Events,
  type JetStreamManager,
  type NatsConnection,
  type NatsError,
  StorageType,
} from "@netfacts/messaging/nats-client";
import type { SharedStore, SharedStoreOptions } from "./shared-store.ts";

export interface JetStreamStoreOptions extends SharedStoreOptions {
  readonly connection: Pick<ConnectOptions, "servers" | "name" | "access">;
}

/** Interval of attempts to make the stream. */
const retryMs = 5_000;
/** Longest text: a longer one costs more than the queries that it saves. */
const textBytesMax = 64 * 1024;
const notFound = 404;
const noResponders = "503";

/** Resolves when there is a connection, without a time limit. The stream may be made later: until then nothing is stored. */
export async function openJetStreamStore(options: JetStreamStoreOptions): Promise<SharedStore> {
  const nc = await connect(options.connection);
  const store = new JetStreamStore(nc, await nc.jetstreamManager({ checkAPI: false }), options);
  store.start();
  return store;
}

class JetStreamStore implements SharedStore {
  readonly #nc: NatsConnection;
  readonly #jsm: JetStreamManager;
  readonly #options: SharedStoreOptions;
  #connected = true;
  #isMade = false;
  #making = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, jsm: JetStreamManager, options: SharedStoreOptions) {
    this.#nc = nc;
    this.#jsm = jsm;
    this.#options = options;
  }

  start(): void {
    const status = this.#nc.status();
    void (async () => {
      for await (const { type } of status) {
        if (type === Events.Disconnect) this.#connected = false;
        if (type === Events.Reconnect) this.#connected = true;
      }
    })();
    void this.#make();
  }

  async get(key: string, waitMs: number): Promise<string | null> {
    if (!this.#connected || !this.#isMade) throw new Error("JetStream is not available");
    const subject = `$JS.API.DIRECT.GET.${sharedAnswersStream}.${sharedAnswersSubject}.${key}`;
    try {
      const reply = await this.#nc.request(subject, undefined, { timeout: Math.max(1, Math.round(waitMs)) });
      if (reply.headers?.code === notFound) return null;
      if ((reply.headers?.code ?? 0) !== 0) throw new Error(`JetStream: ${reply.headers?.description}`);
      return reply.string();
    } catch (error) {
      // The stream, or the server that has it, is gone.
      if ((error as NatsError).code === noResponders) void this.#make();
      throw error;
    }
  }

  put(key: string, text: string): void {
    // The client would buffer messages that it cannot send, without limit.
    if (!this.#connected || !this.#isMade || this.#nc.isClosed() || this.#nc.isDraining()) return;
    if (text.length <= textBytesMax && Buffer.byteLength(text) <= textBytesMax) this.#nc.publish(`${sharedAnswersSubject}.${key}`, text);
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    await this.#nc.drain().catch(() => undefined);
  }

  async #make(): Promise<void> {
    if (this.#making || this.#nc.isClosed()) return;
    this.#making = true;
    this.#isMade = false;
    clearTimeout(this.#retry);
    try {
      await this.#makeStream();
      this.#isMade = true;
    } catch (error) {
      if (this.#nc.isClosed()) return;
      this.#options.onFault((error as Error).message);
      this.#retry = setTimeout(() => void this.#make(), retryMs);
      this.#retry.unref();
    } finally {
      this.#making = false;
    }
  }

  async #makeStream(): Promise<void> {
    const { bytesMax, ageMaxSeconds } = this.#options;
    const bounds = { max_bytes: bytesMax, max_age: ageMaxSeconds * 1_000_000_000 };
    const info = await this.#jsm.streams.info(sharedAnswersStream).catch((error: NatsError) => {
      if (error.code === String(notFound)) return null;
      throw error;
    });
    if (info !== null) {
      const { config } = info;
      if (config.max_bytes === bounds.max_bytes && config.max_age === bounds.max_age) return;
      await this.#jsm.streams.update(sharedAnswersStream, { ...config, ...bounds });
      return;
    }
    await this.#jsm.streams.add({
      name: sharedAnswersStream,
      subjects: [`${sharedAnswersSubject}.>`],
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.Old,
      storage: StorageType.File,
      allow_direct: true,
      ...bounds,
    });
  }
}
