/** One question over TCP (RFC 7766), after an answer that did not fit into a datagram or may be forged. */

import { connect } from "node:net";
import type { NameserverAddress } from "../domain/nameservers.ts";
import { answersQuestion, echoesCase, type QuestionMessage } from "./message.ts";
import { randomId } from "./random-id.ts";

/** The nameserver gave no answer over TCP: refused, closed early, answered something else, or was too slow. */
export class TcpExchangeError extends Error {
  override readonly name = "TcpExchangeError";
}

export interface TcpAnswer {
  readonly message: Buffer;
  /** Whether the answer echoes the case of the name. */
  readonly echoesCase: boolean;
}

/** Rejects with `TcpExchangeError`, also if `signal` ends the wait. @param prepare  returns the bytes of the question with an id. */
export function askOverTcp(
  server: NameserverAddress,
  question: QuestionMessage,
  prepare: (question: QuestionMessage, id: number) => Buffer,
  signal: AbortSignal,
): Promise<TcpAnswer> {
  return new Promise((resolve, reject) => {
    const id = randomId();
    const sent = prepare(question, id);
    const socket = connect({ host: server.host, port: server.port, noDelay: true });
    const chunks: Buffer[] = [];
    let received = 0;
    let length = -1;

    const end = (outcome: () => void) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      outcome();
    };
    const fail = (what: string, cause?: unknown) =>
      end(() => reject(new TcpExchangeError(what, cause === undefined ? undefined : { cause })));
    const onAbort = () => fail("no answer in time");

    signal.addEventListener("abort", onAbort);
    if (signal.aborted) return onAbort();
    socket.on("connect", () => socket.write(framed(sent)));
    socket.on("error", (cause) => fail("connection failed", cause));
    socket.on("close", () => fail("closed without an answer"));
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      received += chunk.length;
      if (length < 0 && received >= 2) length = Buffer.concat(chunks).readUInt16BE(0);
      if (length < 0 || received < length + 2) return;
      const message = Buffer.concat(chunks).subarray(2, length + 2);
      // Only one question was sent on this connection, so after any other message no answer will come.
      if (message.length < 2 || message.readUInt16BE(0) !== id || !answersQuestion(message, question))
        return fail("answered something else");
      end(() => resolve({ message, echoesCase: echoesCase(message, sent, question) }));
    });
  });
}

/** The message after its length (RFC 1035 §4.2.2). */
function framed(bytes: Buffer): Buffer {
  const frame = Buffer.alloc(bytes.length + 2);
  frame.writeUInt16BE(bytes.length, 0);
  bytes.copy(frame, 2);
  return frame;
}
