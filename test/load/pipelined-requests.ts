/** GET requests over plain sockets, several at a time on each, so that who asks costs less than who answers. */

import { connect, type Socket } from "node:net";

export interface PipelinedTarget {
  /** `http://host:port`. */
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PipelinedOptions {
  readonly target: PipelinedTarget;
  readonly connections: number;
  /** Unanswered requests of one connection at most. */
  readonly depth: number;
  /** Whether one more may be sent; called once per request. */
  readonly take: () => boolean;
  readonly onAnswer: (status: number, body: string) => void;
}

/** Resolves when nothing more may be sent and all is answered, or the target has gone. @returns requests that were cut without an answer. */
export async function sendPipelined(options: PipelinedOptions): Promise<number> {
  const cut = await Promise.all(Array.from({ length: options.connections }, () => overOneConnection(options)));
  return cut.reduce((sum, one) => sum + one, 0);
}

function overOneConnection({ target, depth, take, onAnswer }: PipelinedOptions): Promise<number> {
  const { hostname, port } = new URL(target.url);
  const lines = Object.entries({ host: hostname, ...target.headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `GET ${target.path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return new Promise((done) => {
    let unanswered = 0;
    let received = "";
    let ended = false;
    const socket: Socket = connect(Number(port), hostname);
    const send = () => {
      let requests = "";
      while (!ended && unanswered < depth) {
        if (!take()) ended = true;
        else {
          requests += text;
          unanswered += 1;
        }
      }
      if (requests !== "") socket.write(requests);
      if (ended && unanswered === 0) socket.end();
    };
    socket.setNoDelay(true).setEncoding("latin1");
    socket.on("connect", send);
    socket.on("data", (piece) => {
      received += piece;
      for (let answer = firstAnswer(received); answer !== null; answer = firstAnswer(received)) {
        received = received.slice(answer.length);
        unanswered -= 1;
        onAnswer(answer.status, answer.body);
      }
      send();
    });
    // Told by the close that follows.
    socket.on("error", () => undefined);
    socket.on("close", () => done(unanswered));
  });
}

function firstAnswer(text: string): { status: number; body: string; length: number } | null {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return null;
  const bytes = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  if (bytes === undefined) throw new Error(`an answer without a length:\n${text.slice(0, head)}`);
  const length = head + 4 + Number(bytes);
  return text.length < length ? null : { status: Number(text.slice(9, 12)), body: text.slice(head + 4, length), length };
}
