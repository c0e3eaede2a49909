/** One nameserver over UDP: a few connected sockets on random ports, each with its open questions by id. */

import { createSocket, type Socket } from "node:dgram";
import { lookup } from "node:dns/promises";
import type { NameserverAddress } from "../domain/nameservers.ts";
import type { Channel, OpenQuestion, QuestionListener } from "./channel.ts";
import type { DnsCounts, DropReason } from "./counts.ts";
import { answersQuestion, echoesCase, type QuestionMessage } from "./message.ts";
import { randomId } from "./random-id.ts";

/** A socket is replaced after this many questions, so that its port does not stay the same for long (RFC 5452 §9.2). */
const questionsPerSocketMax = 10_000;

/** A socket is also replaced after this many dropped messages: somebody may be guessing ids on its port. */
const droppedPerSocketMax = 100;

/** Number of ids: 16 bits. */
const ids = 65_536;

/** Half the ids, so that a free one is found within a few draws. */
const openPerSocketMax = ids / 2;

/** With this many questions they are sent before the end of the turn: the nameserver works while the next ones are made. */
const togetherMax = 32;

/** Receive buffer for the answers of a burst while the event loop is busy; the kernel may limit it further. */
const receiveBufferBytes = 1 << 20;

export interface UdpChannelOptions {
  readonly server: NameserverAddress;
  readonly sockets: number;
  readonly counts: DnsCounts;
  /** Returns the bytes of a question with an id for this nameserver. */
  readonly prepare: (question: QuestionMessage, id: number) => Buffer;
}

/** An open question with its id. */
class Waiting implements OpenQuestion {
  readonly #channel: UdpChannel;
  readonly open: OpenSocket;
  readonly id: number;
  readonly listener: QuestionListener;
  readonly sent: Buffer;

  constructor(channel: UdpChannel, open: OpenSocket, id: number, listener: QuestionListener, sent: Buffer) {
    this.#channel = channel;
    this.open = open;
    this.id = id;
    this.listener = listener;
    this.sent = sent;
  }

  /** False if it has ended; its id may belong to another question by then. */
  get isOpen(): boolean {
    return this.open.waiting[this.id] === this;
  }

  cancel(): void {
    this.#channel.forget(this);
  }
}

interface OpenSocket {
  readonly socket: Socket;
  /** Open questions by id. With a `Map`, a lookup takes 0.8 µs more than 14 µs. */
  readonly waiting: (Waiting | null)[];
  /** Number of open questions. */
  count: number;
  asked: number;
  dropped: number;
  /** A new one is being opened in its place. */
  replacing: boolean;
  /** Takes no more questions, and closes with its last open one. */
  retired: boolean;
}

/**
 * The kernel delivers to a connected socket only messages from the nameserver's address and port. Messages whose id or question is not open
 * are dropped and counted here.
 */
export class UdpChannel implements Channel {
  readonly #options: UdpChannelOptions;
  readonly #sockets: OpenSocket[] = [];
  readonly #opening = new Set<Promise<void>>();
  #retiring = new Set<OpenSocket>();
  /** Questions to be sent at the end of the turn. */
  #outbox: Waiting[] = [];
  #closed = false;

  constructor(options: UdpChannelOptions) {
    this.#options = options;
  }

  /** Opens the missing sockets. Rejects if there is none in the end: the name has no address, or the address has no route. */
  async open(): Promise<void> {
    const missing = this.#options.sockets - this.#sockets.length - this.#opening.size;
    const opened = await Promise.allSettled(Array.from({ length: missing }, () => this.#openOne()));
    const failed = opened.find((result) => result.status === "rejected");
    if (this.#sockets.length === 0 && failed !== undefined) throw failed.reason;
  }

  /** Replaces every socket: the route to the nameserver, or the address of its host name, may have changed. */
  async renew(): Promise<void> {
    for (const open of this.#sockets.splice(0)) this.#retire(open);
    await this.open();
  }

  /** Sends the question with a random id from a random socket; null if that socket cannot take it. */
  ask(listener: QuestionListener): OpenQuestion | null {
    const open = this.#sockets[randomId() % Math.max(1, this.#sockets.length)];
    if (open === undefined || open.count >= openPerSocketMax) return null;
    let id = randomId();
    while (open.waiting[id] !== null) id = randomId();

    const waiting = new Waiting(this, open, id, listener, this.#options.prepare(listener.question, id));
    open.waiting[id] = waiting;
    open.count += 1;
    open.asked += 1;
    this.#options.counts.asked("udp");
    this.#send(waiting);
    if (open.asked === questionsPerSocketMax) this.#replace(open);
    return waiting;
  }

  /**
   * Sends the questions of one event-loop turn together: a question that finds the nameserver asleep must wake it, which costs more than the
   * rest of the question.
   */
  #send(waiting: Waiting): void {
    this.#outbox.push(waiting);
    if (this.#outbox.length === 1) setImmediate(() => this.#flush());
    else if (this.#outbox.length === togetherMax) this.#flush();
  }

  #flush(): void {
    const outbox = this.#outbox;
    this.#outbox = [];
    for (const waiting of outbox) {
      // A question that has ended needs no answer, and its socket may be closed.
      if (waiting.isOpen && !this.#closed) waiting.open.socket.send(waiting.sent);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#opening);
    const all = [...this.#sockets.splice(0), ...this.#retiring];
    this.#retiring = new Set();
    await Promise.all(all.map(({ socket }) => new Promise<void>((resolve) => socket.close(resolve))));
  }

  #openOne(): Promise<void> {
    const opening = this.#connect().finally(() => this.#opening.delete(opening));
    this.#opening.add(opening);
    return opening;
  }

  async #connect(): Promise<void> {
    const { host, port } = this.#options.server;
    const { address, family } = await lookup(host);
    const socket = createSocket({ type: family === 6 ? "udp6" : "udp4", recvBufferSize: receiveBufferBytes });
    const open: OpenSocket = {
      socket,
      waiting: new Array(ids).fill(null),
      count: 0,
      asked: 0,
      dropped: 0,
      replacing: false,
      retired: false,
    };
    try {
      await connected(socket, port, address);
    } catch (cause) {
      socket.close();
      throw cause;
    }
    socket.on("message", (message) => this.#onMessage(open, message));
    // Connection refused or no route: the kernel reports this for the socket, not for a question.
    socket.on("error", () => {
      for (const waiting of open.waiting.filter((one) => one !== null)) waiting.listener.onUnreachable();
    });
    if (this.#closed) socket.close();
    else this.#sockets.push(open);
  }

  #onMessage(open: OpenSocket, message: Buffer): void {
    const fault = this.#deliver(open, message);
    if (fault === null) return;
    this.#options.counts.dropped(fault);
    open.dropped += 1;
    if (open.dropped === droppedPerSocketMax) this.#replace(open);
  }

  /** Null if the message was a valid answer. */
  #deliver(open: OpenSocket, message: Buffer): DropReason | null {
    if (message.length < 2) return "too_short";
    const id = message.readUInt16BE(0);
    const waiting = open.waiting[id]!;
    if (waiting === null) return "unexpected";
    const { listener, sent } = waiting;
    if (!answersQuestion(message, listener.question)) return "other_question";
    if (!echoesCase(message, sent, listener.question) && listener.onOtherCase !== undefined) {
      listener.onOtherCase();
      return "other_case";
    }
    const fault = listener.onMessage(message);
    if (fault === null) this.forget(waiting);
    return fault;
  }

  /** Ends the wait of a question. */
  forget(waiting: Waiting): void {
    if (!waiting.isOpen) return;
    const { open } = waiting;
    open.waiting[waiting.id] = null;
    open.count -= 1;
    if (open.retired && open.count === 0) this.#end(open);
  }

  /** Opens a new socket, and then retires the old one. */
  #replace(open: OpenSocket): void {
    if (open.replacing || open.retired || this.#closed) return;
    open.replacing = true;
    this.#openOne().then(
      () => {
        const index = this.#sockets.indexOf(open);
        if (index < 0) return;
        this.#sockets.splice(index, 1);
        this.#retire(open);
      },
      () => {
        // No socket can be opened now. Try again after as many questions or dropped messages.
        open.replacing = false;
        open.asked = 0;
        open.dropped = 0;
      },
    );
  }

  #retire(open: OpenSocket): void {
    open.retired = true;
    this.#retiring.add(open);
    if (open.count === 0) this.#end(open);
  }

  #end(open: OpenSocket): void {
    if (this.#retiring.delete(open)) open.socket.close();
  }
}

function connected(socket: Socket, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve();
    });
    socket.connect(port, address);
  });
}
