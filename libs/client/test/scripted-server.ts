/** A server that answers what a test says, in its order, and keeps what it was asked. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly atMs: number;
}

export type Answering = (response: ServerResponse, asked: Asked) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly asked: Asked[];
  /** One a request; the last one answers all that follow. */
  script(...answers: Answering[]): void;
  stop(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  let answers: Answering[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => "");
    const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body, atMs: performance.now() };
    asked.push(one);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer === undefined) throw new Error("the script has no answer");
    answer(response, one);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    script(...next) {
      asked.length = 0;
      answers = next;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export function json(body: unknown, headers: Record<string, string> = {}): Answering {
  return (response) => response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** A problem as gateways send it. */
export function problem(status: number, code: string, retryAfter: number | null = null): Answering {
  return (response) =>
    response
      .writeHead(status, {
        "content-type": "application/problem+json; charset=utf-8",
        ...(retryAfter !== null && { "retry-after": String(retryAfter) }),
      })
      .end(
        JSON.stringify({ type: `/docs/errors/${code}`, title: code, status, code, detail: `of ${code}`, instance: "/", request_id: "r1" }),
      );
}
