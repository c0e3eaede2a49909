/** The telemetry port: metrics and health, for the platform only, not for callers. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { listenAt, urlHost } from "./listen-place.ts";
import type { Metrics } from "./metrics.ts";

export interface OperationsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Whether requests would be answered now. */
  ready(): boolean;
  /** What the process waits for, or lacks although it is ready. */
  reasons?(): readonly string[];
  /** Gets `netfacts_ready`, which has the same meaning as `/readyz`. */
  readonly metrics: Metrics;
}

export interface OperationsServer {
  /** `http://host:port`. */
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
}

type Route = () => Answer | Promise<Answer>;

/** Serves `/metrics`, `/healthz` (the process answers) and `/readyz` (it has what it needs). If the port is in use, the error says so. */
export async function startOperationsServer({
  host,
  port,
  ready,
  reasons = () => [],
  metrics,
}: OperationsServerOptions): Promise<OperationsServer> {
  metrics.gauge({
    name: "netfacts_ready",
    help: "1 while /readyz says that the process is ready",
    collect: (gauge) => gauge.set({}, ready() ? 1 : 0),
  });
  const routes = new Map<string, Route>([
    ["/healthz", () => ({ status: 200, text: "ok\n" })],
    ["/readyz", () => readiness(ready(), reasons())],
    ["/metrics", async () => ({ status: 200, text: await metrics.registry.text(), contentType: metrics.registry.contentType })],
  ]);
  const server = createServer((request, response) => void answer(routes, request, response));

  const place = { host, port, hostSetting: "TELEMETRY_HOST", portSetting: "TELEMETRY_PORT" };
  const url = await listenAt(place, async (at) => {
    server.listen(at);
    await once(server, "listening");
    const { port: bound } = server.address() as AddressInfo;
    return `http://${urlHost(at.host)}:${bound}`;
  });
  return {
    url,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function readiness(isReady: boolean, reasons: readonly string[]): Answer {
  return { status: isReady ? 200 : 503, text: [isReady ? "ready" : "not ready", ...reasons, ""].join("\n") };
}

async function answer(routes: ReadonlyMap<string, Route>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, text, contentType = "text/plain; charset=utf-8" } = await read(routes, request);
  response.writeHead(status, { "content-type": contentType, "cache-control": "no-store", ...(status === 405 && { allow: "GET, HEAD" }) });
  response.end(text);
}

async function read(routes: ReadonlyMap<string, Route>, { method, url = "/" }: IncomingMessage): Promise<Answer> {
  const route = routes.get(url.split("?", 1)[0] as string);
  if (route === undefined) return { status: 404, text: "not found\n" };
  if (method !== "GET" && method !== "HEAD") return { status: 405, text: "method not allowed\n" };
  try {
    return await route();
  } catch (error) {
    return { status: 500, text: `${error}\n` };
  }
}
