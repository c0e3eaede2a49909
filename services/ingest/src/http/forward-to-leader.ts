/** Forwards requests that only the leader can answer: another process sends them to the leader, and returns its response. */

import { headers, internalHeaders } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { noLeader } from "./operator-routes.ts";

export interface ForwardOptions {
  readonly proxyToken: string;
  /** The name of the leader (`ownerName`); null: there is none. */
  leader(): Promise<string | null>;
}

const answerMsMax = 10_000;
const requestHeaders = [headers.requestId, internalHeaders.keyId, "x-forwarded-for"];
const responseHeaders = ["content-type", "cache-control", "location", "retry-after"];

/** The name under which a process holds the lease: its address, and an id of this start. */
export function ownerName(url: string, id: string): string {
  return `${url}#${id}`;
}

export function forwarderToLeader({ proxyToken, leader }: ForwardOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // The request was forwarded already: leadership has just moved between the two processes.
    const owner = request.headers[internalHeaders.forwarded] === undefined ? await leader() : null;
    const url = owner?.split("#", 1)[0];
    if (url === undefined) throw noLeader();
    const sent = requestHeaders.flatMap((name) => {
      const value = name === headers.requestId ? request.id : request.headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    try {
      const response = await fetch(url + request.url, {
        method: request.method,
        ...(request.body != null && { body: JSON.stringify(request.body) }),
        headers: {
          ...Object.fromEntries(sent),
          ...(request.body != null && { "content-type": "application/json" }),
          [internalHeaders.proxyToken]: proxyToken,
          [internalHeaders.forwarded]: "1",
        },
        redirect: "error",
        signal: AbortSignal.timeout(answerMsMax),
      });
      const body = await response.text();
      for (const name of responseHeaders) {
        const value = response.headers.get(name);
        if (value !== null) reply.header(name, value);
      }
      return reply.code(response.status).send(body);
    } catch (cause) {
      throw noLeader(cause);
    }
  };
}
