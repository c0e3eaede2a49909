/**
 * Clients that wait for permission to send a body (RFC 9110 §10.1.1, `Expect: 100-continue`). A request that can be refused by its head
 * is refused at once, and its client sends no body.
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Member of a request: whether its client still waits. */
const waits = Symbol("the client waits for permission to send its body");
type WaitingRequest = IncomingMessage & { [waits]?: boolean };

/** Routes permit bodies from now on. By default, the server permits each body before any route sees the request. */
export function leavePermissionToRoutes(server: Server): void {
  server.on("checkContinue", (request: WaitingRequest, response) => {
    request[waits] = true;
    server.emit("request", request, response);
  });
}

/** Call before the body is read, and before the answer begins. Does nothing if the client does not wait. */
export function permitBody(request: WaitingRequest, response: ServerResponse): void {
  if (request[waits] !== true) return;
  request[waits] = false;
  response.writeContinue();
}

/** Whether no part of the body has come, because its client waits. Some clients do not wait, or only for a while. */
export function isBodyWithheld(request: WaitingRequest): boolean {
  return request[waits] === true && request.readableLength === 0;
}
