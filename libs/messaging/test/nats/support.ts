/** Both ends of messaging over NATS, and a third one that speaks frames itself: it sees, withholds and damages what it likes. */

import type { Msg, NatsConnection } from "nats";
import { decodeRequestFrame, encodeReplyFrame, headerBytes, type ReplyPart, replyPartBytes } from "../../src/frames/frame-codec/index.ts";
import type { Messaging, MessagingOptions, ReplyItem } from "../../src/index.ts";
import { connect } from "../../src/nats/connect.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until it is so. The time only ends what hangs, so it is far longer than a busy machine takes. */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 120_000;
  while (!(await what())) {
    if (performance.now() > end) throw new Error("did not come about within 120 s");
    await pause(5);
  }
}

/** Time of requests whose frames are counted: on no machine is one sent a second time for its age. */
export const patientMs = 120_000;

/** Opens ends and closes all of them in the end. */
export class Ends {
  readonly #url: () => string;
  #opened: { close(): Promise<void> }[] = [];

  constructor(url: () => string) {
    this.#url = url;
  }

  async messaging(options: MessagingOptions = {}): Promise<Messaging> {
    const opened = await createNatsMessaging({ servers: this.#url(), name: "test", ...options });
    this.#opened.push(opened);
    return opened;
  }

  async raw(): Promise<NatsConnection> {
    const opened = await connect({ servers: this.#url(), name: "raw" });
    this.#opened.push({ close: () => opened.close() });
    return opened;
  }

  /** A responder of an earlier release, which serves version 1 only: it is given each frame as it came, and what answers it. */
  async responder(service: string, serve: (frame: SeenFrame) => void): Promise<NatsConnection> {
    const raw = await this.raw();
    let frames = 0;
    raw.subscribe(`nf.f1.${service}.*`, {
      queue: service,
      callback: (_error, message) => serve(seen(message, ++frames)),
    });
    await raw.flush();
    return raw;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((end) => end.close()));
    this.#opened = [];
  }
}

export interface SeenFrame {
  /** 1 for the first. */
  readonly number: number;
  readonly bytes: number;
  readonly lane: string;
  readonly queries: readonly string[];
  readonly ids: readonly number[];
  answer(...parts: ReplyPart[]): void;
  answerBytes(bytes: Uint8Array): void;
}

function seen(message: Msg, number: number): SeenFrame {
  const { version, frameId, ids, items } = decodeRequestFrame(message.data);
  return {
    number,
    bytes: message.data.length,
    lane: message.subject.split(".").at(-1) ?? "",
    queries: items.map(({ query }) => query),
    ids,
    answer(...parts) {
      const first = parts.find((part) => part.kind === "reply");
      const snapshotId = first?.kind === "reply" ? first.reply.snapshotId : "";
      const bytes = parts.reduce((sum, part) => sum + replyPartBytes(part, version), headerBytes);
      message.respond(encodeReplyFrame({ version, frameId, snapshotId, parts }, bytes));
    },
    answerBytes: (bytes) => void message.respond(bytes),
  };
}

export function whole(id: number | undefined, reply: ReplyItem): ReplyPart {
  return { kind: "reply", id: id ?? -1, reply, more: false };
}
