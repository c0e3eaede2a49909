/**
 * An HTTP load balancer on loopback, like those of platforms: it knows the state of backends only by health checks, keeps connections to them
 * open, and repeats no request. It answers 502 if a backend does not answer.
 */

import { once } from "node:events";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Backend {
  readonly url: string;
  /** URL that returns 200 when the backend is ready. */
  readonly readyUrl: string;
}

export interface LoadBalancerOptions {
  readonly backends: readonly Backend[];
  /** Time between two checks of a backend, and longest duration of a check. */
  readonly intervalMs: number;
  /** Number of consecutive failed checks after which a backend is not used. It is used again after one successful check. */
  readonly failuresMax: number;
}

export interface LoadBalancer {
  readonly url: string;
  /** Whether it sends requests to the backend. */
  uses(backend: number): boolean;
  /** Number of requests that it sent to the backend. */
  sentTo(backend: number): number;
  stop(): Promise<void>;
}

class Member {
  readonly url: URL;
  readonly #readyUrl: string;
  readonly #agent = new Agent({ keepAlive: true });
  #failures = 0;
  isUsed = true;
  sent = 0;

  constructor({ url, readyUrl }: Backend) {
    this.url = new URL(url);
    this.#readyUrl = readyUrl;
  }

  async check(timeoutMs: number, failuresMax: number): Promise<void> {
    const answer = await fetch(this.#readyUrl, { signal: AbortSignal.timeout(timeoutMs) }).catch(() => null);
    await answer?.body?.cancel().catch(() => undefined);
    this.#failures = answer?.ok === true ? 0 : this.#failures + 1;
    if (this.#failures === 0) this.isUsed = true;
    else if (this.#failures >= failuresMax) this.isUsed = false;
  }

  forward(request: IncomingMessage, response: ServerResponse): void {
    this.sent += 1;
    const { method, headers } = request;
    const { connection: _, ...kept } = headers;
    const options = { agent: this.#agent, host: this.url.hostname, port: this.url.port, path: request.url, method, headers: kept };
    const fail = (error: Error) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`${this.url.host}: ${error.message}`);
    };
    const forwarded = httpRequest(options, (answer) => {
      // These headers are only about the connection to the backend.
      const { connection: _ended, "keep-alive": _idle, ...shown } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, shown);
      answer.once("error", fail).pipe(response);
    });
    forwarded.once("error", fail);
    request.pipe(forwarded);
  }

  stop(): void {
    this.#agent.destroy();
  }
}

/** Resolves when it listens. All backends are assumed to be ready at first. */
export async function startLoadBalancer({ backends, intervalMs, failuresMax }: LoadBalancerOptions): Promise<LoadBalancer> {
  const members = backends.map((backend) => new Member(backend));
  let turn = 0;
  // Close no idle connection: a caller that sends a request at that moment would see a failure that no backend caused.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const used = members.filter(({ isUsed }) => isUsed);
    const member = used[turn++ % used.length];
    if (member === undefined) response.writeHead(503).end("no backend is ready");
    else member.forward(request, response);
  });
  const timer = setInterval(() => {
    for (const member of members) void member.check(intervalMs, failuresMax);
  }, intervalMs);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    uses: (backend) => members[backend]?.isUsed === true,
    sentTo: (backend) => members[backend]?.sent ?? 0,
    async stop() {
      clearInterval(timer);
      server.close();
      server.closeAllConnections();
      for (const member of members) member.stop();
    },
  };
}
