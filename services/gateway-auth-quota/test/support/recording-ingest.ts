/** What stands for ingest behind the proxy: an HTTP server that keeps what it is sent and answers as a test says. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As sent: name, value, name, value … */
  readonly rawHeaders: readonly string[];
}

export interface RecordingIngest {
  readonly url: string;
  readonly requests: Recorded[];
  /** How the next requests are answered; `null`: as before, with an empty list. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | null;
  stop(): Promise<void>;
}

export async function startRecordingIngest(): Promise<RecordingIngest> {
  const server = createServer((request, response) => {
    const { method = "", url = "", headers, rawHeaders } = request;
    ingest.requests.push({ method, url, headers, rawHeaders });
    if (ingest.answer !== null) return ingest.answer(request, response);
    request.resume();
    request.once("end", () => sendJson(response, 200, { items: [] }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const ingest: RecordingIngest = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer: null,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return ingest;
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(text), ...headers });
  response.end(text);
}
